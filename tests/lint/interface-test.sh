#!/bin/sh
# tools/check-interface fails when it should, and says where.
set -eu
check=${SHERD_SOURCE:?}/tools/check-interface
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/include/sherd"

# expect VERDICT TEXT LINE... of a header of these lines
expect() {
	verdict=$1 text=$2
	shift 2
	printf '%s\n' "$@" >"$scratch/include/sherd/a.h"
	got=passes
	"$check" "$scratch" >"$scratch/output" 2>&1 || got=fails
	if [ "$got" != "$verdict" ] || ! grep -qF -e "$text" "$scratch/output"; then
		echo "should: $verdict, '$text'; but $got:"
		cat "$scratch/output"
		exit 1
	fi
}

expect passes 'keeps its rules' '/* Opens it. */' 'SHERD_API int sherd_a_open(sherd_a **out, const char *key,' \
	'                           sherd_error *err);' 'SHERD_API void sherd_a_close(sherd_a *a); /* NULL is fine */' \
	'/* Told of each. */' 'typedef bool sherd_a_fn(void *arg, int a);' '/* Says which. */' \
	'SHERD_API bool sherd_a_find(const char *key, const sherd_a **which);'
expect fails 'a.h:1: sherd_a_size: no comment of its own' 'SHERD_API int sherd_a_size(void);'
expect fails 'a.h:3: sherd_a_size: no comment of its own' 'typedef struct a {' '} a; /* one */' 'SHERD_API int sherd_a_size(void);'
expect fails 'sherd_a_open: an output does not come first' '/* . */' 'SHERD_API int sherd_a_open(int b, int *out, sherd_error *err);'
expect fails 'sherd_a_open: an output does not come first' '/* . */' 'SHERD_API int sherd_a_open(int b, char **text, int c);'
expect fails 'read: an output does not come first' 'struct ops {' '	int (*read)(sherd_store *, sherd_reader **out, sherd_error *err);' '};'
expect fails 'sherd_a_open: err is not the last parameter' '/* . */' 'SHERD_API int sherd_a_open(sherd_error *err, int b);'
expect fails 'sherd_a_each: a callback comes without its arg' '/* . */' 'SHERD_API int sherd_a_each(sherd_a_fn *each, int b);'
expect fails 'sherd_a_fn: arg is not the first parameter' 'typedef bool sherd_a_fn(int a, void *arg);'
expect fails 'a.h:1: time_ms is not in nanoseconds' 'int time_ms;'
echo "the rules of the interface are held"
