tensors a.npy x:I32:4
for range in 1:5 3:2 x:2 2 -1:2 1:2:3 99999999999999999999:; do
	sherd cat a.npy --range $range
	echo $?
done
