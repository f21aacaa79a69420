cp "$SHERD_SOURCE/tests/corpus/samediff_graph/y_full.fb" full.fb
sherd model split full.fb parts --shards 3
ls
sherd verify parts
sherd info --json parts.shard2-of-3.sdc | field 'd["format"], len(d["tensors"])'
sherd model split full.fb parts --shards 3
echo "exit $?"
sherd model split full.fb parts
echo "exit $?"
sherd model join parts one.sdc --compress deflate
sherd convert full.fb direct.sdc --compress deflate && cmp one.sdc direct.sdc
# Another number of files replaces the set in one step.
sherd model split full.fb parts --shards 2 --replace && ls parts*
sherd verify parts
# What a save that died would have left is told, and no error.
cp parts.shard1-of-2.sdc parts.shard1-of-2.1.sdc
sherd verify parts
rm parts.shard1-of-2.1.sdc parts.shard1-of-2.sdc
sherd verify parts
echo "exit $?"
sherd model join parts x.sdc
echo "exit $?"
sherd model join nothing x.sdc
echo "exit $?"
ls
sherd --json model join one.sdc two.sdc --without-updater
