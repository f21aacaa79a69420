model m.safetensors
sherd checkpoint save m.safetensors run/step-1 --shards 2 --step 1 --epoch 2 --learning-rate 0.001 --optimizer adamw --field note='two words' --quiet
for name in step-1 step-1.metadata.json; do
	sherd info run/$name
done
sherd info run/step-1_shard_1.shard
