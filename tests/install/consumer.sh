#!/bin/sh
# Installs into a scratch folder, moves the result, and builds programs against it as strangers would:
# pkg-config with the shared library, the CMake package with both, pkg-config --static with the static one.
set -eu
here=${SHERD_SOURCE:?}/tests/install
scratch=$(mktemp -d "${SHERD_BUILD:?}/install-XXXXXX")
trap 'rm -rf "$scratch"' EXIT

step() {
	log=$scratch/log
	what=$1
	shift
	if ! "$@" >"$log" 2>&1; then
		echo "install/consumer: $what failed:"
		cat "$log"
		exit 1
	fi
	echo "$what: fine"
}

step "install" env DESTDIR="$scratch/dest" cmake --install "$SHERD_BUILD" --prefix /opt/sherd
tree=$scratch/elsewhere
mv "$scratch/dest/opt/sherd" "$tree"
rest=$(find "$scratch/dest" ! -type d)
if [ -n "$rest" ]; then
	echo "installed outside the prefix: $rest"
	exit 1
fi
lib=$(dirname "$(find "$tree" -name libsherd.a)")
export PKG_CONFIG_PATH="$lib/pkgconfig"
strict="-pedantic -Wall -Wextra -Werror ${SHERD_INSTRUMENT:-}"

# compile NAME [pkg-config option] builds and runs consumer.c as C11 and consumer.cpp as C++17.
compile() {
	name=$1
	shift
	flags=$(pkg-config "$@" --cflags --libs sherd)
	# shellcheck disable=SC2086
	step "$name: C" ${CC:-cc} -std=c11 $strict "$here/consumer.c" -o "$scratch/c-$name" $flags
	# shellcheck disable=SC2086
	step "$name: C++" ${CXX:-c++} -std=c++17 $strict "$here/consumer.cpp" -o "$scratch/cxx-$name" $flags
	step "$name: run C" env LD_LIBRARY_PATH="$lib" "$scratch/c-$name"
	step "$name: run C++" env LD_LIBRARY_PATH="$lib" "$scratch/cxx-$name"
}

needs() {
	readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
}

compile shared
if ! needs "$scratch/c-shared" | grep -qx 'libsherd\.so\.0\.[0-9]*'; then
	echo "the shared program does not need libsherd by its soname:"
	needs "$scratch/c-shared"
	exit 1
fi

step "install a component" env DESTDIR="$scratch/dest" \
	cmake --install "$SHERD_BUILD" --prefix /opt/sherd --component sherd_shelf
if [ -e "$lib/libsherd_shelf.so" ]; then
	echo "a component of the tests is installed with the rest"
	exit 1
fi
cp -R "$scratch/dest/opt/sherd/." "$tree"
# shellcheck disable=SC2046,SC2086
step "component: C" ${CC:-cc} -std=c11 $strict "$here/component.c" -o "$scratch/c-component" \
	$(pkg-config --cflags --libs sherd_shelf)
step "component: run C" env LD_LIBRARY_PATH="$lib" "$scratch/c-component"

step "CMake: configure" cmake -S "$here" -B "$scratch/cmake" -G Ninja "-DCMAKE_PREFIX_PATH=$tree" \
	"-DCMAKE_C_COMPILER=${CC:-cc}" "-DCMAKE_CXX_COMPILER=${CXX:-c++}" \
	"-DCMAKE_C_FLAGS=${SHERD_INSTRUMENT:-}" "-DCMAKE_CXX_FLAGS=${SHERD_INSTRUMENT:-}"
step "CMake: build" cmake --build "$scratch/cmake"
for program in c_sherd cxx_sherd c_sherd_static cxx_sherd_static c_shelf; do
	step "CMake: run $program" "$scratch/cmake/$program"
done

if [ -x "$tree/bin/sherd" ]; then
	step "run the command" "$tree/bin/sherd" --version
fi

# With only the archive left, the linker can take nothing else.
rm -f "$lib"/libsherd.so*
compile static --static
if needs "$scratch/c-static" | grep -q sherd; then
	echo "the static program needs the shared library"
	exit 1
fi
echo "every way of linking works"
