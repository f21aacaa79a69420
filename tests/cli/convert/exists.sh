model m.safetensors
sherd convert m.safetensors m.safetensors
echo $?
sherd convert -q m.safetensors set.safetensors.index.json --shards 2
rm set.safetensors.index.json set-00001-of-00002.safetensors
sherd convert m.safetensors set.safetensors.index.json --shards 2
echo $?
ls
sherd convert m.safetensors set.safetensors.index.json --shards 2 --replace
