model m.safetensors
sherd checkpoint save m.safetensors step-1 --shards 3 --cut -q
sherd info step-1 | grep -A9 ^tensor
sherd info --json step-1 | field '[[t["name"], [p["shard"] for p in t["pieces"]] if "pieces" in t else t["shard"]] for t in d["tensors"]]'
