model m.safetensors
sherd checkpoint save -q m.safetensors step-1 --shards 2
rm step-1_shard_1.shard
sherd verify --quick step-1
