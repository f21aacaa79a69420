# Numbers of an index stay numbers through a container and a checkpoint, and are texts in a safetensors file.
tensors m.safetensors a:U8:1
cat > i.safetensors.index.json <<'J'
{"metadata": {"total_size": 1, "n": 7, "x": [1, 2], "r": -0.5, "b": true, "s": "7"}, "weight_map": {"a": "m.safetensors"}}
J
sherd info i.safetensors.index.json
sherd convert -q i.safetensors.index.json c.sdc
sherd model meta c.sdc sherd.types
sherd convert -q c.sdc k --to checkpoint --drop-graph
sherd checkpoint reshard -q k l --shards 2
sherd info --json l | field '[d["metadata"][k] for k in "nxrbs"]'
sherd convert -q l j.safetensors.index.json
python3 -c 'import json; d = json.load(open("j.safetensors.index.json"))["metadata"]; print({k: d[k] for k in "nxrbs"})'
sherd convert -q l s.safetensors
sherd info --json s.safetensors | field '[d["metadata"][k] for k in "nxrbs"]'
