try() { sherd info "$1"; echo $?; }
model m.safetensors
head -c 5 m.safetensors > a; try a
cp m.safetensors a; truncate -s +1 a; try a
python3 - <<'P'
import json, struct
def put(name, header, data, pad=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    open(name, "wb").write(struct.pack("<Q", len(text)) + text + data)
t = lambda a, b, shape, dtype="U8": {"dtype": dtype, "shape": shape, "data_offsets": [a, b]}
put("hole.safetensors", {"a": t(0, 2, [2]), "b": t(3, 4, [1])}, b"1234")
put("overlap.safetensors", {"a": t(0, 2, [2]), "b": t(1, 4, [3])}, b"1234")
put("shape.safetensors", {"a": t(0, 4, [2])}, b"1234")
put("overflow.safetensors", {"a": t(0, 4, [2**40, 2**40])}, b"1234")
put("dtype.safetensors", {"a": t(0, 4, [4], "")}, b"1234")
put("twice.safetensors", b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}', b"12")
open("long.safetensors", "wb").write(struct.pack("<Q", 99_000_000) + b"{}" + b" " * 64)
P
for f in hole overlap shape overflow dtype twice long; do try $f.safetensors; done
