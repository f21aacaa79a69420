tensors m.safetensors text:U8:4
sherd checkpoint save -q m.safetensors a --layout csharp
od -An -tx1 a_shard_0.shard
sherd info --json a | field '[d["shards"][0]["checksum"], d["tensors"][0]["dtype"]]'
sherd checkpoint load -q a -o back.safetensors && sherd cat back.safetensors

# Its files hold no set id, so none is told; resharding writes it, too, but not by ranks, in pieces, or in place of a set.
sherd checkpoint save --json m.safetensors b --layout csharp
sherd checkpoint save m.safetensors c --layout csharp
sherd checkpoint save -q m.safetensors whole
sherd checkpoint reshard whole d --shards 2 --layout csharp
sherd verify d
sherd checkpoint load -q d -o d.safetensors && sherd cat d.safetensors
sherd checkpoint reshard whole d --shards 2 --layout csharp --replace
echo $?
sherd checkpoint reshard whole e --shards 2 --layout csharp --cut
echo $?
sherd checkpoint save m.safetensors f --layout csharp --rank 0 --world 2 --set-id 00112233445566778899aabbccddeeff
echo $?
sherd checkpoint reshard whole e --shards 2 --layout java
echo $?
ls | grep -E '^[ef]'
