tensors m.safetensors good:U8:4 bad:BF16:2
sherd convert m.safetensors out/
echo $?
sherd convert m.safetensors out.npy
echo $?
ls
