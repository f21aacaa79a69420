# Whatever the workers: the same database, the same lines out of it, the same error; also while a pipe brings the lines.
export SOURCE_DATE_EPOCH=1700000000
python3 - <<'P'
with open("g.jsonl", "w") as f:
    for i in range(6000):
        f.write('{"id":"n%d","nodeType":"T%d","name":"name %d","file":"src/%d/f.js","metadata":{"b":%d,"a":[1,2]}}\n'
                % (i, i % 7, i, i % 40, i))
    for i in range(18000):
        f.write('{"src":"n%d","dst":"n%d","edgeType":"E%d"}\n' % (i % 6000, (i * 31 + i // 6000) % 6000, i % 5))
P
load() {
	sherd graph create -q "$1"
	sherd graph import "$1" --nodes "$2" --edges "$2" --workers "$3" --json | tr -d ' \n' | sed "s/$1/DB/"
	sherd graph export -q "$1" --nodes "$1.jsonl" --edges "$1.jsonl" --workers "$3"
}
sum() { (cd "$1" && find . -type f ! -name LOCK | sort | xargs cat | sha256sum); }
load one g.jsonl 1
echo
for workers in 2 3 16; do
	load "by$workers" - "$workers" <g.jsonl >/dev/null
	[ "$(sum one)" = "$(sum "by$workers")" ] && cmp one.jsonl "by$workers.jsonl" && echo "$workers: the same"
done
sed -i '15000s/.*/{"src":"n1","dst":[]}/; 9000s/.*/{"src":"nobody","dst":"n1"}/' g.jsonl
for workers in 1 2 16; do
	sherd graph import one --nodes g.jsonl --edges g.jsonl --workers "$workers"
	echo "exit $?"
done
sherd graph import one --nodes g.jsonl --edges g.jsonl --skip-unknown
sed -i '15000d' g.jsonl
sherd graph import one --nodes g.jsonl --edges g.jsonl --skip-unknown
