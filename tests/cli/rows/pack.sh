tensors a.npy x:F32:5x2
sherd rows pack a.npy set --rows-per-shard 2
ls set
sherd rows info set
sherd rows cat set
sherd rows verify set
sherd rows pack a.npy deep/in/other --json --rows-per-shard 3
sherd rows pack -q a.npy one
sherd rows info one --json | field '[d["rows"], d["shards"], d["manifest"]]'
mkdir here && cd here && sherd rows pack -q ../a.npy . && ls && sherd rows info . && sherd info ./ --json | field 'd["format"]'
cd .. && cmp one/part-00000.shard here/part-00000.shard && cmp one/rows.manifest.json here/rows.manifest.json
