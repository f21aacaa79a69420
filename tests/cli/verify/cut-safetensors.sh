model m.safetensors
truncate -s -1 m.safetensors
sherd verify m.safetensors
