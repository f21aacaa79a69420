graph-lines n.jsonl e.jsonl 2 3
sherd graph create db --shards 4
sherd graph import db --nodes n.jsonl --edges e.jsonl
echo "node by text and by number"
sherd graph node db 'src/f0.js->f1'
number=$(sherd graph node db 'src/f0.js->f1' | cut -d'"' -f4)
sherd graph node db "$number" --json
echo "find"
sherd graph find db --type FUNCTION
sherd graph find db --file src/f0.js --name f2
sherd graph find db --type-prefix MOD --file-prefix src/a --json
sherd graph find db --name nobody
echo "edges"
sherd graph out db 'src/f0.js->f2'
sherd graph out db 'src/f0.js->f0' --type CALLS --type NOTHING
sherd graph in db 'src/f0.js->f2' --json
echo "an id without a node, that an edge leads to"
echo '{"src":"src/f0.js->f0","dst":7,"edgeType":"USES"}' | sherd graph import db --edges - --json
sherd graph in db 7
echo "cat"
sherd cat db | head -1
sherd cat db | wc -l
sherd cat db 7; echo $?
sherd cat db 'src/f0.js->f1' --json | field 'd["name"]'
sherd cat db --json | field '[len(d["nodes"]), len(d["edges"])]'
sherd cat db --range 1:2; echo $?
