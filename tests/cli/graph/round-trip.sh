# What was exported imports as the same graph, whatever its shards, in two files or one.
cat >n.jsonl <<'L'
{"id":"a"}
{"id":1,"semanticId":"","nodeType":"T","name":"n","file":"a/b.js","metadata":"{ \"z\": 1,  \"a\":2}"}
{"id":"340282366920938463463374607431768211455","nodeType":"T","name":"\"\\\n\u00e4\u0000","file":"a/ä.js","exported":true}

{"id":"c","exported":true,"metadata":{"z":[1.50,{"b":null,"a":1e400}],"a":"\ud83d\ude00"},"unknown":[1]}
{"id":"d","exported":true,"metadata":"{\"z\":1,\"__exported\":true}","contentHash":18446744073709551615}
{"id":"e","metadata":"not JSON"}
L
cat >e.jsonl <<'L'
{"src":"a","dst":"nowhere"}
{"src":"a","dst":"c","edgeType":"CALLS","metadata":{"b":1,"a":2}}
{"src":1,"dst":340282366920938463463374607431768211455,"edgeType":"CALLS","metadata":"text"}
L
sherd graph create -q one
sherd graph import one --nodes n.jsonl --edges e.jsonl
sherd graph export one --nodes - --edges -
sherd graph export one --nodes n1 --edges e1
sherd graph export one --nodes both --edges both --json
cat n1 e1 | cmp - both && echo both
sherd graph create -q two --shards 1
sherd graph import two --nodes both --edges both
sherd graph export -q two --nodes n2 --edges e2
sort n1 | cmp - <(sort n2) && sort e1 | cmp - <(sort e2) && echo the same
sherd convert one three.jsonl && sherd convert three.jsonl three.rfdb --shards 3 && sherd convert three.rfdb four.rfdb
sherd convert four.rfdb four.jsonl --json
sort both | cmp - <(sort four.jsonl) && echo the same
sherd convert - five.rfdb <both
