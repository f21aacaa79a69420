model m.safetensors
sherd checkpoint save -q m.safetensors a --shards 2
rm a.metadata.json a_shard_1.shard
sherd checkpoint repair a
echo $?
sherd checkpoint repair b
echo $?
ls
