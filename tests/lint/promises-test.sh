#!/bin/sh
# Every test that docs/testing.md names beside a promise is there.
set -eu
cd "${SHERD_SOURCE:?}"

source_of() {
	case $1 in
	cli/demo) echo tools/demo ;;
	cli/*) echo "tests/$1" ;;
	examples/*) echo "$1.c" ;;
	fuzz/*) echo "fuzz/fuzz_${1#fuzz/}.c" ;;
	install/* | mpi/*) echo "tests/$1.sh" ;;
	crash/storm) echo tests/crash/storm.py ;;
	interop/*) if [ -e "tests/$1.py" ]; then echo "tests/$1.py"; else echo "tests/interop/test_${1#*/}.c"; fi ;;
	lint/man) echo man ;;
	lint/symbols) echo tools/symbols ;;
	lint/*-test) echo "tests/$1.sh" ;;
	lint/*) echo "tools/check-${1#lint/}" ;;
	*) echo "tests/${1%/*}/test_${1##*/}.c" ;;
	esac
}

table=$(sed -n '/^## Where each promise is shown/,$p' docs/testing.md | grep '^|')
tests=$(echo "$table" | grep -o '`[a-z]*/[a-z0-9_/-]*`' | tr -d '`' | sort -u)
missing=0
for test in $tests; do
	if [ ! -e "$(source_of "$test")" ]; then
		echo "docs/testing.md: there is no test $test"
		missing=1
	fi
done
unshown=$(echo "$table" | grep -v '^|---\|^| promise\|^| \*\*' | grep -v '|[^|]*`[a-z]*/' || true)
if [ -n "$unshown" ]; then
	echo "docs/testing.md: no test is named for:"
	echo "$unshown"
	missing=1
fi
[ "$(echo "$tests" | wc -l)" -gt 50 ]
exit $missing
