# Indexed anew, a set keeps its ids; what a dead append left under a damaged manifest is told, and there is a way out.
mkdir set && shard set/b.shard 2x2 0 && shard set/a.shard 1x2 10
sherd rows index -q set b.shard a.shard
shard set/c.shard 1x2 20
sherd rows index set --replace
echo $?
sherd rows index set --replace --json | field '[d["rows"], d["left_out"]]'
sherd rows cat set
sherd rows index set --replace b.shard a.shard c.shard
rm set/b.shard set/c.shard
sherd rows index set --replace
echo $?
echo "after a dead append"
tensors a.npy x:F32:4x2
sherd rows pack -q a.npy grown --rows-per-shard 2
sherd rows append -q a.npy grown
python3 - <<'P'
import hashlib
text = '{\n  "format": "sherd-rows-packing",\n  "version": 1,\n  "timestamp": "2026-01-01T00:00:00Z",\n  "host": "h",\n  "process": 1,\n  "first": 2,\n  '
open("grown/rows.packing", "w").write(text + '"sha256": "' + hashlib.sha256(text.encode()).hexdigest() + '"\n}')
P
flip grown/rows.manifest.json 30
sherd rows append a.npy grown
echo $?
sherd rows index grown
echo $?
sherd rows index grown --replace
echo $?
sherd rows index grown --replace part-00000.shard part-00001.shard part-00002.shard
sherd rows append a.npy grown
ls grown
