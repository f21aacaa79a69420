# C-17: a folder stands for its newest checkpoint.
model m.safetensors
for step in 1 2 3; do
	SOURCE_DATE_EPOCH=$((1700000000 + step)) sherd checkpoint save -q m.safetensors run/step-$step --step $step
done
SOURCE_DATE_EPOCH=9000000000 sherd checkpoint save -q m.safetensors run/ahead --step 0
rm run/step-3_shard_0.shard
sherd checkpoint load run/ -o a.safetensors
sherd checkpoint load run -o b.safetensors
sherd checkpoint reshard run/ new --shards 2
(cd run && sherd checkpoint load . -o ../c.safetensors && sherd checkpoint load ./ -o ../c.safetensors --replace)
# a checkpoint of the same name as the folder
sherd checkpoint save -q m.safetensors run --step 9
sherd checkpoint load run -o d.safetensors
sherd checkpoint load run/ -o e.safetensors
mkdir empty
sherd checkpoint load empty/ -o f.safetensors
echo $?
sherd checkpoint load --json empty -o f.safetensors
sherd checkpoint remove run/
echo $?
ls run | wc -l
