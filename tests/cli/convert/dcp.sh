# Folders of torch.distributed.checkpoint: chunks in rows and columns, read whole and in part; written, replaced; damage.
dcp-folder d 6 8 2 2
sherd info --json d
sherd cat d w
sherd cat d/.metadata w
sherd verify d
sherd convert d d.safetensors
dcp-folder rows 4096 3 4096 1
dcp-folder columns 3 4096 1 4096
for f in rows columns; do
	sherd convert -q $f $f.safetensors
	python3 - $f.safetensors <<'END'
import struct, sys
raw = open(sys.argv[1], "rb").read()
print(struct.unpack("<12288f", raw[-49152:]) == tuple(map(float, range(12288))))
END
done
for fault in hole overlap outside climb zstd shape shared; do
	dcp-folder bad.$fault 6 8 2 2 $fault
	sherd verify bad.$fault
	echo $?
done
for fault in damaged plain again; do
	dcp-folder item.$fault 6 8 2 2 $fault
	sherd info item.$fault
	sherd convert item.$fault item.$fault.safetensors
	echo $?
done
model m.safetensors
sherd convert m.safetensors out --to dcp
ls -A out
sherd info --json out
sherd convert -q out back.safetensors
sherd convert -q m.safetensors n.safetensors
cmp n.safetensors back.safetensors && echo back
sherd convert m.safetensors out --to dcp
echo $?
sherd convert d out --to dcp --shards 2 --replace
ls -A out | sed 's/~[0-9a-f]*/~ATTEMPT/'
sherd verify out
touch out/__9_0.distcp
sherd verify out
dcp-folder flip 6 8 1 1
flip flip/__0_0.distcp 200
sherd verify flip
echo $?
rm flip/__0_0.distcp
sherd info flip
echo $?
mkdir npy && sherd convert -q m.safetensors npy/
sherd convert m.safetensors npy --to dcp --replace
echo $?
