# Rows are one tensor, wherever the shards begin and whatever they are stored in.
mkdir a b
shard a/0.shard 4x3 0
shard a/1.shard 2x3 12
shard b/0.shard 1x3 0
shard b/1.shard 5x3 3
sherd diff a b
echo "exit $?"
shard b/1.shard 5x3 4
sherd diff a b
echo "exit $?"
shard b/2.shard 1x3 0
sherd diff a b
echo "exit $?"
sherd convert a rows.npy --quiet
sherd diff rows.npy a
