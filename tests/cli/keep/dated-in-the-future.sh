# A clock that ran ahead once: the set is whole, but not the newest for ever.
model m.safetensors
SOURCE_DATE_EPOCH=9000000000 sherd checkpoint save -q m.safetensors run/ahead --step 1
for step in 2 3; do
	SOURCE_DATE_EPOCH=$((1700000000 + step)) sherd checkpoint save -q m.safetensors run/step-$step --step $step
done
sherd checkpoint list run | tr -s ' '
sherd checkpoint list --json run | field '[[c["prefix"], c.get("future")] for c in d["checkpoints"]]'
sherd checkpoint prune --json run --keep 1
sherd checkpoint prune run --keep 1
ls run
