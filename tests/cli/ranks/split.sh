model m.safetensors
id=00112233445566778899aabbccddeeff
sherd checkpoint save m.safetensors a --rank 1 --world 3 --split --set-id $id
sherd checkpoint save m.safetensors a --rank 0 --world 3 --split --set-id $id
sherd info a
echo $?
sherd checkpoint commit a
echo $?
sherd checkpoint save --json m.safetensors a --rank 2 --world 3 --split --set-id $id
sherd verify a
sherd checkpoint commit a
echo $?
