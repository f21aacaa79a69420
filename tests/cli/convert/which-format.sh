model m.safetensors
sherd convert m.safetensors out
echo $?
sherd convert m.safetensors out --to hdf5
echo $?
sherd convert m.safetensors out.npy --shards 2
echo $?
