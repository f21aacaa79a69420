#!/bin/sh
# Every public header compiles alone, as strict C11 and as C++17, without one warning.
set -eu
cd "${SHERD_SOURCE:?}"
failures=0
count=0
strict="-pedantic -Wall -Wextra -Werror -fsyntax-only -I include"

for header in $(cd include && find sherd -name '*.h' | sort); do
	count=$((count + 1))
	# Twice: the second time must add nothing.
	source="#include <$header>
#include <$header>"
	# shellcheck disable=SC2086
	if ! printf '%s\n' "$source" 'typedef int nothing_else;' | ${CC:-cc} -std=c11 $strict -x c -; then
		echo "<$header> does not compile alone as C11"
		failures=$((failures + 1))
	fi
	# shellcheck disable=SC2086
	if ! printf '%s\n' "$source" | ${CXX:-c++} -std=c++17 $strict -x c++ -; then
		echo "<$header> does not compile alone as C++17"
		failures=$((failures + 1))
	fi
done
[ "$count" -gt 0 ] || {
	echo "no public header found"
	exit 1
}
[ "$failures" = 0 ] || exit 1
echo "$count headers compile alone"
