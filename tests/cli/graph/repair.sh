sherd graph create db --shards 1 -q
printf '{"id":"a","nodeType":"F","name":"a","file":"a.js"}\n' > one.jsonl
printf '{"id":"b","nodeType":"F","name":"b","file":"b.js"}\n' > two.jsonl
sherd graph import db --nodes one.jsonl
sherd graph tag db stable=yes
before=$(ls db/segments/00)
sherd graph import db --nodes two.jsonl
echo "-- whole"
sherd graph repair db
echo "-- the newest is damaged"
for file in $(ls db/segments/00/*.seg); do case "$before" in *"${file##*/}"*) ;; *) rm "$file" ;; esac; done
sherd graph find db; echo "exit $?"
sherd graph node db a --at 2
sherd graph node db a --at stable=yes
sherd graph versions db
sherd graph reshard db copy --shards 2 --at 2
echo "-- repaired"
sherd graph repair db --dry-run
sherd graph find db; echo "exit $?"
sherd graph repair db
sherd graph find db
sherd graph verify db; echo "exit $?"
sherd graph import db --nodes two.jsonl
echo "-- current.json is damaged"
printf x > db/current.json
sherd graph repair db
sherd graph verify db; echo "exit $?"
sherd graph repair nothing; echo "exit $?"
echo "-- an older one is damaged"
sherd graph create older --shards 1 -q
for i in a b c; do printf '{"id":"%s","file":"%s.js"}\n' $i $i | sherd graph import -q older --nodes -; done
printf x > older/manifests/000002.json
sherd graph verify older; echo "exit $?"
sherd graph repair older --dry-run
sherd graph repair older --json | field '[d["whole"], d["version"], d["older"]]'
sherd graph verify older; echo "exit $?"
sherd graph repair older
sherd graph gc older
sherd graph verify older; echo "exit $?"
sherd graph gc older --untag
sherd graph verify older; echo "exit $?"
