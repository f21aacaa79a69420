for name in a b c; do
	printf '{"id":"%s","nodeType":"F","name":"%s","file":"%s.js"}\n' $name $name $name > $name.jsonl
done
sherd graph create db --shards 1 -q
sherd graph import db --nodes a.jsonl -q
sherd graph import db --nodes b.jsonl -q
sherd graph tag db release=1 -q
before=$(ls db/segments/00)
sherd graph import db --nodes c.jsonl -q
for file in $(ls db/segments/00/*.seg); do case "$before" in *"${file##*/}"*) ;; *) rm "$file" ;; esac; done
echo "-- others can be compared"
sherd graph diff db 2 3
sherd graph diff db 2 release=1
sherd graph diff db 2; echo "exit $?"
sherd graph diff db 2 4; echo "exit $?"
echo "-- writers say what helps"
sherd graph import db --nodes a.jsonl; echo "exit $?"
sherd graph compact db; echo "exit $?"
sherd graph gc db; echo "exit $?"
sherd graph gc db --dry-run; echo "exit $?"
sherd graph tag db x=1; echo "exit $?"
sherd graph tag db x=1 --at 2; echo "exit $?"
sherd graph delete-file db a.js; echo "exit $?"
echo "-- a damaged plan is nothing that repair could mend"
sherd graph create planned --planner directory -q
sherd graph import planned --nodes a.jsonl -q
printf x > planned/shard_plan.json
sherd graph compact planned; echo "exit $?"
