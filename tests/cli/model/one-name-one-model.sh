# M-4: what was written is what the name opens, in every command.
cp "$SHERD_SOURCE/tests/corpus/samediff_graph/y_small.fb" a.fb
cp "$SHERD_SOURCE/tests/golden/container/sample.sdc" b.sdc
sherd model split a.fb m --shards 1
sherd model split b.sdc m --shards 2
echo "exit $?"
sherd model split b.sdc m --shards 2 --replace
ls
sherd info m | head -1
sherd verify m
sherd cat m n
sherd model join m m.sdc
sherd verify m.sdc
sherd model split a.fb m.sdc --shards 3
echo "exit $?"
sherd model split a.fb new.sdc --shards 3
sherd cat new.sdc
sherd cat new
sherd model join new new --replace
ls new*
