# C-14: a filePath of another system: its last component, beside the metadata.
model m.safetensors
sherd checkpoint save -q m.safetensors a --shards 2 --layout csharp
rename() { python3 -c "
import json, sys
d = json.load(open('a.metadata.json')); d.pop('sha256', None)
for s in d['shards']: s['filePath'] = sys.argv[1].replace('NAME', 'a_shard_%d.shard' % s['rank'])
json.dump(d, open('a.metadata.json', 'w'))" "$1"; }
for path in 'C:\run\NAME' '\\host\share\NAME' '/mnt/run/NAME' 'D:/run\NAME' '..\NAME' '../NAME' 'C:\run\'; do
	rename "$path"
	sherd verify a 2>&1 | grep -v 'own hash'
done
# a backslash of ours is a character like any other
sherd checkpoint save -q m.safetensors 'b\c' --shards 2
sherd verify 'b\c'
