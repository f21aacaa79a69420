# Every option that --help names stands in the man page and is completed, and the other way round.
source "$SHERD_SOURCE/completion/sherd.bash"
completed() { # completed WORD... prints what the last word is completed to
	COMP_WORDS=(sherd "$@")
	COMP_CWORD=$#
	_sherd
	printf '%s\n' "${COMPREPLY[@]}"
}
count=0
for command in "" info verify cat convert checkpoint\ {save,commit,wait,load,reshard,verify,list,prune,remove,repair} rows\ {pack,append,index,info,stream,gather,cat,verify} \
	graph\ {create,import,export,node,find,out,in,neighbours,walk,update,delete-file,delete-node,delete-edge,stats,compact,gc,repair,reshard,versions,tag,diff,verify} \
	model\ {info,verify,cat,convert,graph,meta,split,join}; do
	page=$SHERD_SOURCE/man/sherd${command:+-${command%% *}}.1
	helped=$(sherd $command --help | grep -oE '^ +(-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort)
	for option in $helped; do
		grep -qE "(^|[ .])Fl -${option#--}( |\$)" "$page" || echo "$option of sherd $command is not in $(basename "$page")"
		count=$((count + 1))
	done
	for letter in $(sherd $command --help | grep -oE '^ +-[a-z],' | tr -dc 'a-z\n'); do
		grep -qE "Fl $letter( |\$)" "$page" || echo "-$letter of sherd $command is not in $(basename "$page")"
	done
	diff <(echo "$helped") <(completed $command -- | sort) | sed "s/^/sherd $command --: /"
done
[ "$count" -gt 60 ] && echo all options were looked at
for page in "$SHERD_SOURCE"/man/*.1; do
	name=$(basename "$page" .1)
	for option in $(grep -oE 'Fl -[a-z-]+' "$page" | sed 's/Fl -/--/' | sort -u); do
		case $name in
		sherd) sherd --help ;;
		sherd-checkpoint) for c in save commit wait load reshard verify list prune remove repair; do sherd checkpoint $c --help; done ;;
		sherd-rows) for c in pack append index info stream gather cat verify; do sherd rows $c --help; done ;;
		sherd-graph) for c in create import export node find out in neighbours walk update delete-file delete-node delete-edge stats compact gc repair reshard versions tag diff verify; do sherd graph $c --help; done ;;
		sherd-model) for c in info verify cat convert graph meta split join; do sherd model $c --help; done ;;
		*) sherd ${name#sherd-} --help ;;
		esac | grep -q -- "$option" || [ "$name$option" = sherd--set-id ] || echo "$option of $name is no option"
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
