# A file stands where a folder is needed.
model m.safetensors
touch file
sherd checkpoint save m.safetensors file/a
echo $?
sherd convert m.safetensors file/x.safetensors
echo $?
