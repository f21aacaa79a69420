#!/bin/sh
# Every public header, also of components, compiles alone, as strict C11 and as C++17, without one warning; and what is
# written with them alone, examples and components, as strict C11.
set -eu
cd "${SHERD_SOURCE:?}"
failures=0
count=0
folders=include
for folder in src/*/include tests/component/*/include; do
	[ ! -d "$folder" ] || folders="$folders $folder"
done
# shellcheck disable=SC2086
mpi=$(pkg-config --cflags mpi-c 2>/dev/null | sed 's/-I/-isystem /g') || mpi=
# shellcheck disable=SC2086
strict="$mpi -pedantic -Wall -Wextra -Wno-missing-field-initializers -Werror -fsyntax-only $(printf ' -I %s' $folders)"

# needs_mpi FILE: it includes MPI's header, which is not here
needs_mpi() {
	[ -z "$mpi" ] && grep -q 'mpi\.h>' "$1"
}

for header in $(for folder in $folders; do (cd "$folder" && find sherd -name '*.h'); done | sort); do
	[ "$header" != sherd/mpi.h ] || [ -n "$mpi" ] || continue
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
for source in examples/*.c tests/component/*/*.c; do
	[ -e "$source" ] && ! grep -q '#include "' "$source" && ! needs_mpi "$source" || continue
	# shellcheck disable=SC2086
	if ! ${CC:-cc} -std=c11 -D_POSIX_C_SOURCE=200809L $strict "$source"; then
		echo "$source is not strict C11"
		failures=$((failures + 1))
	fi
done
[ "$count" -gt 0 ] || {
	echo "no public header found"
	exit 1
}
[ "$failures" = 0 ] || exit 1
echo "$count headers compile alone"
