# M-7: how a container lies on disk.
cp "$SHERD_SOURCE"/tests/golden/container/set* .
sherd info set
sherd info set --json | field '[[f["file"], f["missing"]] for f in d["container"]["files"]] + [[t["name"], t["shard"], t["codec"]] for t in d["tensors"]]'
rm set.shard1-of-2.sdc
sherd info set
echo "exit $?"
sherd info set --json | field '[f["missing"] for f in d["container"]["files"]] + [t.get("missing", False) for t in d["tensors"]]'
# M-9: times are dates, also the first one.
cp "$SHERD_SOURCE/tests/corpus/samediff_graph/y_small.fb" small.fb
SOURCE_DATE_EPOCH=0 sherd convert -q small.fb m.sdc
sherd info m.sdc | grep time
sherd model meta m.sdc creation.time
# M-8: packed stays packed, and --compress overrides.
sherd convert -q "$SHERD_SOURCE/tests/golden/container/sample.sdc" packed.sdc --compress deflate
sherd convert -q packed.sdc again.sdc
sherd convert -q packed.sdc plain.sdc --compress none
for f in packed again plain; do sherd info $f.sdc | tail -1; done
[ "$(stat -c %s again.sdc)" -lt "$(stat -c %s plain.sdc)" ] && echo "again.sdc is packed"
