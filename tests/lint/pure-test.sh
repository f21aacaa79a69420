#!/bin/sh
# tools/check-pure sees whom an object of a pure layer calls, and leaves the other layers alone.
set -eu
check=${SHERD_SOURCE:?}/tools/check-pure
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
objects=$scratch/CMakeFiles/sherd_objects.dir/src

# expect VERDICT LAYER BODY compiles one function into a layer and checks.
expect() {
	rm -rf "$objects"
	mkdir -p "$objects/$2"
	printf '%s\n' '#include <stdio.h>' '#include <string.h>' '#include <unistd.h>' \
		'int sherd_store_get(void); int sherd_storey(void);' "int probe(char *p) { $3 }" |
		${CC:-cc} -w -x c -c - -o "$objects/$2/probe.c.o"
	verdict=passes
	"$check" "$scratch" >"$scratch/output" 2>&1 || verdict=fails
	if [ "$verdict" != "$1" ]; then
		echo "$2: '$3' $verdict"
		cat "$scratch/output"
		exit 1
	fi
}

expect passes format 'return (int)strlen(p) + snprintf(p, 9, "%d", sherd_storey());'
expect fails format 'return sherd_store_get();'
grep -qx 'src/format/probe.c calls sherd_store_get' "$scratch/output"
expect fails codec 'return (int)read(0, p, 1);'
expect fails format 'return printf("%d", (int)strlen(p));'
expect passes store 'return (int)read(0, p, 1);'
echo "calls are seen"
