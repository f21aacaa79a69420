# Shards that the user lists, in that order, wherever they lie.
mkdir -p a/deep b && shard a/deep/x.shard 2x2 0 && shard b/y.shard 1x2 10 && shard here.shard 1x2 20
sherd rows stream here.shard b/y.shard a/deep/x.shard --format text
sherd rows stream a/deep/x.shard b/y.shard a/deep/x.shard --format text --ids
sherd rows info b/y.shard here.shard --json | field '[d["rows"], [s["file"] for s in d["shards"]]]'
sherd rows info b/y.shard here.shard
sherd rows stream here.shard nowhere.shard
echo $?
shard b/wide.shard 1x3
sherd rows stream b/y.shard b/wide.shard
echo $?
# Everything is called what the user called it.
shard b/deep.shard 1x3 && mkdir c && shard c/y.shard 1x2
sherd rows stream ./b/y.shard "$PWD/here.shard" b/../b/wide.shard a/deep/x.shard
sherd rows info b/y.shard c/y.shard --json | field '[s["file"] for s in d["shards"]]'
sherd rows info ./c/y.shard b/y.shard
sherd rows stream a b
echo $?
truncate -s 33 c/y.shard
sherd rows info b/y.shard c/y.shard --json | field 'd["error"]["object"]'
# A URI means the same as the path.
sherd rows stream "file://$PWD/b/y.shard" file:here.shard ./a/deep/x.shard --format text
sherd rows info file:b/y.shard here.shard --json | field '[s["file"] for s in d["shards"]]'
sherd rows stream file:nowhere.shard here.shard
mkdir other && cp here.shard other && sherd rows stream file://other/here.shard here.shard
sherd rows stream mem://a mem://b
sherd rows stream mem://a here.shard
echo $?
status=0
sherd rows stream gopher://host/a gopher://host/b 2>said || status=$?
sed 's/, s3.*$//' said >&2 # which not every build has
exit $status
