model m.safetensors
for step in 1 2 3; do
	SOURCE_DATE_EPOCH=$((1700000000 + step)) sherd checkpoint save -q m.safetensors run/step-$step --step $step
done
sherd checkpoint save -q m.safetensors run/lost
rm run/lost.metadata.json
sherd checkpoint save -q m.safetensors run/broken
echo '{' >run/broken.metadata.json
sherd checkpoint save -q m.safetensors run/newer
echo '{"version":"2.0","worldSize":1,"shards":[]}' >run/newer.metadata.json
# what a replacement that died left: its claim and its shards
cp run/step-3_shard_0.shard run/step-3_shard_0.00112233445566778899aabbccddeeff.shard
printf 'a claim that nobody holds' >run/step-3.saving
ls run >before
sherd checkpoint list run | tr -s ' '
sherd checkpoint prune run --keep 2 --orphaned --damaged --dry-run
sherd checkpoint prune --json run --keep 2 --orphaned --damaged --dry-run
ls run | cmp - before && echo nothing changed
sherd checkpoint prune run --keep 2 --orphaned --damaged
ls run
