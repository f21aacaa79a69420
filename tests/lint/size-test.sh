#!/bin/sh
# tools/check-size fails above its limits, and only there.
set -eu
check=${SHERD_SOURCE:?}/tools/check-size
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/src"

# function LINES prints a function of so many lines, head and braces included.
function_of() {
	printf 'static int long_one(int a,\n                    int b)\n{\n'
	seq "$(($1 - 4))" | sed 's/.*/\ta += b;/'
	printf '}\n'
}

expect() {
	verdict=passes
	"$check" "$scratch" >"$scratch/output" 2>&1 || verdict=fails
	if [ "$verdict" != "$1" ]; then
		echo "$2: $verdict"
		cat "$scratch/output"
		exit 1
	fi
}

function_of 80 >"$scratch/src/a.c"
expect passes "a function of 80 lines"
function_of 81 >"$scratch/src/a.c"
expect fails "a function of 81 lines"
grep -q '^src/a.c:1: function of 81 lines' "$scratch/output"
{ function_of 80 && function_of 80; } >"$scratch/src/a.c"
expect passes "two functions without a line between them"
seq 700 | sed 's/.*/int x;/' >"$scratch/src/a.c"
expect passes "a file of 700 lines"
seq 701 | sed 's/.*/int x;/' >"$scratch/src/a.c"
expect fails "a file of 701 lines"
grep -q '^src/a.c: file of 701 lines' "$scratch/output"
echo 'int x;' >"$scratch/src/a.c"
truncate -s 524288 "$scratch/left-behind"
expect passes "a file of 512 KiB"
truncate -s 524289 "$scratch/left-behind"
expect fails "a file of more than 512 KiB"
grep -q '^left-behind: 524289 bytes' "$scratch/output"
echo "limits hold"
