# Halves, and what rounding to F32 makes of 0.1; BF16 bits: 1, -2, 0.1 rounded, inf.
tensors d.npy x:F64:2x2=0.1,-0.5,1e-50,16777217
tensors h.npy x:F16:1x3=0.5,-2,65504
tensors u.npy x:U16:2x2=#803f00c0cd3d807f
tensors m.safetensors a:F32:2x2=1,2,3,4 b:BF16:1x2=#803f00c0 c:F64:1x2=7,8 bits:U16:1x2=#803f00c0
for source in d.npy h.npy; do
	sherd rows pack -q $source ${source%.npy} && sherd rows cat ${source%.npy}
done
sherd rows pack -q u.npy u
echo $?
sherd rows pack -q u.npy u --dtype bf16 && sherd rows cat u
sherd rows pack -q m.safetensors m --dtype bf16 && sherd rows cat m
echo "in stored order"
sherd rows pack -q m.safetensors ca --tensor c --tensor a && sherd rows cat ca
sherd checkpoint save -q m.safetensors ck --shards 2
sherd rows pack -q ck from-checkpoint --tensor b && sherd rows cat from-checkpoint
sherd rows pack -q m from-rows --rows-per-shard 2 && ls from-rows && cmp <(sherd rows cat m) <(sherd rows cat from-rows)
