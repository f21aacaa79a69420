#!/bin/bash
# Completion in a real zsh, which hands its matches to a function of ours: zsh.sh; the command is SHERD_COMMAND.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin"
ln -s "$SHERD_COMMAND" "$folder/bin/sherd"
cd "$folder"
PATH=$SHERD_SOURCE/tests/cli/lib:$PATH tensors m.safetensors layers.0.w:F32:2 layers.1.w:F32:2 'odd name:F32:1'
completed() { # completed WORD... prints what zsh would match the last word against
	PATH=$folder/bin:$PATH zsh -f -c '
		compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -rl -- "$@" }
		_files() { print FILES }
		words=(sherd "$@") CURRENT=$(( $# + 1 ))
		source "$SHERD_SOURCE/completion/_sherd"' zsh "$@"
}
expect() { # expect WANTED WORD...: the words that begin as the last one does
	local wanted=$1 got last=${*: -1}
	shift
	got=$(completed "$@" | grep -e "^$last" -e '^FILES$' | sort -u | paste -sd' ')
	[ "$got" = "$wanted" ] || { echo "zsh completes '$*' to: $got; not: $wanted" >&2; exit 1; }
}
expect info inf
expect save checkpoint sa
expect --match info --mat
expect 'name size stored' info --sort ''
expect 'layers.0.w layers.1.w' cat m.safetensors lay
expect 'odd name' stats m.safetensors odd
expect FILES info m.s
expect FILES convert a b
echo zsh completes
