model m.safetensors
sherd info m.safetensors
