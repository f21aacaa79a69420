# C-6: more shards than a process may have files open.
model m.safetensors
ulimit -n 48
sherd checkpoint save m.safetensors a --shards 90 | cut -d, -f1,2
sherd checkpoint load -q a -o b.safetensors && sherd convert -q m.safetensors c.safetensors && cmp b.safetensors c.safetensors && echo the same
sherd checkpoint reshard -q a r --shards 2 && sherd verify -q r && echo fine
sherd verify a
sherd checkpoint list . | tail -1 | cut -c1-12
