# Output that nobody reads any more ends the command.
graph-lines n.jsonl e.jsonl 500 40
sherd graph create -q db && sherd graph import -q db --nodes n.jsonl --edges e.jsonl
for command in "find" "export --nodes - --edges -" "diff 1"; do
	sherd graph ${command%% *} db $([ "${command%% *}" = "$command" ] || echo ${command#* }) | head -c 1
	echo " ${PIPESTATUS[0]}"
done
sherd graph find db >&-; echo $?
sherd graph find db >/dev/full; echo $?
