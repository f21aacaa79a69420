# C-13: the C# layout has no place for a checksum in the shard; the metadata keeps it.
model m.safetensors
sherd checkpoint save -q m.safetensors a --shards 2 --layout csharp
sherd verify a
noticed=0 tried=0
size=$(stat -c %s a_shard_0.shard)
for ((at = 0; at < size; at += 9)); do
	tried=$((tried + 1))
	flip a_shard_0.shard $at
	sherd verify -q a 2>/dev/null || noticed=$((noticed + 1))
	flip a_shard_0.shard $at
done
echo "$noticed of $tried noticed"
flip a_shard_0.shard 30
sherd verify a
sherd checkpoint load a -o x.safetensors
echo $?
flip a_shard_0.shard 30
# what the program reads has everything but the digest
python3 - <<'EOF'
import json
d = json.load(open("a.metadata.json"))
print([sorted(s) for s in d["shards"]], [s["checksum"] for s in d["shards"]], [len(s["sha256"]) for s in d["shards"]])
EOF
