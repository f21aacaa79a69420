model m.safetensors
sherd checkpoint save -q m.safetensors step-1 --shards 2
flip step-1_shard_1.shard 100
sherd verify --json step-1
