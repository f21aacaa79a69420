tensors a.npy x:I32:2x3
sherd info a.npy
sherd --json info a.npy
