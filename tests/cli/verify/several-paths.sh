model m.safetensors
mkdir a b
sherd checkpoint save -q m.safetensors a/x
sherd checkpoint save -q m.safetensors b/x
flip a/x_shard_0.shard 130
truncate -s -1 b/x_shard_0.shard
sherd verify --json a/x b/x m.safetensors | field '[d["ok"], [e["object"] for e in d["errors"]], [e["object"] for e in d["warnings"]]]'
sherd verify --quiet a/x b/x m.safetensors
