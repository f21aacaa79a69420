tensors a.npy x:I32:2x3
sherd cat a.npy
