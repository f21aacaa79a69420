# Every rank holds rows of w, and a copy of b.
id=00112233445566778899aabbccddeeff
python3 - <<'P'
import json, struct
def write(name, tensors):
    head, data = {}, b""
    for key, (shape, values) in tensors.items():
        raw = struct.pack("<%df" % len(values), *values)
        head[key] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(head).encode()
    open(name, "wb").write(struct.pack("<Q", len(text)) + text + data)
write("r0.safetensors", {"w=x": ([1, 2], [0, 1]), "b": ([2], [7, 8])})
write("r1.safetensors", {"w=x": ([2, 2], [2, 3, 4, 5]), "b": ([2], [7, 8])})
write("r2.safetensors", {"w=x": ([2, 2], [2, 3, 4, 5]), "b": ([2], [7, 9])})
P
save() { sherd checkpoint save "$@" --world 2 --set-id $id; }
save r0.safetensors p --rank 0 --piece 'w=x=0,0/3,2'
save r1.safetensors p --rank 1 --piece 'w=x=1,0/3,2'
sherd verify p
sherd cat p w=x
sherd cat p b
echo "-- other bytes in a replica"
save -q r0.safetensors q --rank 0 --piece 'w=x=0,0/3,2'
save r2.safetensors q --rank 1 --piece 'w=x=1,0/3,2'
echo $?
ls | grep '^q'
sherd checkpoint commit q
echo $?
sherd checkpoint list . | tr -s ' ' | cut -d' ' -f1,2 | grep q
echo "-- pieces that leave a gap, or overlap"
save -q r0.safetensors g --rank 0 --piece 'w=x=0,0/4,2'
save -q r1.safetensors g --rank 1 --piece 'w=x=1,0/4,2'
echo $?
save -q r0.safetensors o --rank 0
save -q r1.safetensors o --rank 1
echo $?
echo "-- mistakes"
for piece in w w=x w=1 w=1,2/3 w=/ w=1/ w=a/2 'w=1/2/3' 'w=99999999999999999999/1'; do
	save -q r0.safetensors m --rank 0 --piece "$piece"
	echo $?
done
save -q r0.safetensors m --rank 0 --piece none=0/1
echo $?
save -q r0.safetensors m --rank 0 --piece w=x=0/1
echo $?
save -q r0.safetensors m --rank 0 --piece w=x=3,0/3,2
echo $?
sherd checkpoint save r0.safetensors m --piece w=x=0,0/3,2
echo $?
sherd checkpoint save r0.safetensors m --rank 0 --world 2 --set-id $id --cut
echo $?
ls | grep '^m'
