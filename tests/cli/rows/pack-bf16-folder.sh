bf16-folder src 3 4 1 2
sherd info src
sherd info --json src | field '[d["format"], d["rows"], d["width"], d["dtype"], [s["rows"] for s in d["shards"]], d["shards"][0]["file"]]'
sherd cat src --range 3:5
sherd rows pack src set --rows-per-shard 5
sherd rows cat set
sherd rows pack src no --tensor x
echo $?
sherd rows pack src no --dtype bf16
echo $?
truncate -s -1 src/shard_00001.bf16
sherd rows pack src no
echo $?
rm src/shard_00001.bf16
sherd rows pack --json src no | field 'd["error"]'
sherd info src
echo $?
ls
