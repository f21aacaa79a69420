#!/bin/bash
# Completion in a real fish: fish.sh; the command is SHERD_COMMAND.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin" "$folder/home"
ln -s "$SHERD_COMMAND" "$folder/bin/sherd"
cd "$folder"
PATH=$SHERD_SOURCE/tests/cli/lib:$PATH tensors m.safetensors layers.0.w:F32:2 layers.1.w:F32:2 'odd name:F32:1'
completed() { # completed LINE prints what fish offers
	HOME=$folder/home XDG_CONFIG_HOME=$folder/home PATH=$folder/bin:$PATH fish --no-config -c \
		"source $SHERD_SOURCE/completion/sherd.fish; complete -C '$1'" | cut -f1 | sort -u
}
expect() {
	local got
	got=$(completed "$1" | paste -sd' ')
	[ "$got" = "$2" ] || { echo "sherd completes '$1' to: $got; not: $2" >&2; exit 1; }
}
expect 'sherd inf' info
expect 'sherd checkpoint sa' save
expect 'sherd info --mat' --match
expect 'sherd info --sort ' 'name size stored'
expect 'sherd cat m.safetensors lay' 'layers.0.w layers.1.w'
expect 'sherd stats m.safetensors odd' 'odd name'
expect 'sherd info m.s' m.safetensors
echo fish completes
