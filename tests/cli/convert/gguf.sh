# GGUF: written from tensors of others, read by every command, kept bit for bit; what it cannot hold is named.
python3 - <<'END'
import json, struct
def write(name, tensors, metadata):
    head, data = {"__metadata__": metadata}, b""
    for n, (dtype, shape, raw) in tensors.items():
        head[n] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(head).encode()
    open(name, "wb").write(struct.pack("<Q", len(text)) + text + data)
write("m.safetensors", {"w": ("F32", [2, 3], struct.pack("<6f", *range(6))), "b": ("F16", [3], bytes(6))},
      {"general.architecture": "llama"})
write("u.safetensors", {"mask": ("BOOL", [2], bytes(2))}, {})
write("n.safetensors", {"n" * 65: ("F32", [1], bytes(4))}, {})
write("d.safetensors", {"deep": ("F32", [1, 1, 1, 1, 1], bytes(4))}, {})
END
sherd convert m.safetensors m.gguf
sherd info m.gguf
sherd cat m.gguf w
sherd verify m.gguf
sherd convert m.gguf c --to checkpoint -q
sherd convert c again.gguf -q
cmp m.gguf again.gguf && echo same
sherd convert m.gguf back.safetensors -q
sherd cat back.safetensors w --format raw | cmp - <(sherd cat m.safetensors w --format raw) && echo same
for f in u n d; do
	sherd convert $f.safetensors $f.gguf
	echo $?
	test ! -e $f.gguf || echo "$f.gguf is there"
done
sherd convert m.safetensors m.gguf
echo $?
sherd convert m.safetensors m.gguf --replace -q && echo replaced
sherd convert m.safetensors m.gguf --shards 2
echo $?
head -c 100 m.gguf > cut.gguf
sherd info cut.gguf
echo $?
sherd verify cut.gguf
echo $?
printf 'GGUF\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' > big.gguf
sherd info big.gguf
echo $?
