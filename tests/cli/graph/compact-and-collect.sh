graph-lines n.jsonl e.jsonl 8 3
sherd graph create -q db
sherd graph import -q db --nodes n.jsonl --edges e.jsonl
for i in 1 2 3; do
	echo '{"id":"x","name":"'$i'","file":"src/x.js"}' | sherd graph update -q db --file src/x.js --nodes -
done
sherd graph tag -q db keep=me --at 3
sherd graph export -q db --nodes n1 --edges e1
sherd graph compact db
sherd graph compact db
sherd graph compact db --json
sherd graph export -q db --nodes n2 --edges e2
sort n1 | cmp - <(sort n2) && sort e1 | cmp - <(sort e2) && echo the same
sherd graph gc db --keep 2
sherd graph versions db
sherd graph gc db --untag --json | sed 's/[0-9][0-9][0-9]*/N/g'
sherd graph versions db --json
sherd graph export -q db --nodes n2 --edges e2 --replace
sort n1 | cmp - <(sort n2) && sort e1 | cmp - <(sort e2) && echo the same
sherd verify db | sed 's/[0-9.]* KiB/N KiB/'
for layout in "--shards 1" "--shards 16" "--planner directory" "--planner directory --min-files 1"; do
	rm -rf new && sherd graph reshard db new $layout || exit
	sherd graph export -q new --nodes n2 --edges e2 --replace
	sort n1 | cmp - <(sort n2) && sort e1 | cmp - <(sort e2) && echo the same
	sherd verify -q new
done
sherd graph reshard db new; echo $?
sherd graph reshard db old --at 99; echo $?
sherd graph reshard db --json newer --shards 2
