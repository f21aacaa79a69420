# All shards are there, but whoever was to publish them did not.
model m.safetensors
id=00112233445566778899aabbccddeeff
sherd checkpoint save -q m.safetensors a --rank 0 --world 2 --split --set-id $id
cp a.saving claim
sherd checkpoint save -q m.safetensors a --rank 1 --world 2 --split --set-id $id
rm a.metadata.json
mv claim a.saving
sherd checkpoint commit --json a
sherd verify a
