# What the real server gets wrong, numbered as in the study of it: each done right here.
records() { sherd graph export "$1" --nodes - --edges - | sort; }
echo "1: what was committed after a flush survives compaction"
sherd graph create -q one --shards 1
printf '{"id":"%s","file":"a/%s.js"}\n' a a b b c c | sherd graph import -q one --nodes -
printf '{"id":"%s","file":"a/d.js"}\n' d e | sherd graph update -q one --file a/d.js --nodes -
records one >before
sherd graph compact -q one
records one | cmp - before && sherd graph find one | wc -l

echo "2: of an edge that was added twice the newer metadata counts"
for weight in 1 2; do
	echo '{"src":"a","dst":"b","edgeType":"CALLS","metadata":{"weight":'$weight'}}' | sherd graph import -q one --edges -
	sherd graph out one a | grep -o 'weight.*[0-9]'
	sherd graph in one b | grep -o 'weight.*[0-9]'
done
sherd graph compact -q one && sherd graph out one a | grep -o 'weight.*[0-9]'

echo "3: more than 10,000 files in one segment"
sherd graph create -q many --shards 1
python3 -c '
for i in range(10050): print("{\"id\":\"n%d\",\"file\":\"src/f%d.js\"}" % (i, i))' | sherd graph import -q many --nodes -
sherd graph find many --file src/f77.js | wc -l
sherd graph delete-file many src/f77.js
sherd graph find many --file src/f77.js | wc -l

echo "4: a file committed again and again costs the same, on disk too"
sherd graph create -q again --shards 2
sherd graph import -q again --nodes <(python3 -c '
for i in range(300): print("{\"id\":\"o%d\",\"file\":\"lib/o%d.js\"}" % (i, i % 30))')
python3 -c '
import json
for i in range(50): print(json.dumps({"id": f"x{i}", "file": "src/x.js"}))' >n.jsonl
python3 -c '
import json
for i in range(250): print(json.dumps({"src": f"x{i % 50}", "dst": f"x{i * 7 % 50}", "edgeType": f"T{i // 50}"}))' >e.jsonl
for i in $(seq 25); do sherd graph update -q again --file src/x.js --nodes n.jsonl --edges e.jsonl; done
stat -c %s again/manifests/0000{05,27}*.json | { read early; read late; echo $((late <= early + early / 10)); }
sherd graph stats again --json | field '[d["nodes"], d["edges"], d["tombstones"] <= 250]'

echo "5: manifests are not read byte by byte"
python3 - <<'P'
import os, subprocess
child = subprocess.Popen(["sherd", "graph", "node", "again", "x1"], stdout=subprocess.DEVNULL)
os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
calls = int(dict(line.split(": ") for line in open(f"/proc/{child.pid}/io").read().splitlines())["syscr"])
print(child.wait(), calls < 500)
P

echo "6: a node that moved is not found where it was"
sherd graph create -q moved --shards 8
echo '{"id":"m","nodeType":"A","file":"old/place/m.js"}' | sherd graph import -q moved --nodes -
echo '{"id":"m","nodeType":"B","file":"new/m.js"}' | sherd graph import -q moved --nodes -
sherd graph find moved --file old/place/m.js; sherd graph find moved --type A
sherd graph find moved --file new/m.js | wc -l
sherd graph stats moved --json | field '[d["nodes"], d["node_types"]]'
sherd graph compact -q moved && sherd graph find moved | wc -l

echo "7: what is told to be removed was there"
sherd graph update again --file src/x.js --nodes n.jsonl --edges e.jsonl --json | field '[d["edges_added"], d["edges_removed"]]'
head -10 e.jsonl >fewer.jsonl
sherd graph update again --file src/x.js --nodes n.jsonl --edges fewer.jsonl --json | field '[d["edges_added"], d["edges_removed"]]'
