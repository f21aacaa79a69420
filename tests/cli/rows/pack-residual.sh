# residual_shard_bf16 is written as it is read.
tensors a.npy x:F32:5x2=1,2,3,4,5,6,-7,8,0.1,10
sherd rows pack a.npy out --layout residual_shard_bf16 --rows-per-shard 2
ls out
sherd rows info out --json | field '[d["format"], d["rows"], d["dtype"]]'
sherd cat out
python3 -c 'import json; d = json.load(open("out/manifest.json")); print(d["rows_per_shard"], d["total_tokens"], d["stats"]["mean"])'
sherd verify -q out
echo $?
sherd rows pack -q out back && sherd rows info back --json | field '[d["format"], d["dtype"], d["rows"]]'
[ "$(sherd cat out)" = "$(sherd cat back)" ] && echo the same
sherd rows append a.npy out
echo $?
flip out/manifest.json 60
sherd cat out
echo $?
sherd rows pack a.npy x --layout residual_shard_bf16 --store f32
echo $?
echo "by convert"
sherd convert a.npy set/ --to rows && sherd rows verify -q set && sherd cat set
sherd convert a.npy bf --to rows-bf16 && ls bf
sherd convert a.npy set --to rows
echo $?
sherd convert a.npy set --to rows --replace
echo $?
sherd convert set b.safetensors && sherd convert b.safetensors again --to rows -q && cmp set/part-00000.shard again/part-00000.shard
ls
