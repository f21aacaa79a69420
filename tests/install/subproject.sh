#!/bin/sh
# Builds programs in a project that takes Sherd in by add_subdirectory. Compiling the library once more would take
# long: that every step is known is shown by going through them without taking them, and that headers are found by
# compiling the programs' objects.
set -eu
scratch=$(mktemp -d "${SHERD_BUILD:?}/subproject-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
log=$scratch/log

step() {
	what=$1
	shift
	if ! "$@" >"$log" 2>&1; then
		echo "install/subproject: $what failed:"
		cat "$log"
		exit 1
	fi
	echo "$what: fine"
}

step "configure" cmake -S "${SHERD_SOURCE:?}/tests/install/subproject" -B "$scratch/build" -G Ninja \
	"-DSHERD_SOURCE=$SHERD_SOURCE" "-DCMAKE_C_COMPILER=${CC:-cc}"
step "all steps" ninja -C "$scratch/build" -n c_sherd c_sherd_static
ninja -C "$scratch/build" -t targets all >"$scratch/targets"
object=$(sed -n 's/^\(.*c_sherd\.dir.*consumer\.c\.o\):.*/\1/p' "$scratch/targets")
step "compile" ninja -C "$scratch/build" "$object"
if grep -E '(^|/)(test_|bench_|fuzz_|replay_|example)' "$scratch/targets"; then
	echo "a project that only wants the library would build these"
	exit 1
fi
cmake --install "$scratch/build" --prefix "$scratch/prefix" >"$log" 2>&1 || true
if [ -e "$scratch/prefix/include" ]; then
	echo "a project that only wants the library would install it"
	exit 1
fi
echo "add_subdirectory works"
