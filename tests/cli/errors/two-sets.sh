# Two sets under one name are the same error for every command.
model m.safetensors
sherd convert -q m.safetensors q.sdc --shards 2
sherd convert -q m.safetensors p.sdc --shards 3
for i in 0 1 2; do mv p.shard$i-of-3.sdc q.shard$i-of-3.sdc; done
sherd convert -q m.safetensors s.sdnb --shards 2
sherd convert -q m.safetensors t.sdnb --shards 3
for i in 0 1 2; do mv t.shard$i-of-3.sdnb s.shard$i-of-3.sdnb; done
for name in q.sdc q s.sdnb; do
	sherd info $name
	echo "info $?"
	sherd cat $name ids
	echo "cat $?"
	sherd convert $name x.safetensors
	echo "convert $?"
	sherd verify -q $name
	echo "verify $?"
done
