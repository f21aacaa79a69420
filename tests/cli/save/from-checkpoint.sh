# Training, fields and members that nobody knows survive from checkpoint to checkpoint; options win.
model m.safetensors
sherd checkpoint save -q m.safetensors a --shards 2 --step 7 --epoch 2 --optimizer adamw --learning-rate 0.5 --field k=v
python3 - <<'EOF'
import json
text = json.load(open("a.metadata.json"))
del text["setId"], text["sha256"]
text["unknown"] = {"kept": [1, 2]}
text["training"]["more"] = 3
json.dump(text, open("a.metadata.json", "w"))
EOF
sherd checkpoint save -q a b
sherd checkpoint save -q a c --step 8 --optimizer sgd --field k=w
sherd convert -q a d --to checkpoint
for p in b c d; do
	sherd verify -q $p
	python3 -c 'import json, sys
m = json.load(open(sys.argv[1] + ".metadata.json"))
print(json.dumps([m["training"], m["customFields"], m.get("unknown")]))' $p
done
