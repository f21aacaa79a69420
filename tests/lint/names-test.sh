#!/bin/sh
# tools/check-names fails when it should, and says where.
set -eu
check=${SHERD_SOURCE:?}/tools/check-names
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# begin makes a tree that keeps every rule.
begin() {
	rm -rf "$scratch/tree"
	mkdir -p "$scratch/tree/src/base" "$scratch/tree/cli" "$scratch/tree/include/sherd"
	echo 'int sherd_open(int a);' >"$scratch/tree/include/sherd/a.h"
	printf '/* run(x) { */\nstatic int run(int a)\n{\n\treturn a;\n}\n\nint sherd_open(int a)\n{\n\treturn run(a);\n}\n' \
		>"$scratch/tree/src/base/a.c"
	printf 'static void run(void)\n{\n}\n\nchar *shd_text(const char *s,\n               int a)\n{\n\trun();\n}\n' \
		>"$scratch/tree/src/base/b.c"
	printf 'int cli_show(void)\n{\n\treturn 0;\n}\n\nint main(void)\n{\n\treturn 0;\n}\n' >"$scratch/tree/cli/main.c"
}

# expect VERDICT TEXT
expect() {
	verdict=passes
	"$check" "$scratch/tree" >"$scratch/output" 2>&1 || verdict=fails
	if [ "$verdict" != "$1" ] || ! grep -qF -e "$2" "$scratch/output"; then
		echo "should: $1, '$2'; but $verdict:"
		cat "$scratch/output"
		exit 1
	fi
}

begin
expect passes 'names tell'
printf 'static int run(int a)\n{\n\treturn a;\n}\n' >"$scratch/tree/cli/info.c"
expect fails 'cli/info.c:1: the static name run stands in 3 files'
begin
printf 'int open_it(int a)\n{\n\treturn a;\n}\n' >"$scratch/tree/src/base/c.c"
expect fails 'src/base/c.c:1: open_it begins with none of sherd_, shd_'
begin
printf 'int shd_show(int a)\n{\n\treturn a;\n}\n' >"$scratch/tree/cli/show.c"
expect fails 'cli/show.c:1: shd_show begins with none of cli_, main'
begin
echo 'typedef struct shd_buf shd_buf;' >>"$scratch/tree/include/sherd/a.h"
expect fails 'include/sherd/a.h:2: shd_buf is a name of the inside'
echo "every case behaves"
