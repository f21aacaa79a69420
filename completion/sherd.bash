# Completion of the command sherd for bash: commands, options, values where they are known, files.
# What there is to complete is asked of the command itself (sherd help --list), so that the two cannot disagree.

# The line of the list that begins with this command.
_sherd_line() {
	local line
	while IFS= read -r line; do
		[[ ${line%%$'\t'*} == "$1" ]] && echo "$line" && return
	done <<<"$2"
}

# The first words of the list, or the second ones of a group.
_sherd_words() {
	local line name
	while IFS= read -r line; do
		name=${line%%$'\t'*}
		[[ -z $1 ]] && echo "${name%% *}"
		[[ -n $1 && $name == "$1 "* ]] && echo "${name#* }"
	done <<<"$2"
	[[ -n $1 ]] || echo help
}

_sherd() {
	local -a operands=()
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command= word i list options value
	COMPREPLY=()
	list=$("${COMP_WORDS[0]}" help --list 2>/dev/null) || return
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ $word == --workers || $word == --cache || $word == --progress ]]; then
			((i++))
		elif [[ $word == -* ]]; then
			continue
		elif [[ -z $command || ($command != *' '* && -n $(_sherd_words "$command" "$list")) ]]; then
			command=${command:+$command }$word
		else
			operands+=("$word")
		fi
	done
	[[ $previous != --workers ]] || return
	options=$(_sherd_line "$command" "$list")
	if [[ $previous == --* && $options == *$'\t'"$previous="* ]]; then
		value=${options#*$'\t'"$previous="}
		value=${value%%$'\t'*}
		case $value in
		*'|'*) # a word that has a name in it, deflate:LEVEL, cannot be typed as it is
			mapfile -t COMPREPLY < <(compgen -W "$(tr '|' '\n' <<<"$value" | grep -v '[A-Z]')" -- "$current")
			return
			;;
		FILE | PATH | F | OUT | JSON) ;;
		*) return ;;
		esac
	elif [[ $current == -* ]]; then
		[[ -n $options ]] || options=$'\t--json\t--quiet\t--workers\t--cache\t--progress\t--help\t--version'
		[[ -z $command || -n $(_sherd_line "$command" "$list") ]] || options=$'\t--help'
		mapfile -t COMPREPLY < <(compgen -W "$(tr '\t' '\n' <<<"$options" | sed -n 's/^\(--[a-z-]*\).*/\1/p')" -- "$current")
		return
	elif [[ -z $command ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_sherd_words "" "$list" | sort -u)" -- "$current")
		return
	elif [[ -z $options ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_sherd_words "$command" "$list")" -- "$current")
		return
	fi
	case $command in
	cat | stats | 'checkpoint cat' | 'model cat') # names of tensors, as they have to be typed
		if [[ ${#operands[@]} -eq 1 ]]; then
			local name
			while IFS= read -r name; do
				[[ $name == "$current"* ]] && COMPREPLY+=("$(printf %q "$name")")
			done < <("${COMP_WORDS[0]}" help --tensors "${operands[0]}" 2>/dev/null)
			return
		fi
		;;
	esac
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -f -- "$current")
}

complete -F _sherd sherd
