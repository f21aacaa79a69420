# A bad line is named by file, line and byte; nothing of the import is committed.
sherd graph create -q db
sherd graph import -q db --nodes <(echo '{"id":"old","file":"x.js"}')
try() { sherd graph import db --nodes n.jsonl; echo $?; }
printf '{"id":"a"}\n{"id":"b"}\n{"id":"c","name":5}\n' >n.jsonl; try
printf '{"id":"a"}\n\n{"name":"no id"}\n' >n.jsonl; try
printf '{"id":"a"}\r\n{"id":"a"\r\n' >n.jsonl; try
printf '{"id":"a"}\n{"id":"\xff"}\n' >n.jsonl; try
printf '{"id":-1}' >n.jsonl; try
printf '{"id":340282366920938463463374607431768211456}' >n.jsonl; try
printf '{"id":"a","exported":true,"metadata":"[1]"}' >n.jsonl; try
python3 -c 'print("{\"id\":\"a\",\"metadata\":" + "[" * 100)' >n.jsonl; try
python3 -c 'print("{\"id\":\"" + "a" * (65 << 20) + "\"}")' >n.jsonl; try
printf '{"id":"a"}\n[]\n' | sherd graph import db --nodes - --json; echo $?
printf '{"id":"a"}\n' >n.jsonl
printf '{"src":"a","dst":"b"}\n{"src":"stranger","dst":"a","edgeType":"CALLS"}\n{"src":"a","dst":"a"}\n' >e.jsonl
sherd graph import db --nodes n.jsonl --edges e.jsonl; echo $?
sherd graph import db --nodes absent; echo $?
sherd graph import db --nodes .; echo $?
sherd graph find db; sherd graph versions db --json | grep -o '"current":2'; sherd verify db
echo "update"
printf '{"id":"a","file":"x.js"}\n{"id":"b","file":"y.js"}\n{"id":"c","file":"x.js"}\n' >n.jsonl
sherd graph update db --file x.js --nodes n.jsonl; echo $?
printf '{"id":"a","file":"x.js"}\n' >n.jsonl
sherd graph update db --file x.js --nodes n.jsonl --edges e.jsonl; echo $?
printf '{"src":"a","dst":"b"}\n{"src":"old","dst":"a"}\n' >e.jsonl
sherd graph update db --file x.js --nodes n.jsonl --edges e.jsonl; echo $?
sherd graph find db
echo "convert"
sherd convert e.jsonl new.rfdb; echo $?
[ -e new.rfdb ] || echo nothing is made
printf '{"id":"a\\ud800","nodeType":"F"}\n' > surrogate.jsonl
sherd graph import db --nodes surrogate.jsonl; echo "exit $?"
