tensors m.safetensors text:U8:4
sherd checkpoint save -q m.safetensors a --layout csharp
od -An -tx1 a_shard_0.shard
sherd info --json a | field '[d["shards"][0]["checksum"], d["tensors"][0]["dtype"]]'
sherd checkpoint load -q a -o back.safetensors && sherd cat back.safetensors
