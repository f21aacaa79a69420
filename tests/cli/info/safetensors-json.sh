model m.safetensors
sherd info --json m.safetensors
