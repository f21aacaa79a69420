model m.safetensors
sherd checkpoint save -q m.safetensors step-1
flip step-1_shard_0.shard 130
sherd verify --quick step-1
