# A set that holds rows.packing and no manifest is not one yet; the next pack starts over.
tensors a.npy x:F32:6x2
sherd rows pack -q a.npy set --rows-per-shard 2
rm set/rows.manifest.json set/part-00002.shard
echo '{}' > set/rows.packing
for command in info "stream --digest" cat "verify -q"; do
	sherd rows $command set
	echo "$? $command"
done
sherd info --json set | field 'd["error"]["code"]'
sherd rows info set --incomplete --json | field '[d["rows"], len(d["shards"])]'
sherd rows stream set --incomplete --batch 3
sherd rows pack a.npy set --rows-per-shard 4
ls set
sherd rows verify set
