# Blocks of 18 bytes lie across the ends of a container's chunks; every chunk is held against its checksum all the same.
python3 - <<'P'
import json, struct
data = bytes(i * 7 % 251 for i in range(150000 * 18))
shard = struct.pack("<IIIII", 0x53484152, 0, 0, 1, len(data)) + data
tensor = {"name": "q", "shape": [150000, 32], "dataType": "Q4_0", "offset": 0, "size": len(data)}
open("c_shard_0.shard", "wb").write(shard)
open("c.metadata.json", "w").write(json.dumps({"version": "1.0.0", "worldSize": 1, "shards": [
    {"rank": 0, "filePath": "c_shard_0.shard", "fileSize": len(shard), "checksum": "", "tensors": [tensor]}]}))
P
sherd convert -q c e.sdc
cmp <(sherd cat c q --format raw) <(sherd cat e.sdc q --format raw)
cmp <(sherd cat c q --format raw --range 58254:58256) <(sherd cat e.sdc q --format raw --range 58254:58256)
flip e.sdc 1500000
sherd cat e.sdc q --format raw >raw
echo $?
