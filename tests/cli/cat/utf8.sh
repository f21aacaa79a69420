# The only format that holds strings is the checkpoint: one is put together here, as another program would write it.
python3 - <<'P'
import json, struct
strings = ["plain", "", "zeile\n\u00fc", "\x1b[31m"]
text = [s.encode() for s in strings]
def data(offsets, blob):
    return struct.pack(f"<{len(offsets)}Q", *offsets) + blob
ends = [sum(map(len, text[:i])) for i in range(len(text) + 1)]
cases = {"good": data(ends, b"".join(text)), "back": data([0, 9, 3, 13, 18], b"x" * 18), "far": data([0, 5, 5, 12, 99], b"x" * 18)}
for name, raw in cases.items():
    head = b"RAHS" + struct.pack("<iiiq", 0, 0, 1, len(raw))
    open(f"{name}_shard_0.shard", "wb").write(head + raw)
    json.dump({"version": "1.0.0", "timestamp": "2026-01-09T12:00:00Z", "worldSize": 1, "ddpRank": 0,
        "sharding": {"strategy": "ddp", "shardCount": 1, "precision": "fp32", "strategySpecificInfo": {}},
        "shards": [{"rank": 0, "filePath": f"{name}_shard_0.shard", "fileSize": len(head + raw), "checksum": "", "tensors": [
            {"name": "s", "shape": [4], "dataType": "Utf8", "offset": 0, "size": len(raw)}]}],
        "training": {"epoch": 0, "step": 0, "learningRate": 0, "optimizerType": "", "optimizerState": {}},
        "customFields": {}}, open(f"{name}.metadata.json", "w"))
P
sherd cat good
sherd cat good --range 1:3
sherd cat --json good
sherd cat good --format raw | wc -c
sherd cat good --format raw --range 0:1
echo $?
sherd cat good --format npy
echo $?
for name in back far; do
	sherd cat $name
	echo $?
done
sherd convert good out.safetensors
echo $?
