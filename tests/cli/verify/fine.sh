model m.safetensors
sherd checkpoint save -q m.safetensors step-1 --shards 3
sherd verify step-1
sherd verify --quick step-1
sherd checkpoint verify step-1
sherd verify --json step-1
