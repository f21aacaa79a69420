# Shards that the user lists, in that order, wherever they lie.
mkdir -p a/deep b && shard a/deep/x.shard 2x2 0 && shard b/y.shard 1x2 10 && shard here.shard 1x2 20
sherd rows stream here.shard b/y.shard a/deep/x.shard --format text
sherd rows stream a/deep/x.shard b/y.shard a/deep/x.shard --format text --ids
sherd rows info b/y.shard here.shard --json | field '[d["rows"], [s["file"] for s in d["shards"]]]'
sherd rows info b/y.shard here.shard
sherd rows stream here.shard nowhere.shard
echo $?
shard b/wide.shard 1x3
sherd rows stream b/y.shard b/wide.shard 2> said
echo $?
sed "s|$PWD/||" said
