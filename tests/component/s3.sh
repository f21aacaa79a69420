#!/bin/sh
# The commands on a bucket, beside the same on a local folder: tests/component/s3.sh s3://BUCKET/PREFIX
set -eu
sherd=${SHERD_COMMAND:?}
at=${1:?a folder in a bucket}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
lib=${SHERD_SOURCE:?}/tests/cli/lib

# says WORDS STATUS COMMAND...: fails with the status, and one line that has the words.
says() {
	words=$1 want=$2 status=0
	shift 2
	"$sherd" "$@" >out 2>said || status=$?
	if [ "$status" != "$want" ] || ! grep -qF -e "$words" said || [ "$(wc -l <said)" != 1 ]; then
		echo "sherd $*: status $status, and not $want with \"$words\":" >&2
		cat said >&2
		exit 1
	fi
}

python3 - <<'PYTHON'
import json, random, struct
random.seed(7)
w, b = random.randbytes(4 * 3000 * 100), b"123"
head = json.dumps({"w": {"dtype": "U8", "shape": [3000, 400], "data_offsets": [0, len(w)]},
                   "b": {"dtype": "U8", "shape": [3], "data_offsets": [len(w), len(w) + 3]}}).encode()
open("m.safetensors", "wb").write(struct.pack("<Q", len(head)) + head + w + b)
head = json.dumps({"r": {"dtype": "F32", "shape": [250, 400], "data_offsets": [0, 400000]}}).encode()
open("r.safetensors", "wb").write(struct.pack("<Q", len(head)) + head + struct.pack("<100000f", *range(100000)))
PYTHON

# One object.
"$sherd" convert -q m.safetensors "$at/m.safetensors"
"$sherd" info "$at/m.safetensors" | grep -q '2 tensors'
[ "$("$sherd" cat "$at/m.safetensors" b)" = '49 50 51' ]
"$sherd" verify -q "$at/m.safetensors" 2>/dev/null
says "$at/m.safetensors: it exists" 3 convert m.safetensors "$at/m.safetensors"
"$sherd" convert -q --replace m.safetensors "$at/m.safetensors"
says "$at/none: nothing is there" 3 info "$at/none"
for kind in npz sdc; do
	"$sherd" convert -q "$at/m.safetensors" "$at/m.$kind" 2>/dev/null
	"$sherd" verify -q "$at/m.$kind"
	"$sherd" convert -q "$at/m.$kind" "back-$kind.safetensors"
	[ "$("$sherd" cat "back-$kind.safetensors" b)" = '49 50 51' ]
done

# Checkpoints: by one process, by two ranks, replaced, pruned.
"$sherd" checkpoint save -q --shards 3 m.safetensors "$at/ck/one"
"$sherd" checkpoint save -q --shards 3 m.safetensors one
says "--replace" 3 checkpoint save m.safetensors "$at/ck/one"
"$sherd" checkpoint save -q --replace --shards 2 m.safetensors "$at/ck/one"
"$sherd" checkpoint verify -q "$at/ck/one"
"$sherd" checkpoint load -q "$at/ck/one" -o one.safetensors
"$sherd" checkpoint load -q one -o local.safetensors
cmp one.safetensors local.safetensors
id=0123456789abcdef0123456789abcdef
"$sherd" checkpoint save -q --rank 0 --world 2 --split --set-id $id m.safetensors "$at/ck/two" &
"$sherd" checkpoint save -q --rank 1 --world 2 --split --set-id $id m.safetensors "$at/ck/two"
wait $!
"$sherd" checkpoint load -q "$at/ck/two" -o two.safetensors
cmp two.safetensors local.safetensors
"$sherd" checkpoint reshard -q --shards 4 "$at/ck/two" "$at/ck/four"
[ "$("$sherd" checkpoint list -q "$at/ck" | grep -c committed)" = 3 ]
"$sherd" checkpoint prune -q --keep 1 "$at/ck"
"$sherd" checkpoint list "$at/ck" | grep -q '^four '
"$sherd" checkpoint remove -q "$at/ck/four"

# Two savers of one prefix at once: one wins.
"$sherd" checkpoint save -q m.safetensors "$at/race" 2>first &
first=0 second=0
"$sherd" checkpoint save -q m.safetensors "$at/race" 2>second || second=$?
wait $! || first=$?
[ "$first$second" = 03 ] || [ "$first$second" = 30 ] || { cat first second >&2; exit 1; }
"$sherd" checkpoint verify -q "$at/race"

# Rows come in the same order, bit for bit.
"$sherd" rows pack -q --rows-per-shard 60 r.safetensors "$at/rows"
"$sherd" rows pack -q --rows-per-shard 60 r.safetensors rows
[ "$("$sherd" rows stream --digest "$at/rows")" = "$("$sherd" rows stream --digest rows)" ]
"$sherd" rows verify -q "$at/rows"
list=$("$sherd" rows info --json rows | "$lib/field" '" ".join(s["file"] for s in d["shards"])')
[ "$(cd rows && "$sherd" rows stream --digest $list)" = "$("$sherd" rows stream --digest $(printf "$at/rows/%s " $list))" ]

# Graphs are read.
"$lib/graph-lines" nodes edges
"$sherd" graph create -q "$at/graph"
"$sherd" graph import -q "$at/graph" --nodes nodes --edges edges
"$sherd" graph create -q graph
"$sherd" graph import -q graph --nodes nodes --edges edges
"$sherd" graph export -q "$at/graph" --nodes far.nodes --edges far.edges
"$sherd" graph export -q graph --nodes near.nodes --edges near.edges
cmp far.nodes near.nodes
cmp far.edges near.edges
"$sherd" graph verify -q "$at/graph"

# Graphs are published, by one of two who push at once, and brought up to date.
"$sherd" graph push -q graph "$at/pub"
"$sherd" graph pull -q "$at/pub" copy
echo '{"id":"mine","file":"src/x.js"}' | "$sherd" graph update -q graph --file src/x.js --nodes -
echo '{"id":"yours","file":"src/x.js"}' | "$sherd" graph update -q copy --file src/x.js --nodes -
first=0 second=0
"$sherd" graph push -q graph "$at/pub" 2>first &
"$sherd" graph push -q copy "$at/pub" 2>second || second=$?
wait $! || first=$?
[ "$first$second" = 03 ] || [ "$first$second" = 30 ] || { cat first second >&2; exit 1; }
[ "$first" = 0 ] || { mv graph lost; mv copy graph; }
"$sherd" graph verify -q "$at/pub"
"$sherd" graph pull -q "$at/pub" again
"$sherd" graph export -q graph --nodes pub.near.nodes --edges pub.near.edges
"$sherd" graph export -q again --nodes pub.far.nodes --edges pub.far.edges
cmp pub.far.nodes pub.near.nodes
cmp pub.far.edges pub.near.edges
"$sherd" graph gc -q "$at/pub"
"$sherd" graph verify -q "$at/pub"

# Through a cache, and out of it: nothing is fetched twice, and what is damaged there is.
for round in 1 2 3; do
	"$sherd" --cache cache graph export -q "$at/pub" --nodes "cached.$round.nodes" --edges "cached.$round.edges"
	cmp "cached.$round.nodes" pub.near.nodes
	cmp "cached.$round.edges" pub.near.edges
	SHERD_CACHE=cache SHERD_CACHE_SIZE=64M "$sherd" checkpoint load -q "$at/race" -o "cached.$round.safetensors"
	cmp "cached.$round.safetensors" local.safetensors
	[ "$(SHERD_CACHE=cache "$sherd" rows stream --digest "$at/rows")" = "$("$sherd" rows stream --digest rows)" ]
	[ $round != 2 ] || find cache -type f -exec sh -c 'printf x | dd of="$1" bs=1 seek=40 conv=notrunc 2>/dev/null' _ {} \;
done
[ -n "$(find cache -type f)" ]
SHERD_CACHE_SIZE=lots says 'SHERD_CACHE_SIZE takes' 2 --cache cache info "$at/m.safetensors"

# What goes wrong is told in one line, without a secret.
status=0
AWS_SECRET_ACCESS_KEY=hushhush "$sherd" info "$at/m.safetensors" 2>said || status=$?
[ "$status" = 4 ] && [ "$(wc -l <said)" = 1 ] && ! grep -q hushhush said
AWS_ENDPOINT_URL=http://127.0.0.1:1 says 'no answer from http://127.0.0.1:1' 4 info "$at/m.safetensors"
says 'there is no bucket' 3 info s3://no-such-bucket-of-ours/x
says 'a bucket has' 2 info s3://x/y
echo "the commands work on $at"
