#!/bin/sh
# A command that was added by a file and a line is there like all others: tests/component/count/count.c.
set -eu
sherd=${SHERD_BUILD:?}/sherd_with_count
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
python3 - <<'PYTHON'
import json, struct
head = json.dumps({name: {"dtype": "U8", "shape": [1], "data_offsets": [i, i + 1]} for i, name in enumerate("abc")}).encode()
open("m.safetensors", "wb").write(struct.pack("<Q", len(head)) + head + b"123")
PYTHON
[ "$("$sherd" count m.safetensors)" = 3 ]
[ "$("$sherd" count --json m.safetensors)" = '{"tensors":3}' ]
"$sherd" help | grep -q '^  count PATH  *Tells how many tensors'
"$sherd" help --list | grep -q '^count	--json'
"$sherd" info m.safetensors | grep -q '3 tensors'
status=0
"$sherd" count gone 2>said || status=$?
[ "$status" = 3 ] && grep -q '^sherd: gone: ' said
echo "the command is there"
