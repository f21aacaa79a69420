#!/bin/sh
# What docs/extending.md quotes stands in the file that it names, line for line; and a quote that does not is found.
set -eu
cd "${SHERD_SOURCE:?}"
check() {
	python3 - "$1" <<'EOF'
import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()
quotes = re.findall(r"^<!-- quote (\S+) -->\n```\w*\n(.*?)^```$", text, re.M | re.S)
wrong = [(path, quote) for path, quote in quotes if quote not in open(path, encoding="utf-8").read()]
for path, quote in wrong:
    print(f"{sys.argv[1]}: this does not stand in {path}:\n{quote}")
if not quotes or len(quotes) != text.count("\n```c\n"):
    sys.exit(f"{sys.argv[1]}: there is code that is not quoted")
sys.exit(bool(wrong))
EOF
}
check docs/extending.md
scratch=$(mktemp "${SHERD_BUILD:?}/quotes-XXXXXX")
trap 'rm -f "$scratch"' EXIT
sed 's/shelf_commit(sherd_writer/shelf_commits(sherd_writer/' docs/extending.md >"$scratch"
if check "$scratch" >/dev/null; then
	echo "a quote that is wrong was not found"
	exit 1
fi
echo "the quotes stand where they say"
