#!/bin/sh
# tools/check-reasons sees a word that docs/errors.md does not list, however the call is broken over lines.
set -eu
check=${SHERD_SOURCE:?}/tools/check-reasons
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/src" "$scratch/docs"
# shellcheck disable=SC2016
echo 'Words: `bad-magic` `truncated`' >"$scratch/docs/errors.md"

refused() {
	printf '%s\n' 'int x;' "$1" >"$scratch/src/a.c"
	if "$check" "$scratch" >"$scratch/output"; then
		echo "should be refused: $1"
		exit 1
	fi
	grep -q "^src/a.c:[23]: the reason $2 " "$scratch/output"
}
allowed() {
	printf '%s\n' "$1" >"$scratch/src/a.c"
	"$check" "$scratch" || {
		echo "should be allowed: $1"
		exit 1
	}
}

refused 'return sherd_fail(err, SHERD_ECORRUPT, "odd", "text");' odd
refused 'return sherd_fail_at(err, SHERD_ECORRUPT,
	"bad-width", 7, "text");' bad-width
refused 'return json_fail(j, p, "bad-comma", err);' bad-comma
allowed 'return sherd_fail(err, SHERD_ECORRUPT, "truncated", "no-such-word but text");'
allowed 'return json_fail(j, p, "bad-magic", err);'
allowed 'puts("well-known");'
echo "words are seen"
