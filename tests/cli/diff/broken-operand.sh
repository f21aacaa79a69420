# One that cannot be read is no difference: it is named, whichever side it is on, and the status tells what it is.
tensors a.safetensors w:F32:64
tensors m.safetensors w:F32:64
sherd checkpoint save m.safetensors ck --shards 1 --quiet
flip ck_shard_0.shard -300
head -c 100 a.safetensors >short.safetensors
for side in "a.safetensors none" "none a.safetensors" "a.safetensors short.safetensors" "short.safetensors a.safetensors" \
	"a.safetensors ck" "ck a.safetensors"; do
	sherd diff $side
	echo "exit $?"
	sherd diff $side --json | field '[d["error"]["object"], d["error"]["code"]]'
done
# Without values the damage is not met.
sherd diff a.safetensors ck --heads
