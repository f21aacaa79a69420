model m.safetensors
sherd convert -q m.safetensors want.safetensors
sherd checkpoint save -q m.safetensors a --shards 3 --step 9 --field k=v
sherd checkpoint reshard a b --shards 5
sherd checkpoint reshard --json b c --shards 2 --cut
sherd info --json c | field '[d["training"]["step"], d["metadata"], d["worldSize"], d["timestamp"]]'
sherd verify b c
sherd checkpoint load -q c -o got.safetensors
sherd cat got.safetensors embed
sherd checkpoint reshard a b --shards 2
echo $?
sherd checkpoint reshard a d
echo $?
