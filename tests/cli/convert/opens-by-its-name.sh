# M-5: whatever convert was told to write is opened, by every command, under the name that it was told.
model m.safetensors
targets=(
	'one.safetensors'
	'two.safetensors.index.json --shards 2'
	'three --to index --shards 2'
	'four/'
	'five --to npy'
	'six.metadata.json --shards 2'
	'seven --to checkpoint'
	'eight.sdc'
	'nine.sdc --shards 2'
	'ten --to sdc --shards 3'
	'eleven.sdnb --shards 2'
	'twelve --to sdnb --shards 2'
	'thirteen.sdz --shards 2'
	'fourteen.fb --drop-metadata'
)
for target in "${targets[@]}"; do
	sherd convert m.safetensors $target || echo "FAILED: $target"
	set -- $target
	sherd info "$1" | head -1
	sherd cat "$1" ids
	sherd verify --quiet "$1" || echo "FAILED: verify $1"
	sherd convert -q --drop-graph "$1" back.safetensors --replace || echo "FAILED: back from $1"
	sherd cat back.safetensors scale
	sherd convert -q m.safetensors $target
	echo "again: $?"
	sherd convert -q m.safetensors $target --replace
	echo "replaced: $?"
	sherd cat "$1" ids
done
sherd convert --json m.safetensors fifteen.sdc --shards 2
