set-of-rows set
tensors m.safetensors w:F32:2
sherd checkpoint save -q m.safetensors set/ck
rm set/ck.metadata.json
touch set/notes.txt set/.shard
sherd rows info set
sherd info set --json
sherd rows info set/d.shard
sherd info set/a.shard --json
cd set && sherd info .
