cp "$SHERD_SOURCE/tests/corpus/samediff_graph/y_full.fb" full.fb
cp "$SHERD_SOURCE/tests/corpus/samediff_graph/y_small.fb" small.fb
for to in full.safetensors full.safetensors.index.json full.npy/ full.metadata.json; do
	sherd convert full.fb $to
	echo "exit $?"
done
ls
sherd convert --json full.fb full.safetensors | field 'd["error"]["code"]'
sherd convert small.fb small.safetensors --drop-graph && sherd cat small.safetensors
sherd model convert small.fb small/ --drop-graph && sherd cat small/c.npy
sherd convert full.fb step --to checkpoint --drop-graph && sherd verify step && sherd cat step old && sherd cat step w
sherd checkpoint save full.fb saved
echo "exit $?"
sherd checkpoint save full.fb saved --drop-graph && sherd cat saved f64
