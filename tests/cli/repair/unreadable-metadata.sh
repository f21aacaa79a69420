model m.safetensors
sherd checkpoint save -q m.safetensors a --shards 2
echo '{' > a.metadata.json
sherd checkpoint repair a
echo $?
sherd checkpoint repair --json a --replace
sherd verify a
