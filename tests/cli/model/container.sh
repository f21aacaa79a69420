cp "$SHERD_SOURCE"/tests/golden/container/* .
sherd info sample.sdc
sherd info --json tiny.sdc
sherd verify sample.sdc set set.shard1-of-2.sdc replaced
sherd cat set texts
sherd cat replaced n
sherd model graph tiny.sdc
rm set.shard1-of-2.sdc
sherd verify set
sherd verify replaced.shard1-of-2.1.sdc
rm replaced.shard0-of-2.sdc
sherd info replaced
head -c 1100 sample.sdc >cut.sdc
sherd verify cut.sdc
