#!/bin/sh
# What ranks of MPI do together: the library by tests/mpi/pairs.c and killed.c, the command by itself. SHERD_MPIRUN.
set -eu
build=${SHERD_BUILD:?}
scratch=$(mktemp -d "$build/mpi-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
# Root may, there are more ranks than processors, and nothing is said of networks that are not there.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl=self,vader OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_orte_abort_on_non_zero_status=1
export SHERD_COMMAND

run() {
	n=$1
	shift
	timeout 120 "${SHERD_MPIRUN:?}" -n "$n" "$@"
}

# says WHAT EXPECTED COMMAND...: it prints that, and no rank but 0 prints anything
says() {
	what=$1 expected=$2
	shift 2
	got=$("$@" 2>&1 | grep -v '^-\|^Primary job\|^a non-zero\|^mpirun\|^the job\|^ *Process\|^ *Exit\|^$' || true)
	if [ "$expected" != "$got" ]; then
		printf 'mpi: %s: expected\n%s\nbut got\n%s\n' "$what" "$expected" "$got"
		exit 1
	fi
	echo "$what: fine"
}

python3 - <<'P'
import json, struct

def save(path, tensors):
    head, data = {}, b""
    for name, shape, values in tensors:
        raw = struct.pack("<%df" % len(values), *values)
        head[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(head).encode()
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)

save("model.safetensors", [("w%d" % i, [8, 4], [float(i * 100 + k) for k in range(32)]) for i in range(10)])
for rank in range(4):
    save("part%d.safetensors" % rank, [("own%d" % rank, [3], [rank] * 3)])
open("rows.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118)
    + b"{'descr': '<f4', 'fortran_order': False, 'shape': (40, 2), }".ljust(117) + b"\n" + bytes(320))
P
sherd=$SHERD_COMMAND
mkdir library
"$sherd" rows pack -q rows.npy library/rows --rows-per-shard 16
says "all pairs" "all pairs, one error, rows" run 8 "$build/mpi_pairs" library

# One that dies takes the others with it; there is no checkpoint, and the next save clears what is left.
status=0
run 4 "$build/mpi_killed" library >/dev/null 2>&1 || status=$?
[ "$status" != 0 ] && [ "$status" != 124 ] && [ "$status" != 3 ]
[ ! -e library/c.metadata.json ]
"$sherd" checkpoint save -q model.safetensors library/c
"$sherd" verify -q library/c
[ "$(find library -name 'c*' | wc -l)" = 2 ]
echo "a rank that is killed: fine"

# The command: ranks found by themselves, one voice.
run 4 "$sherd" checkpoint save model.safetensors all | sed 's/set .*/set ID/' >said
says "a common source" "all: 10 tensors, 1.2 KiB saved in 4 shards, set ID" cat said
run 2 "$sherd" checkpoint load all -o "half%r.safetensors" --cut >said
says "load" "half0.safetensors: safetensors, 10 tensors, 640 B written" cat said
"$sherd" checkpoint load -q all -o want.safetensors --rank 1 --world 2 --cut
cmp want.safetensors half1.safetensors
run 4 "$sherd" checkpoint save "part%r.safetensors" own -q
[ "$("$sherd" info own --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["tensors"]))')" = 4 ]
says "an error" "sherd: own: rank 0: the checkpoint exists already (--replace replaces it)" \
	run 4 "$sherd" checkpoint save "part%r.safetensors" own
rm part2.safetensors
says "an error of one" "sherd: part2.safetensors: rank 2: nothing is there" \
	run 4 "$sherd" checkpoint save "part%r.safetensors" other
[ -z "$(find . -name 'other*')" ]
# A child of a rank has its variables, and is none: it would be one of four that save the same.
cat >child.sh <<'C'
[ "$OMPI_COMM_WORLD_RANK" = 0 ] || exit 0
"$SHERD_COMMAND" checkpoint save -q model.safetensors child
C
run 4 sh child.sh
[ "$("$sherd" info child --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["shards"]))')" = 1 ]
echo "a child: fine"
