model m.safetensors
sherd convert -q m.safetensors want.safetensors
for options in "--shards 1" "--shards 3" "--shards 7" "--shards 3 --cut"; do
	sherd checkpoint save -q m.safetensors a $options --replace
	sherd checkpoint load a -o got.safetensors --replace && cmp got.safetensors want.safetensors
done
sherd checkpoint load --json a -o got2.safetensors
