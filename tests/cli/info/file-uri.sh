# A checkpoint and a folder of the same name, by every spelling.
model m.safetensors
sherd checkpoint save -q m.safetensors a
mkdir a
for path in a ./a a/ "$PWD/a" file:a "file:$PWD/a" "file://$PWD/a" "file://localhost$PWD/a/"; do
	sherd info "$path" --json | cut -c 1-40
done
for path in p.metadata.json p_shard_0.shard p.saving; do
	sherd checkpoint save m.safetensors $path
done
ls
