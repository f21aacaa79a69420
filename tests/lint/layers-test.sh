#!/bin/sh
# tools/check-layers fails when it should, names the line, and passes when it should: each case is a little tree.
set -eu
check=${SHERD_SOURCE:?}/tools/check-layers
python=$(python3 -c 'import sys; print(sys.executable)') # that starts at once, with -S
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

# file NAME LINE... writes a file of the tree of the current case.
file() {
	mkdir -p "$tree/$(dirname "$1")"
	name=$1
	shift
	printf '%s\n' "$@" >"$tree/$name"
}

# A tree that keeps every rule; each case then adds to it.
begin() {
	tree=$scratch/$1
	case_name=$1
	file include/sherd/error.h '#include <stdint.h>'
	file include/sherd/store.h '#include <sherd/error.h>'
	file include/sherd/detect.h '#include <sherd/store.h>'
	file include/sherd/sys/backend.h '#include <sherd/store.h>'
	file src/base/error.h '#include <sherd/error.h>'
	file src/base/error.c '#include "base/error.h"' '' '#include <stdio.h>'
	file src/codec/sha256.h '#include <stddef.h>'
	file src/codec/sha256.c '#include "codec/sha256.h"' '#include <openssl/sha.h>'
	file src/format/head.h '#include "base/error.h"'
	file src/format/head.c '#include "format/head.h"' '#include "codec/sha256.h"'
	file src/store/local.h '#include <sherd/sys/backend.h>'
	file src/store/local.c '#include "store/local.h"' '#include "base/error.h"'
	file src/engine/ckpt/open.h '#include <sherd/store.h>'
	file src/engine/ckpt/open.c '#include "engine/ckpt/open.h"' '#include "format/head.h"' '#include "store/local.h"'
	file cli/out.h '#include <stdio.h>'
	file cli/out.c '#include "out.h"'
	file cli/main.c '#include "out.h"' '#include <sherd/detect.h>'
	file examples/save.c '#include <sherd/store.h>' '#include <stdio.h>'
}

passes() {
	if ! "$python" -S "$check" "$tree" >"$scratch/output" 2>&1; then
		echo "$case_name: refused, but should pass:"
		cat "$scratch/output"
		failures=$((failures + 1))
	fi
}

# fails PLACE TEXT: the check fails with exactly one line, that begins with the place and holds the text.
fails() {
	if "$python" -S "$check" "$tree" >"$scratch/output" 2>&1; then
		echo "$case_name: passes, but should be refused"
		failures=$((failures + 1))
	elif [ "$(wc -l <"$scratch/output")" != 1 ] || ! grep -qF -e "$2" "$scratch/output" ||
		! grep -q "^$1: " "$scratch/output"; then
		echo "$case_name: should say '$1: ...$2...' and no more, but says:"
		cat "$scratch/output"
		failures=$((failures + 1))
	fi
}

begin everything-allowed
passes

begin upward-include
file src/base/map.c '#include <stddef.h>' '#include "codec/sha256.h"'
fails src/base/map.c:2 'base may not include codec'

begin sideways-include
file src/store/memory.c '#include "format/head.h"'
fails src/store/memory.c:1 'store may not include format'

begin upward-include-by-dots
file src/codec/json.c '#include "../store/local.h"'
fails src/codec/json.c:1 'codec may not include store'

begin upward-include-by-many-dots
file src/codec/json.c '#include "./../format/../store/local.h"'
fails src/codec/json.c:1 'codec may not include store'

begin downward-include-by-dots
file src/format/npy.c '#include "../codec/sha256.h"'
passes

begin upward-include-in-angle-brackets
file src/base/map.c '#include <codec/sha256.h>'
fails src/base/map.c:1 'base may not include codec'

begin upward-include-with-spaces
file src/base/map.c '  #  include   "codec/sha256.h"'
fails src/base/map.c:1 'base may not include codec'

begin header-breaks-its-layer
file src/base/map.h '#include "store/local.h"'
fails src/base/map.h:1 'base may not include store'

begin include-in-a-comment
file src/base/map.c '/* like' '#include "store/local.h"' '*/' '// #include "store/local.h"'
passes

begin line-numbers-count-comments
file src/base/map.c '/* one' 'two */' '#include "store/local.h"'
fails src/base/map.c:3 'base may not include store'

begin deep-folder-belongs-to-its-layer
file src/engine/ckpt/disk/read.c '#include "engine/ckpt/open.h"'
passes

begin engines-beside-each-other
file src/engine/model/read.c '#include "engine/ckpt/open.h"'
fails src/engine/model/read.c:1 'engine/model may not include engine/ckpt'

begin what-engines-share-reaches-up
file src/engine/tensors/open.c '#include "engine/ckpt/open.h"'
fails src/engine/tensors/open.c:1 'engine/tensors may not include engine/ckpt'

begin the-table-above-all-engines
file src/engine/formats.c '#include "engine/ckpt/open.h"'
passes

begin layers-in-a-circle
file tools/layers.txt 'base: store' 'codec:' 'format: base codec' 'store: base codec' 'engine: base codec format store' \
	'mpi:' 'cli:' 'examples:' 'foreign: openssl/ curl/ mpi.h'
fails tools/layers.txt:1 'base -> store -> base'

begin include-out-of-src
file src/engine/ckpt/save.c '#include "../../../cli/out.h"'
fails src/engine/ckpt/save.c:1 'engine/ckpt may not include cli'

begin format-includes-store
file src/format/npy.c '#include <sherd/store.h>'
fails src/format/npy.c:1 'format may not reach <sherd/store.h>'

begin format-includes-a-backend-header
file src/format/npy.c '#include <sherd/sys/fault.h>'
fails src/format/npy.c:1 'format may not reach <sherd/sys/fault.h>'

begin format-reaches-store-through-a-private-header
file src/base/handle.h '#include <sherd/store.h>'
file src/format/npy.c '#include <stddef.h>' '#include "base/handle.h"'
fails src/format/npy.c:2 'format may not reach <sherd/store.h>'

begin format-may-use-the-types-of-public-headers
file src/format/npy.c '#include <sherd/detect.h>'
passes

begin engine-may-use-the-public-store
file src/engine/ckpt/save.c '#include <sherd/store.h>'
passes

begin quoted-public-header
file src/base/map.c '#include "sherd/error.h"'
fails src/base/map.c:1 'included with <>'

begin cli-includes-src
file cli/rows.c '#include "base/error.h"'
fails cli/rows.c:1 'cli may not include base'

begin cli-includes-src-by-dots
file cli/rows.c '#include "../src/base/error.h"'
fails cli/rows.c:1 'cli may not include base'

begin cli-includes-src-in-angle-brackets
file cli/rows.c '#include <base/error.h>'
fails cli/rows.c:1 'cli may not include base'

begin example-includes-src
file examples/rows.c '#include "base/error.h"'
fails examples/rows.c:1 'examples may not include base'

begin cli-includes-a-foreign-library
file cli/rows.c '#include <curl/curl.h>'
fails cli/rows.c:1 'cli may not include <curl/curl.h>'

begin mpi-uses-public-headers
file src/mpi/save.c '#include <sherd/store.h>' '#include <mpi.h>'
passes

begin mpi-includes-a-private-header
file src/mpi/save.c '#include "base/error.h"'
fails src/mpi/save.c:1 'mpi may not include base'

begin foreign-header-twice
file src/codec/sign.c '#include <openssl/sha.h>'
fails src/codec/sign.c:1 '<openssl/sha.h> is included by src/codec/sha256.c already'

begin two-headers-of-one-library
file src/codec/sign.c '#include <openssl/evp.h>'
passes

begin own-header-late
file src/codec/crc32.h '#include <stddef.h>'
file src/codec/crc32.c '#include <string.h>' '#include "codec/crc32.h"'
fails src/codec/crc32.c:1 'not its own header'

begin own-header-missing
file src/codec/crc32.h '#include <stddef.h>'
file src/codec/crc32.c 'int x;'
fails src/codec/crc32.c:1 'does not include its own header'

begin own-header-by-dots
file src/codec/crc32.h '#include <stddef.h>'
file src/codec/crc32.c '#include "../codec/crc32.h"'
passes

begin unknown-layer
file src/extra/thing.c '#include <stddef.h>'
fails src/extra/thing.c:1 'belongs to no layer'

begin file-outside-layers
file src/thing.c '#include <stddef.h>'
fails src/thing.c:1 'belongs to no layer'

begin public-header-includes-a-private-one
file include/sherd/rows.h '#include "base/error.h"'
fails include/sherd/rows.h:1 'a public header'

if [ "$failures" != 0 ]; then
	echo "$failures cases failed"
	exit 1
fi
echo "every case behaves"
