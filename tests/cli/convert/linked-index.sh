# As caches of models lay them out: files by their hash, and links by their names elsewhere.
model m.safetensors
sherd convert -q m.safetensors real/model.safetensors.index.json --shards 2
mkdir -p cache/blobs cache/snapshots/1
n=0
for f in real/*; do
	n=$((n + 1))
	cp "$f" cache/blobs/$n
	ln -s ../../blobs/$n "cache/snapshots/1/${f##*/}"
done
index=cache/snapshots/1/model.safetensors.index.json
sherd info $index | head -n 1
sherd verify -q "file:$PWD/$index"
sherd checkpoint save -q $index a
sherd convert -q a b.safetensors
sherd convert -q real/model c.safetensors
cmp c.safetensors b.safetensors && echo same
cd cache/snapshots/1 && sherd info model.safetensors.index.json | head -n 1
rm ../../blobs/1 && sherd info model.safetensors.index.json
