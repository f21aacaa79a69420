model m.safetensors
sherd checkpoint save -q m.safetensors a --shards 3
sherd checkpoint save m.safetensors a --shards 2 --replace --set-id 00112233445566778899aabbccddeeff
ls
sherd verify a
