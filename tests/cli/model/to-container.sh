cp "$SHERD_SOURCE/tests/corpus/samediff_graph/y_full.fb" full.fb
sherd convert full.fb full.sdc
sherd convert full.fb full.sdc
echo "exit $?"
sherd convert full.fb packed.sdc --compress deflate:9 && sherd verify full.sdc packed.sdc
sherd info --json full.sdc | field 'd["format"], len(d["tensors"])'
# The graph comes back whole, whatever it went through.
graph() { sherd model graph "$1" --json | sed 's/"format":"[^"]*"//'; }
graph full.fb > direct.json
graph packed.sdc | cmp - direct.json
sherd convert packed.sdc again.fb --drop-metadata && graph again.fb | cmp - direct.json
for name in $(sherd info --json full.fb | field '" ".join(t["name"] for t in d["tensors"])'); do
	sherd cat full.fb "$name" --format raw > want
	for file in full.sdc packed.sdc again.fb; do
		sherd cat $file "$name" --format raw | cmp - want
	done
done
sherd convert full.sdc bare.sdc --without-updater && sherd info --json bare.sdc | field '[t["name"] for t in d["tensors"] if t["name"].startswith("@updater")]'
# What is told is what was written, whatever the target.
for to in sdc checkpoint; do
	sherd --json convert full.fb bare-$to --to $to --drop-graph --without-updater | field 'd["tensors"]'
	sherd info --json bare-$to | field 'len(d["tensors"])'
done
sherd convert full.sdc x.safetensors --salvage --without-updater
echo "exit $?"
for how in deflate:0 deflate:13 deflate:x deflate: zstd; do
	sherd convert full.fb x.sdc --compress $how
	echo "exit $?"
done
sherd convert full.fb x.fb --compress deflate
sherd convert full.fb x.fb --shards 2
sherd convert full.fb x.unknown
echo "exit $?"
