model m.safetensors
sherd checkpoint save m.safetensors step-1 --shards 2 --step 1 --epoch 2 --learning-rate 0.001 --optimizer adamw -q
sherd info --json step-1
sherd info --json step-1_shard_0.shard | field '[d["format"], d["worldSize"], [t["name"] for t in d["tensors"]]]'
