# C-11: one missing and one damaged shard do not keep the rest from being read.
model m.safetensors
mkdir k
sherd checkpoint save -q m.safetensors k/a --shards 4 --step 7
for name in embed head ids scale; do
	python3 -c "import json; print('$name', [s['rank'] for s in json.load(open('k/a.metadata.json'))['shards'] for t in s['tensors'] if t['name'] == '$name'])"
done
rm k/a_shard_1.shard
truncate -s 100 k/a_shard_2.shard
sherd checkpoint load k/a -o all.safetensors
echo $?
sherd checkpoint load k/a -o some.safetensors --partial
sherd info --json some.safetensors | field '[t["name"] for t in d["tensors"]]'
sherd checkpoint load --json k/a -o some.safetensors --partial --replace | field '[d["tensors"], [[l["object"], l["code"], l["message"]] for l in d["lost"]]]'
sherd convert k/a some.metadata.json --partial 2>/dev/null
sherd info --json k/a --partial | field '[[t["name"] for t in d["tensors"]], len(d["lost"])]'
sherd info k/a --partial | grep -c '^embed '
sherd cat k/a embed --partial 2>/dev/null
sherd cat k/a head --partial
echo $?
sherd checkpoint load k/a -o one.npy --partial --tensor scale 2>/dev/null
sherd checkpoint load -q k/a -o one.npy --partial --tensor ids 2>&1 | tail -1
# cut by rows: nothing is whole; a replica is
sherd checkpoint save -q m.safetensors k/b --shards 2 --cut
rm k/b_shard_1.shard
sherd info --json k/b --partial | field '[[t["name"] for t in d["tensors"]], [l["message"] for l in d["lost"]]]'
