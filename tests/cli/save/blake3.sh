# The digest is BLAKE3 of the data, in head and metadata; whatever reads goes by it.
model m.safetensors
sherd checkpoint save -q m.safetensors a --shards 2 --digest blake3
head -c 19 a_shard_0.shard | tail -c 7
echo
sherd info a | grep shard_
sherd info --json a | field '[s["checksum"][:12] for s in d["shards"]]'
sherd verify a
for workers in 1 2 5; do
	sherd checkpoint save -q m.safetensors "b$workers" --digest blake3 --workers $workers \
		--set-id 00112233445566778899aabbccddeeff
	cmp "b1_shard_0.shard" "b${workers}_shard_0.shard"
done
sherd checkpoint load -q a -o back.safetensors && cmp <(sherd cat back.safetensors embed) <(sherd cat m.safetensors embed)
sherd checkpoint list . | grep -c committed
rm a.metadata.json && sherd checkpoint repair -q a && sherd verify a

# Resharding keeps it unless it is told otherwise; what is replaced may have another one.
for new in "r1" "r2 --digest sha256" "r3 --layout csharp"; do
	sherd checkpoint reshard -q a $new --shards 1
	sherd info --json "${new%% *}" | field 'd["shards"][0]["checksum"][:7]'
done
sherd checkpoint save -q m.safetensors a --replace && sherd verify a

# A damaged byte is found in its part; a damaged digest by the metadata.
cp b1_shard_0.shard whole
flip b1_shard_0.shard 140
sherd verify b1
echo $?
cp whole b1_shard_0.shard
flip b1_shard_0.shard 20
sherd verify b1_shard_0.shard
echo $?

sherd checkpoint save m.safetensors c --digest md5
echo $?
sherd checkpoint save m.safetensors c --digest blake3 --layout csharp
echo $?
sherd checkpoint reshard a c --shards 1 --digest blake3 --layout csharp
echo $?
