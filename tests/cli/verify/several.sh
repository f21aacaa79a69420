# One path that is not there hides nothing of the others.
model m.safetensors
sherd checkpoint save -q m.safetensors a
sherd checkpoint save -q m.safetensors b
printf 'X' | dd of=b_shard_0.shard bs=1 seek=130 conv=notrunc status=none
for paths in "a gone" "gone a" "b gone" "gone b a" "gone lost" "a m.safetensors"; do
	sherd verify -q $paths
	echo "$paths: $?"
	sherd verify --json $paths | sed 's/"checked_bytes":[0-9]*/"checked_bytes":N/'
done
sherd verify --json gone
echo $?
