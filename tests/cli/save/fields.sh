model m.safetensors
sherd checkpoint save -q m.safetensors a --field run=other --field new=a=b --field empty=
sherd info --json a | field 'd["metadata"]'
sherd checkpoint save m.safetensors b --field nothing
echo $?
