# A manifest for shards that have none, in the order of their names or as given.
mkdir set && shard set/b.shard 2x2 0 && shard set/a.shard 1x2 10
sherd rows cat set
sherd rows index set
sherd rows index set
echo $?
sherd rows index set b.shard set/a.shard --replace
sherd rows cat set
sherd rows info set --json | field '[s["file"] for s in d["shards"]]'
flip set/rows.manifest.json 30
sherd rows cat set
echo $?
sherd rows index set --replace --json | field '[d["rows"], d["shards"]]'
sherd verify set
shard set/c.shard 1x2 20
sherd rows info set
sherd rows verify -q set
echo $?
flip set/a.shard 33
sherd rows verify -q set
echo $?
sherd rows index set nobody.shard --replace
echo $?
sherd rows index nowhere
echo $?
mkdir none && sherd rows index none
echo $?
# Whoever meets the damaged manifest is told the way out, unless the shards do not tell enough.
tensors a.npy x:F32:1x2 && sherd rows pack -q a.npy broken && echo no >> broken/rows.manifest.json
sherd rows append a.npy broken
echo $?
sherd rows pack -q a.npy half --store f16 && echo no >> half/rows.manifest.json
sherd rows append a.npy half
