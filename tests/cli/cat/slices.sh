tensors m.safetensors w:F32:3x4x5 'w[0]:F32:2=7,8' layer.0.bias:F32:3 layer.1.bias:F32:3 layer.1.weight:F32:2 s:F32:=5 none:F32:0x3 f4:F4:2x2=#2132 c:C64:1=#0000803f000000c0
for slice in '0, 0, 0' '0:2, :, -1' '::2, 1, 1:4' '..., 2' '1' '-1, -1' ':' '2:1' '0:9, 0, 0' '1, ..., 0' ' 0 , 1 '; do
	echo "[$slice]"
	sherd cat m.safetensors "w[$slice]"
done
# An exact name wins.
sherd cat m.safetensors 'w[0]'
sherd cat m.safetensors 'weight[1]'
sherd cat m.safetensors weight
sherd cat m.safetensors 'none[:, 1]'
sherd cat m.safetensors 'f4[:, 1]'
sherd cat m.safetensors 'c[0]'
sherd cat m.safetensors 's[...]'
sherd cat m.safetensors 'w[0:2, 0, ::4]' --json
sherd cat m.safetensors 'w[0, :, 1]' --format npy >x.npy
sherd cat x.npy
sherd cat m.safetensors 'w[0, 0, 1:3]' --format raw | od -An -tf4
for bad in 'w[3]' 'w[0,0,0,0]' 'w[x]' 'w[1,]' 'w[::0]' 'w[' 'w[1] ' 's[0]' bias 'wieght' 'f4[0, 0:1]'; do
	sherd cat m.safetensors "$bad" $([ "$bad" = 'f4[0, 0:1]' ] && echo --format raw)
	echo "exit $?"
done
sherd cat m.safetensors 'w[0]' --range 0:1
sherd cat m.safetensors 'w[0:1]' --range 0:1
echo "exit $?"
