# The real server places by hash whatever the plan says. The same: a database by hash gets the plan of one by directory.
graph-lines n.jsonl e.jsonl
for planner in hash directory; do
	sherd graph create -q $planner --planner $planner $([ $planner = hash ] && echo --shards 2 || echo --min-files 1)
	sherd graph import -q $planner --nodes n.jsonl --edges e.jsonl
done
cp directory/db_config.json directory/shard_plan.json hash/
sherd graph export hash --nodes - --edges - | sort >before
echo "shards are named by what they hold"
sherd graph stats hash | sed -n '/^shard/,/^$/p'
sherd graph stats hash --json | field '[s["name"] for s in d["shards"]]'
echo "the planner says otherwise"
sherd graph plan hash src/f0.js src/auth/f1.js lib/f2.js new/f.js
echo "compaction does what it says"
sherd graph tag -q hash was=here
sherd graph compact hash
sherd graph compact hash
sherd graph stats hash | sed -n '/^shard/,/^$/p'
sherd graph stats hash --json | field '[s["name"] for s in d["shards"]]'
sherd graph export hash --nodes - --edges - | sort | cmp - before
sherd graph export hash --at 2 --nodes - --edges - | sort | cmp - before
sherd verify hash
