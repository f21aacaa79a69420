export SOURCE_DATE_EPOCH=1700000000
cp "$SHERD_SOURCE/tests/corpus/samediff_graph/y_small.fb" small.fb
sherd convert small.fb m.sdnb && sherd info m.sdnb && sherd verify m.sdnb
sherd convert m.sdnb m.sdz && sherd info --json m.sdz && sherd verify m.sdz
sherd convert m.sdz s --to sdnb --shards 2 && ls s.*
sherd cat s c && sherd cat s.shard1-of-2.sdnb c && sherd cat m.sdz c
sherd model graph s
sherd convert m.sdz s.sdnb --shards 2 --replace
echo "exit $?"
rm s.shard1-of-2.sdnb
sherd info s
echo "exit $?"
sherd convert s s.fb
echo "exit $?"
printf 'x' | dd of=m.sdz bs=1 seek=394 conv=notrunc status=none
sherd verify m.sdz
echo "exit $?"
cp "$SHERD_SOURCE/tests/corpus/samediff_graph/y_full.fb" full.fb
sherd convert full.fb full.sdz
echo "exit $?"
head -c 100 m.sdz >cut.sdz
sherd info --json cut.sdz
echo "exit $?"
