# A set that grows: all rows of an append appear in one step, and the command says what it did.
tensors a.npy x:F32:3x2
tensors b.npy x:F32:2x2=10,11,12,13
tensors c.safetensors t:F64:1x2=20,21 u:BF16:1x2=#803f00c0
sherd rows pack a.npy set --rows-per-shard 2
sherd rows append b.npy c.safetensors set
sherd rows append -q a.npy set --rows-per-shard 1 --json | field '[d["appended"], d["rows"], d["shards"], d["dtype"]]'
sherd rows cat set
ls set
sherd rows verify set
echo "what cannot be"
sherd rows append a.npy nowhere
echo $?
mkdir empty && sherd rows append a.npy empty
echo $?
tensors wide.npy x:F32:1x3
sherd rows append wide.npy set
echo $?
mkdir plain && shard plain/a.shard 2x2
sherd rows append a.npy plain
echo $?
sherd rows index plain && sherd rows append -q a.npy plain --json | field 'd["appended"]'
sherd rows append a.npy a.npy
echo $?
sherd rows append set set && sherd rows info set --json | field 'd["rows"]'
echo "nothing was left"
ls
