# A checkpoint of another program, with a tensor in blocks of 32 elements and 18 bytes.
python3 - <<'P'
import json, struct
data = bytes(range(4 * 18))
shard = struct.pack("<IIIII", 0x53484152, 0, 0, 1, len(data)) + data
tensor = {"name": "q", "shape": [2, 64], "dataType": "Q4_0", "offset": 0, "size": len(data)}
open("c_shard_0.shard", "wb").write(shard)
open("c.metadata.json", "w").write(json.dumps({"version": "1.0.0", "worldSize": 1, "shards": [
    {"rank": 0, "filePath": "c_shard_0.shard", "fileSize": len(shard), "checksum": "", "tensors": [tensor]}]}))
P
sherd info c
sherd cat c q
echo $?
sherd cat --json c q
echo $?
sherd cat c q --format raw | od -An -tu1 -w18
sherd cat c q --format raw --range 1: | od -An -tu1 -w18
sherd cat c q --format npy
echo $?
sherd checkpoint reshard c d --shards 2 --cut && sherd verify -q d && cmp <(sherd cat c q --format raw) <(sherd cat d q --format raw)
sherd convert -q d e.sdc && sherd verify -q e.sdc && cmp <(sherd cat c q --format raw) <(sherd cat e.sdc q --format raw)
for to in f.safetensors f.npz f.sdnb; do
	sherd convert d $to
	echo $?
done
