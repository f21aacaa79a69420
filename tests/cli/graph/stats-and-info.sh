graph-lines n.jsonl e.jsonl 4 3
sherd graph create -q db --planner directory --min-files 1
sherd graph import -q db --nodes n.jsonl --edges e.jsonl
sherd info db
sherd info db --json
sherd graph stats db
sherd graph stats db --json
echo "one shard holds nearly everything"
python3 -c '
for i in range(200): print("{\"id\":\"m%d\",\"nodeType\":\"T\",\"file\":\"lib/f2.js\"}" % i)' | sherd graph import -q db --nodes -
sherd graph stats db | head -1
sherd graph stats db -q | tail -1
sherd graph stats db --json | grep -o '"warnings".*'
echo "on a terminal"
python3 - <<'P'
import os, pty, subprocess
ours, theirs = pty.openpty()
subprocess.run(["sherd", "graph", "stats", "db", "-q"], stdout=theirs, check=True)
seen = os.read(ours, 1 << 16).decode().replace("\r", "")
print(*[line for line in seen.split("\n") if "#" in line], sep="\n")
P
echo "empty"
sherd graph create -q none --shards 2
sherd graph stats none
sherd verify none
echo "types that begin alike"
printf '{"id":"%s","nodeType":"T%s"}\n' a '' b '\u0000' c '\u0000U' | sherd graph import -q none --nodes -
sherd graph stats none --json | grep -o '"node_types":{[^}]*}'
echo "on disk"
mkdir db/derive_pins
head -c 4096 /dev/zero >db/derive_pins/00.pin
sherd info db | grep 'on disk'
sherd graph gc db --dry-run
sherd graph gc db --dry-run --json
sherd graph versions db | wc -l
sherd graph reshard db copy --shards 1
sherd graph gc db
sherd info db | grep 'on disk'
