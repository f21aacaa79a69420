# C-2: a shard of the C# layout does not describe its tensors: the metadata beside it does, or it is refused.
model m.safetensors
sherd checkpoint save -q m.safetensors cs --shards 2 --layout csharp
sherd convert cs_shard_0.shard x.safetensors
sherd info --json cs_shard_0.shard | field '[[t["name"], t["shape"]] for t in d["tensors"]]'
sherd cat cs_shard_0.shard embed
sherd checkpoint load cs_shard_1.shard -o y.safetensors
sherd verify cs_shard_0.shard
mkdir alone
cp cs_shard_0.shard alone
sherd convert alone/cs_shard_0.shard z.safetensors
echo $?
sherd info alone/cs_shard_0.shard
echo $?
sherd cat alone/cs_shard_0.shard embed
echo $?
sherd verify alone/cs_shard_0.shard
echo $?
ls *.safetensors
