model m.safetensors
unset SOURCE_DATE_EPOCH
sherd checkpoint save m.safetensors a --rank 0 --world 2
echo $?
sherd checkpoint save m.safetensors a --rank 0 --world 2 --set-id 123
echo $?
ls
