model m.safetensors
sherd info m.safetensors > /dev/full
echo $?
sherd info --json m.safetensors > /dev/full
echo $?
sherd cat m.safetensors embed >&-
echo $?
sherd --help >&-
echo $?
