model m.safetensors
id=00112233445566778899aabbccddeeff
for rank in 0 1 2 3 4 5 6 7; do
	sherd checkpoint save -q m.safetensors a --rank $rank --world 8 --split --set-id $id &
done
wait
[ -e a.metadata.json ] || sherd checkpoint commit a
sherd verify a
ls | grep -c shard
sherd checkpoint load -q a -o got.safetensors
sherd convert -q m.safetensors want.safetensors
cmp got.safetensors want.safetensors
