# Plain lines are for logs; nothing is told with none, nor of what is done at once.
tensors m.safetensors w:F32:1000
sherd stats m.safetensors w --progress=plain --quiet
sherd --progress none stats m.safetensors w
