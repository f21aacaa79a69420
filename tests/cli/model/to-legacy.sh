cp "$SHERD_SOURCE/tests/corpus/samediff_graph/y_full.fb" full.fb
sherd convert full.fb again.fb && sherd verify --quick again.fb
sherd convert full.fb again.fb
echo "exit $?"
sherd convert again.fb third --to samediff-flatbuffers && cmp again.fb third && echo "the same bytes"
sherd model graph full.fb >graph.txt && sherd model graph third | diff graph.txt - && echo "the same graph"
sherd info --json full.fb | field 'd["tensors"]' >tensors.txt
sherd info --json third | field 'd["tensors"]' | diff tensors.txt - && echo "the same arrays"
for name in w half bf16 u8 text old f64; do
	sherd cat full.fb $name --format raw >was && sherd cat third $name --format raw | cmp was - || echo "$name differs"
done
sherd convert full.fb more.fb --shards 2
echo "exit $?"
cp "$SHERD_SOURCE/tests/corpus/npy/y_numpy_big_int16.npy" array.npy
sherd convert array.npy x.fb
echo "exit $?"
ls
sherd convert full.fb full.sdc && sherd convert full.sdc back.fb && cmp again.fb back.fb && echo "the same bytes by a container"
