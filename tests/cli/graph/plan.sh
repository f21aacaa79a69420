echo "-- without a database"
sherd graph plan --shards 4 src/a.js src/b.js lib/c.js
sherd graph plan --planner directory --min-files 2 src/a.js src/b.js lib/deep/c.js top.js
sherd graph plan --planner directory --min-files 1 --json src/a.js lib/c.js
echo "-- of a database"
sherd graph create db --planner directory --min-files 1 -q
printf '{"id":"a","nodeType":"F","name":"a","file":"src/a.js"}\n' > nodes.jsonl
sherd graph import db --nodes nodes.jsonl -q
sherd graph plan db src/a.js src/other.js lib/c.js
sherd graph plan db lib/c.js --json
sherd graph versions db | tail -n 1
echo "-- mistakes"
sherd graph plan db; echo "exit $?"
sherd graph plan nothing a.js; echo "exit $?"
sherd graph plan --planner hash --min-files 2 a.js; echo "exit $?"
