cp "$SHERD_SOURCE/tests/corpus/samediff_graph/y_small.fb" small.fb
sherd convert small.fb small.sdc --compress deflate
sherd model meta small.sdc
sherd model meta small.sdc model.name=small "note=a = b"
sherd model meta small.sdc
sherd model meta small.sdc note
sherd model meta small.sdc model.name note
sherd model meta small.sdc --json model.name
sherd model meta small.sdc nothing
echo "exit $?"
sherd model meta small.sdc --remove note --remove creation.time && sherd model meta small.sdc
sherd model meta small.sdc =x
sherd model meta small.sdc a b=c
echo "exit $?"
sherd model meta small.fb model.name=x
echo "exit $?"
sherd verify small.sdc
graph() { sherd model graph "$1" --json | sed 's/"format":"[^"]*"//'; }
graph small.sdc > now.json && graph small.fb | cmp - now.json
# Of several files too, whichever is named.
sherd model split small.sdc parts --shards 2
sherd model meta parts.shard1-of-2.sdc a=b && sherd model meta parts && sherd verify parts
