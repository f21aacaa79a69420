model m.safetensors
sherd checkpoint save -q m.safetensors step-1 --shards 2
rm step-1.metadata.json
sherd verify step-1
