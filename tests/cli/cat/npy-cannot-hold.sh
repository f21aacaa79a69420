tensors m.safetensors x:BF16:2
sherd cat m.safetensors x --format npy
