# A rank that comes again looks at what lies there, not only at its index.
for r in 0 1; do tensors r$r.safetensors w$r:F32:40; done
rank() { sherd checkpoint save r$1.safetensors k/a --rank $1 --world 2 --set-id 00000000000000000000000000000001 "${@:2}"; echo $?; }
rank 0 --step 5
rank 0 --step 5
cp k/a_shard_0.shard good
flip k/a_shard_0.shard 140
rank 0 --step 5
cmp good k/a_shard_0.shard && echo as it was
flip k/a_shard_0.shard 20
rank 0 --step 5
cmp good k/a_shard_0.shard && echo as it was
for at in 5 -30; do
	flip k/a_shard_0.shard $at
	rank 0 --step 5
done
truncate -s 100 k/a_shard_0.shard
rank 0 --step 5
echo of another program >k/a_shard_1.shard
rank 1
rm k/a_shard_1.shard
rank 1
sherd verify -q k/a && echo whole
# committed: the same bytes, or nothing
flip k/a_shard_1.shard 140
sherd checkpoint save --json r1.safetensors k/a --rank 1 --world 2 --set-id 00000000000000000000000000000001 | field '[d["repeated"], d["rewritten"], d["committed"]]'
sherd verify -q k/a && echo whole
SOURCE_DATE_EPOCH=1 rank 1
flip k/a_shard_0.shard 140
rank 0 --step 6
rank 0 --step 5
sherd verify -q k/a && echo whole
rm k/a_shard_0.shard
rank 0 --step 5
ls k
