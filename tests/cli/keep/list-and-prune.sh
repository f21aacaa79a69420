model m.safetensors
for step in 1 2 3; do
	SOURCE_DATE_EPOCH=$((1700000000 + step)) sherd checkpoint save -q m.safetensors run/step-$step --step $step
done
sherd checkpoint save -q m.safetensors run/half --rank 0 --world 2 --set-id 00112233445566778899aabbccddeeff
sherd checkpoint save -q m.safetensors run/broken
echo '{' > run/broken.metadata.json
sherd checkpoint save -q m.safetensors run/lost
rm run/lost.metadata.json
sherd checkpoint list run | tr -s ' ' | cut -d' ' -f1,2
sherd checkpoint list --json run | field '[[c["prefix"], c["state"], c.get("timestamp"), c.get("step"), c.get("problem", "").split(",")[0]] for c in d["checkpoints"]]'
sherd checkpoint prune run --keep 2
sherd checkpoint prune --json run --keep 1
sherd checkpoint list run | tr -s ' ' | cut -d' ' -f1,2
sherd checkpoint prune run --keep 1 --waiting-older-than 1h
sherd checkpoint prune run --keep 1 --waiting-older-than 0
sherd checkpoint prune run --keep 1 --waiting-older-than soon
echo $?
