model m.safetensors
sherd convert m.safetensors one.safetensors
sherd convert m.safetensors two.safetensors.index.json --shards 2
sherd convert m.safetensors three/
sherd convert m.safetensors four.metadata.json --shards 2
sherd convert three/embed.npy five.npy
sherd convert m.safetensors six --to checkpoint
sherd convert two seven --to safetensors-index --shards 9
for source in two.safetensors.index.json four six seven; do
	sherd convert -q $source back.safetensors --replace && cmp back.safetensors one.safetensors
done
sherd convert --json three/ids.npy eight.safetensors
ls -1R
