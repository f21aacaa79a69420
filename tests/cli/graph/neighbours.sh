sherd graph create db --shards 2 -q
cat > lines.jsonl <<'L'
{"id":"a","nodeType":"F","name":"a","file":"a.js"}
{"id":"b","nodeType":"F","name":"b","file":"b.js"}
{"id":"c","nodeType":"F","name":"c","file":"c.js"}
{"src":"a","dst":"b","edgeType":"CALLS"}
{"src":"b","dst":"c","edgeType":"CALLS"}
{"src":"b","dst":"nowhere","edgeType":"HAS"}
{"src":"ghost","dst":"a","edgeType":"HAS"}
L
echo "-- an edge without a source"
sherd graph import db --nodes lines.jsonl --edges lines.jsonl; echo "exit $?"
sherd graph import db --nodes lines.jsonl --edges lines.jsonl --skip-unknown
echo "-- out, in"
sherd graph out db b
sherd graph out db b --limit 1 --type CALLS
sherd graph out db b --count
sherd graph in db b
sherd graph find db --count
sherd graph find db --limit 1 | wc -l
sherd graph out db b --count --limit 2; echo "exit $?"
echo "-- neighbours, walk"
sherd graph neighbours db b
sherd graph neighbours db b --direction in
sherd graph neighbours db b --direction both --type CALLS | wc -l
sherd graph walk db a --depth 2
sherd graph walk db a --depth 2 --limit 2 --json
sherd graph walk db nobody; echo "exit $?"
echo "-- delete"
sherd graph delete-edge db b c CALLS
sherd graph delete-edge db b c CALLS; echo "exit $?"
sherd graph delete-node db a nobody; echo "exit $?"
sherd graph delete-node db a b
sherd graph find db
sherd graph verify db
