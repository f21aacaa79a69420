model m.safetensors
sherd cat m.safetensors
