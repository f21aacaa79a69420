model m.safetensors
sherd checkpoint save -q m.safetensors a
cp a.metadata.json before
sherd checkpoint save m.safetensors a --shards 2
echo $?
cmp before a.metadata.json && ls
