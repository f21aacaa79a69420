model m.safetensors
sherd checkpoint save m.safetensors a --shards 2
sherd checkpoint save --json m.safetensors b --shards 2
sherd checkpoint save --quiet m.safetensors c
ls
