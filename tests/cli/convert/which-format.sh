model m.safetensors
sherd convert m.safetensors out
echo $?
sherd convert m.safetensors out --to hdf5
echo $?
sherd convert m.safetensors out.npy --shards 2
echo $?
# What others write and we do not is named.
for name in out.keras out.h5; do
	sherd convert m.safetensors $name
	echo $?
done
sherd convert m.safetensors out --to onnx
echo $?
sherd checkpoint save -q m.safetensors c
sherd checkpoint load c -o x.keras
echo $?
sherd checkpoint load c -o x
echo $?
sherd convert m.safetensors x --to nonsense
