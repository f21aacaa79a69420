# C-4: two ranks hold a tensor of one name and shape, but with other bytes.
id=00112233445566778899aabbccddeeff
tensors a.safetensors b:I32:=7 v:I64:5
tensors b.safetensors b:I32:=8 w:I64:5
sherd checkpoint save -q a.safetensors p --rank 0 --world 2 --set-id $id
sherd checkpoint save b.safetensors p --rank 1 --world 2 --set-id $id
echo $?
sherd verify p
echo $?
