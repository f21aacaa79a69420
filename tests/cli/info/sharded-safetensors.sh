model m.safetensors
sherd convert -q m.safetensors big.safetensors.index.json --shards 2
ls
for name in big big.safetensors.index.json; do
	sherd info --json $name | field '[d["format"], sorted(t["name"] for t in d["tensors"])]'
done
sherd info --json big-00002-of-00002.safetensors | field 'd["format"]'
