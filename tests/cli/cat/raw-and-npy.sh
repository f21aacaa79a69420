tensors m.safetensors cube:I16:3x2 s:F32:=1 v:U8:300 h:BOOL:2
sherd cat m.safetensors cube --format raw | od -An -tx1
sherd cat m.safetensors cube --format raw --range 1:2 | od -An -tx1
for name in cube s v h; do
	sherd cat m.safetensors $name --format npy > $name.npy
	sherd verify -q $name.npy && sherd info --json $name.npy | field '[d["tensors"][0]["dtype"], d["tensors"][0]["shape"]]'
done
sherd cat m.safetensors cube --format npy --range 1:3 > part.npy
sherd cat part.npy
sherd convert -q m.safetensors out/
cmp out/cube.npy cube.npy
cmp out/s.npy s.npy
cmp out/v.npy v.npy
