#!/bin/sh
# tools/check-text finds what it is there for, and nothing in what merely looks alike.
set -eu
check=${SHERD_SOURCE:?}/tools/check-text
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
git -C "$scratch" init -q 2>/dev/null || true

# Written in two halves, so that this file is not found itself.
refused() {
	printf 'first line\n%s%s\n' "$1" "$2" >"$scratch/file.txt"
	if "$check" "$scratch" >"$scratch.out"; then
		echo "should be refused: $1$2"
		exit 1
	fi
	grep -q '^file.txt:2: ' "$scratch.out"
	rm "$scratch.out"
}
allowed() {
	printf '%s\n' "$1" >"$scratch/file.txt"
	"$check" "$scratch" || {
		echo "should be allowed: $1"
		exit 1
	}
}

refused 'see /wo' 'rk/main/README.md'
refused '"/ro' 'ot/.cache"'
refused '/ho' 'me/ann/sherd'
refused 'https://packages.in' 'side.internal/simple'
refused '/* TO' 'DO: later */'
refused '// FIX' 'ME'
refused 'XX' 'X'
allowed "framework/wo""rk/plan and }/wo""rk/y"
allowed 'mkdtemp("scratch-XXXXXX")'
allowed '/usr/share/doc, /tmp/x, http://localhost:9000/bucket'
echo "rules hold"
