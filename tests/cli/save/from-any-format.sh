tensors a.npy x:I32:2x3
sherd checkpoint save -q a.npy from-npy
sherd checkpoint save -q from-npy from-checkpoint --shards 2
sherd cat from-checkpoint
