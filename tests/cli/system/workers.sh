model m.safetensors
for n in 1 2 16; do
	sherd --workers $n checkpoint save -q m.safetensors a --shards 4 --replace && sherd --workers=$n verify a
done
