# Several sources as one; tensors chosen, renamed and cast; files that keep layers together.
python3 - <<'END'
import json, struct
def write(name, tensors, metadata):
    head, data = {"__metadata__": metadata}, b""
    for n, (dtype, shape, raw) in tensors.items():
        head[n] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(head).encode()
    open(name, "wb").write(struct.pack("<Q", len(text)) + text + data)
f32 = lambda *v: ("F32", [len(v)], struct.pack(f"<{len(v)}f", *v))
write("a.safetensors", {f"model.layers.{i}.{p}": f32(i, i + 0.5) for i in (10, 2, 0) for p in ("w", "b")}
      | {"model.embed.w": f32(1, 2, 3, 4), "ids": ("I64", [1], bytes(8))}, {"format": "pt", "who": "a"})
write("b.safetensors", {"lora.w": f32(70000, -1e38, float("inf"), 1), "ids": ("I64", [1], b"\1" + bytes(7))}, {"format": "pt"})
write("c.safetensors", {"x": f32(1)}, {"who": "c"})
END
sherd convert a.safetensors b.safetensors all.safetensors
echo $?
sherd convert a.safetensors b.safetensors all.safetensors --prefer last
sherd cat all.safetensors ids
sherd convert a.safetensors b.safetensors all.safetensors --prefer first --replace -q
sherd cat all.safetensors ids
sherd convert a.safetensors c.safetensors clash.safetensors
echo $?
sherd convert a.safetensors part.safetensors --match 'model.layers.*' --exclude '*.b' --rename 's/^model\.layers\.([0-9]+)/h.\1/' --rename 's/w$/weight/'
sherd info part.safetensors
sherd convert a.safetensors none.safetensors --match 'nothing*'
echo $?
sherd convert a.safetensors same.safetensors --rename 's/[0-9]+/N/'
echo $?
for wrong in x 's/a' 's/(/b/' 's/a/b/c' ''; do
	sherd convert a.safetensors same.safetensors --rename "$wrong"
	echo $?
done
sherd convert b.safetensors half.safetensors --dtype F16
sherd cat half.safetensors lora.w
sherd convert b.safetensors half.safetensors --dtype F16 --replace --json
sherd convert b.safetensors brain.safetensors --dtype BF16
sherd cat brain.safetensors lora.w
sherd convert half.safetensors wide.safetensors --dtype F32
sherd convert a.safetensors x.safetensors --dtype F64
echo $?
# Layers stay whole, in natural order: 16 bytes of layers in each file, embed by itself.
sherd convert a.safetensors m.safetensors.index.json --max-shard-size 32
for f in m-*.safetensors; do
	echo $f $(sherd info --json $f | python3 -c 'import json, sys; print(*sorted(t["name"] for t in json.load(sys.stdin)["tensors"]))')
done
sherd convert a.safetensors m.npz --max-shard-size 32
echo $?
sherd convert a.safetensors m --to index --max-shard-size 32 --shards 2
echo $?
sherd convert a.safetensors c --to checkpoint --max-shard-size 40 -q
ls c*
sherd convert a.safetensors b.safetensors g.jsonl
echo $?
sherd convert a.safetensors a.safetensors --salvage --match x
echo $?
