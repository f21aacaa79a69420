set-of-rows set
sherd rows cat set --range 5:9
echo "the general one"
sherd cat set --range 6:8
sherd cat set rows --range 39:
sherd cat set/c.shard
sherd rows cat set --range 6:8 --json
sherd rows cat set --range 6:9 --format raw | od -An -tfF -w12
sherd rows cat set --range 6:9 --format npy > part.npy
sherd cat part.npy
sherd rows cat set --range 40:40
for range in 3:2 0:41 x; do
	sherd rows cat set --range $range
	echo $?
done
sherd cat set other
echo $?
sherd rows cat set --format list
echo $?
