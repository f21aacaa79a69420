model m.safetensors
sherd checkpoint save -q m.safetensors a --shards 1
flip a_shard_0.shard 130
sherd checkpoint load a -o out.safetensors
echo $?
for name in embed head ids scale; do
	sherd checkpoint load -q a -o $name.npy --tensor $name 2>/dev/null && echo $name is fine
done
ls *.npy *.safetensors
