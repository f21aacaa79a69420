model m.safetensors
npy() {
	python3 -c 'import struct, sys
head = "{'"'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"'"
head += " " * (117 - len(head)) + "\n"
sys.stdout.buffer.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<3f", *map(float, sys.argv[1:])))' "$@"
}
npy 1 2 3 > w.npy
sherd checkpoint save -q w.npy a --shards 2
for i in 4 5 6; do
	npy $i $i $i > w.npy
	sherd checkpoint save -q w.npy a --shards 2 --replace --step $i
	sherd cat a w
	sherd info a | grep training
	sherd verify -q a
done
sherd checkpoint save -q m.safetensors a --replace
sherd checkpoint save -q m.safetensors b
sherd checkpoint reshard -q a b --shards 1 --replace
sherd convert -q m.safetensors b --to checkpoint --replace
id=00112233445566778899aabbccddeeff
sherd checkpoint save -q m.safetensors c --set-id $id
sherd checkpoint save w.npy c --replace --set-id $id
ls | grep -c .
