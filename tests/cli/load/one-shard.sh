# C-12: the name of a shard is that shard alone, for every command that reads.
model m.safetensors
sherd checkpoint save -q m.safetensors a --shards 3
for command in "sherd info --json a_shard_1.shard" "sherd checkpoint load --json a_shard_1.shard -o l.safetensors" \
	"sherd convert --json a_shard_1.shard c.safetensors" "sherd checkpoint save --json a_shard_1.shard s" \
	"sherd checkpoint reshard --json a_shard_1.shard r --shards 2"; do
	$command | field 'len(d["tensors"]) if isinstance(d["tensors"], list) else d["tensors"]' 2>&1 | tail -1
done
cmp l.safetensors c.safetensors && echo the same
sherd checkpoint load --json a.metadata.json -o whole.safetensors | field 'd["tensors"]'
