model m.safetensors
sherd checkpoint save -q m.safetensors a --shards 4
for rank in 0 1 2; do
	sherd checkpoint load -q a -o part$rank.safetensors --rank $rank --world 3
	sherd info --json part$rank.safetensors | field '[[t["name"], t["shape"]] for t in d["tensors"]]'
	sherd checkpoint load -q a -o cut$rank.safetensors --rank $rank --world 3 --cut
	sherd cat cut$rank.safetensors embed
	sherd cat cut$rank.safetensors ids
done
