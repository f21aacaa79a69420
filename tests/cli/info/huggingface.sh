# Folders as Hugging Face's programs leave them: a model in one file or several, a run of checkpoints, a cache, whose blobs are
# held against their names.
model raw.safetensors
sherd convert -q raw.safetensors m.safetensors
mkdir -p one several run/checkpoint-9 run/checkpoint-10 run/checkpoint-11 run/runs
echo '{}' | tee one/config.json > several/config.json
cp m.safetensors one/model.safetensors
sherd convert -q m.safetensors several/model.safetensors.index.json --shards 2
for f in one one/ several; do
	sherd info $f | sed 1q
	sherd convert -q $f back.safetensors --replace
	cmp back.safetensors m.safetensors && echo same
done
sherd cat one ids
(cd one && sherd info . | sed 1q)
sherd verify several
# The newest step that has a model; 10 comes after 9, and 11 has none.
sherd convert -q m.safetensors run/checkpoint-9/model.safetensors --match ids
sherd convert -q m.safetensors run/checkpoint-10/model.safetensors --match embed
touch run/checkpoint-11/optimizer.pt
sherd info --json run | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["format"], [t["name"] for t in d["tensors"]])'
# A cache.
python3 - <<'END'
import hashlib, os
cache, revision = "models--org--name", "0123456789abcdef0123456789abcdef01234567"
for folder in ("blobs", "refs", f"snapshots/{revision}"):
    os.makedirs(f"{cache}/{folder}")
open(f"{cache}/refs/main", "w").write(revision)
for name, large in (("model.safetensors", True), ("config.json", False)):
    data = open(f"one/{name}", "rb").read()
    blob = hashlib.sha256(data).hexdigest() if large else hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
    open(f"{cache}/blobs/{blob}", "wb").write(data)
    os.symlink(f"../../blobs/{blob}", f"{cache}/snapshots/{revision}/{name}")
END
cache=models--org--name
sherd info $cache | sed 1q
sherd verify $cache
sherd verify $cache --quick
sherd info $cache/snapshots/* | sed 1q
sherd verify $cache/snapshots/*
# What nothing tells the hash of is named.
cp one/config.json $cache/snapshots/0123456789abcdef0123456789abcdef01234567/README.md
echo x > $cache/blobs/odd
sherd verify $cache
rm $cache/blobs/odd $cache/snapshots/*/README.md
for blob in $cache/blobs/*; do
	printf X >> $blob
done
sherd verify $cache
echo $?
mkdir empty && sherd info empty
echo $?
# A cache whose blobs are gone, and one that names no revision.
rm -r $cache/blobs
sherd verify $cache
echo $?
sherd info $cache
echo $?
for name in . ..; do
	printf %s $name > $cache/refs/main
	cp one/model.safetensors $cache
	sherd verify $cache
	echo $?
done
