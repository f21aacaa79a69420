model m.safetensors
sherd checkpoint save -q m.safetensors step-1 --shards 2
flip step-1_shard_0.shard 130
sherd verify step-1
