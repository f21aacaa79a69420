model m.safetensors
sherd checkpoint save -q m.safetensors s --shards 3 --cut
sherd cat s embed
sherd cat s embed --range 1:3
sherd cat s_shard_0.shard ids
