# M-10: arrays come out of a container whose METADATA, GRAPH, HEADER, a chunk or a shard is damaged or missing.
cp "$SHERD_SOURCE"/tests/golden/container/{sample.sdc,set*} .
section() { # FILE TYPE: where the payload of its first section of that type begins
	python3 -c '
import struct, sys
d = open(sys.argv[1], "rb").read()
for i in range(struct.unpack_from("<I", d, 66)[0]):
    kind, at = d[74 + 32 * i], struct.unpack_from("<Q", d, 82 + 32 * i)[0]
    if kind == int(sys.argv[2]):
        print(at + 10)
        break' "$1" "$2"
}
try() { # NAME: what can be had of it
	rm -f out.metadata.json out_*
	sherd convert "$1" out --to checkpoint --salvage
	echo "exit $?"
	sherd verify -q out && sherd info out | sed -n '/^tensor/,$p' | cut -d' ' -f1 | tr '\n' ' '
	echo
}
cp sample.sdc whole.sdc && try whole.sdc
cp sample.sdc pairs.sdc && flip pairs.sdc $(section pairs.sdc 1) && try pairs.sdc
cp sample.sdc graph.sdc && flip graph.sdc $(section graph.sdc 2) && try graph.sdc
sherd convert graph.sdc x.safetensors
cp sample.sdc header.sdc && flip header.sdc 60 && try header.sdc
cp sample.sdc chunk.sdc && flip chunk.sdc 1090 && try chunk.sdc
cp sample.sdc record.sdc && flip record.sdc -20 && try record.sdc
mkdir first && mv set.shard0-of-2.sdc first/ && try set
mv first/* . && rm set.shard1-of-2.sdc && try set
try set.shard0-of-2.sdc
sherd convert nothing y.safetensors --salvage
echo "exit $?"
head -c 1500 sample.sdc >cut.sdc && try cut.sdc
