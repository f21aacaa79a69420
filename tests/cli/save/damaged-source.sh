model m.safetensors
truncate -s -1 m.safetensors
sherd checkpoint save m.safetensors a
echo $?
ls
