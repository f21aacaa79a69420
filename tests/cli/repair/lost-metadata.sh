model m.safetensors
sherd checkpoint save -q m.safetensors a --shards 3 --step 5 --field k=v
mv a.metadata.json kept
sherd checkpoint repair a
sherd verify a
sherd info --json a | field '[d["training"]["step"], d["metadata"]["k"], d["setId"]]'
sherd checkpoint repair a
echo $?
