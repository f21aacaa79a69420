#!/bin/sh
# A component (cmake/components.cmake): what the command linked with it says and opens, and that one whose dependency is
# missing, or that nobody wants, is left out with a line that says why.
set -eu
scratch=$(mktemp -d "${SHERD_BUILD:?}/component-XXXXXX")
trap 'rm -rf "$scratch"' EXIT

# same WHAT EXPECTED GOT
same() {
	if [ "$2" != "$3" ]; then
		printf 'install/component: %s: expected\n%s\nbut got\n%s\n' "$1" "$2" "$3"
		exit 1
	fi
	echo "$1: fine"
}

same "a program" "shelf://top/book" "$("$SHERD_BUILD/program_with_shelf")"
if [ -x "$SHERD_BUILD/sherd_with_shelf" ]; then
	run() {
		status=0
		"$SHERD_BUILD/sherd_with_shelf" "$@" 2>&1 || status=$?
		[ "$status" = 0 ] || echo "exit $status"
	}
	same "--version" "store shelf
component shelf" "$(run --version | grep shelf)"
	same "--version --json" '{"version":"0.1.0","stores":["file","mem","shelf"],"components":[{"name":"shelf","with":null}]}' \
		"$(run --version --json)"
	same "an object that is not there" "sherd: shelf://top/left: nothing is there
exit 3" "$(run info shelf://top/left)"
	printf '\002\000\000\000\000\000\000\000{}' >"$scratch/empty.safetensors"
	same "what would not stay" "sherd: shelf://top/left.npz: what is written there does not stay
exit 1" "$(run convert --to safetensors "$scratch/empty.safetensors" shelf://top/left.npz)"
fi

cat >"$scratch/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.25)
project(parts LANGUAGES NONE)
find_package(PkgConfig REQUIRED)
include($SHERD_SOURCE/cmake/components.cmake)
component(far DEPENDS no-such-library)
component(unwanted)
get_property(built GLOBAL PROPERTY SHERD_COMPONENTS)
message(STATUS "sherd: built: \${built}")
EOF
same "left out" "-- sherd: component far is left out: no-such-library is not here
-- sherd: component unwanted is left out: SHERD_UNWANTED is OFF
-- sherd: built: " "$(cmake -S "$scratch" -B "$scratch/build" -DSHERD_UNWANTED=OFF | grep sherd:)"
