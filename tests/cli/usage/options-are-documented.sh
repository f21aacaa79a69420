# Every option that --help names stands in the man page and is completed, and the other way round.
source "$SHERD_SOURCE/completion/sherd.bash"
completed() { # completed WORD... prints what the last word is completed to
	COMP_WORDS=(sherd "$@")
	COMP_CWORD=$#
	_sherd
	printf '%s\n' "${COMPREPLY[@]}"
}
count=0
mapfile -t commands < <(echo && sherd help --list | cut -f1)
declare -A helps # what all commands of a page say
for command in "${commands[@]}"; do
	name=sherd${command:+-${command%% *}}
	page=$(<"$SHERD_SOURCE/man/$name.1")
	help=$(sherd $command --help)
	helps[$name]+=$help$'\n'
	helped=$(grep -oE '^ +(-., )?--[a-z-]+' <<<"$help" | grep -oE -- '--[a-z-]+' | sort)
	for option in $helped; do
		[[ $page =~ (^|[[:space:].])Fl\ -${option#--}([[:space:]]|$) ]] || echo "$option of sherd $command is not in $name.1"
		count=$((count + 1))
	done
	for letter in $(grep -oE '^ +-[a-z],' <<<"$help" | tr -dc 'a-z\n'); do
		[[ $page =~ Fl\ $letter([[:space:]]|$) ]] || echo "-$letter of sherd $command is not in $name.1"
	done
	diff <(echo "$helped") <(completed $command -- | sort) | sed "s/^/sherd $command --: /"
done
[ "$count" -gt 60 ] && echo all options were looked at
for page in "$SHERD_SOURCE"/man/*.1; do
	name=$(basename "$page" .1)
	for option in $(grep -oE 'Fl -[a-z-]+' "$page" | sed 's/Fl -/--/' | sort -u); do
		[[ ${helps[$name]} == *"$option"* || $name$option == sherd--set-id ]] || echo "$option of $name is no option"
	done
done
diff <(sherd --help | grep -oE '^  [a-z]+' | tr -d ' ' | sort -u) <(completed "" | sort)
diff <(sherd checkpoint --help | grep -oE '^  checkpoint [a-z]+' | cut -d' ' -f4 | sort) <(completed checkpoint "" | sort)
diff <(sherd rows --help | grep -oE '^  rows [a-z]+' | cut -d' ' -f4 | sort) <(completed rows "" | sort)
diff <(sherd graph --help | grep -oE '^  graph [a-z-]+' | cut -d' ' -f4 | sort) <(completed graph "" | sort)
diff <(sherd model --help | grep -oE '^  model [a-z]+' | cut -d' ' -f4 | sort) <(completed model "" | sort)
touch file-a file-b
completed info file | sort
completed cat x --format ""
completed convert a b --to sd
completed rows stream x --tail ""
completed rows stream x --batch ""
tensors m.safetensors layers.0.w:F32:1 'odd name:F32:1'
completed cat m.safetensors la
completed stats m.safetensors odd
