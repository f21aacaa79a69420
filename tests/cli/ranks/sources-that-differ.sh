# --split cuts one common source: ranks that bring another one are refused before anything is published.
id=00112233445566778899aabbccddeeff
model m.safetensors
tensors other.safetensors embed:F32:4x3 x:F32:2
save() { sherd checkpoint save "$@" --world 2 --set-id $id; }
save -q m.safetensors p --rank 0 --split
save other.safetensors p --rank 1 --split
echo $?
# The same names, types and shapes, but another step of the training.
cp m.safetensors later.safetensors
flip later.safetensors -1
save later.safetensors p --rank 1 --split
echo $?
save m.safetensors p --rank 1
echo $?
save m.safetensors p --rank 1 --split --cut
echo $?
save m.safetensors p --rank 1 --split
sherd verify p
save -q m.safetensors q --rank 0
save m.safetensors q --rank 1 --split
echo $?
# A checkpoint is known by its set id: it need not be read for that.
sherd checkpoint save -q m.safetensors a
sherd checkpoint save -q m.safetensors b --field x=y
save -q a r --rank 0 --split
save b r --rank 1 --split
echo $?
save -q a r --rank 1 --split
sherd verify r
