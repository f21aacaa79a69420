graph-lines n.jsonl e.jsonl 3 3
sherd graph create -q db --shards 2
sherd graph import -q db --nodes n.jsonl --edges e.jsonl
sherd graph tag db release=1.0
echo "replace a file: f1 stays, f0 and f2 go, f9 comes"
cat >n2.jsonl <<'L'
{"id":"src/auth/f1.js->f1","semanticId":"src/auth/f1.js->f1","nodeType":"FUNCTION","name":"f1","file":"src/auth/f1.js"}
{"id":"src/auth/f1.js->f9","semanticId":"src/auth/f1.js->f9","nodeType":"FUNCTION","name":"f9","file":"src/auth/f1.js"}
L
echo '{"src":"src/auth/f1.js->f9","dst":"src/f0.js->f0","edgeType":"CALLS"}' >e2.jsonl
sherd graph update db --file src/auth/f1.js --nodes n2.jsonl --edges e2.jsonl
sherd graph find db --file src/auth/f1.js
sherd graph in db 'src/auth/f1.js->f1'
sherd graph in db 'src/auth/f1.js->f2'; echo $?
sherd graph update db --file src/auth/f1.js --nodes n2.jsonl --edges e2.jsonl --json
sherd graph delete-file db lib/f2.js
sherd graph delete-file db lib/f2.js; echo $?
echo "versions"
sherd graph versions db
sherd graph find db --file lib/f2.js --at release=1.0 | wc -l
sherd graph find db --file lib/f2.js | wc -l
sherd graph node db 'src/auth/f1.js->f2' --at 2
sherd graph out db 'src/auth/f1.js->f2' --at 4; echo $?
sherd graph stats db --at 2 --json | grep -o '"version":2,"nodes":9,"edges":18'
sherd graph export db --nodes - --at 1
sherd graph stats db --at 99; echo $?
sherd graph stats db --at release=2; echo $?
sherd graph stats db --at 0; echo $?
echo "tags"
sherd graph tag db state=broken --at 3 --json
sherd graph tag db state --at 3 --remove
sherd graph tag db state --at 3; echo $?
sherd graph tag db a=b --at 99; echo $?
sherd graph versions db --json
echo "diff"
sherd graph diff db release=1.0 3
sherd graph diff db 3 --json
sherd graph diff db 3 3
