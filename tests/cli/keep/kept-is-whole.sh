# S-2: the newest lacks a shard and has one cut short; the whole ones must not go for it.
model m.safetensors
for step in 1 2 3; do
	SOURCE_DATE_EPOCH=$((1700000000 + step)) sherd checkpoint save -q m.safetensors run/step-$step --step $step --shards 3
done
rm run/step-3_shard_1.shard
truncate -s 100 run/step-3_shard_2.shard
sherd checkpoint list run | tr -s ' '
sherd checkpoint list --json run | field '[[c["prefix"], c["state"], c.get("step"), c.get("problem")] for c in d["checkpoints"]]'
sherd checkpoint prune run --keep 1
# A foreign document of 127 bytes, dated 2261, without shards.
printf '{"version":"1.0.0","timestamp":"2261-12-31T00:00:00Z","worldSize":1,"shards":[{"rank":0,"fileSize":9,"tensors":[]}]}' >run/z.metadata.json
sherd checkpoint prune run --keep 1
sherd verify -q run/step-2
sherd checkpoint prune --json run --keep 1 --damaged
ls run
