nodes() { printf '{"id":"%s","nodeType":"F","name":"%s","file":"%s/x.js"}\n' "$1" "$1" "$1" "$2" "$2" "$2" "$3" "$3" "$3"; }
nodes a b c > one.jsonl
nodes d e f > two.jsonl
sherd graph create db --shards 2 -q
sherd graph import db --nodes one.jsonl
sherd graph import db --nodes two.jsonl
sherd graph tag db release=1 --at 2
sherd graph tag db release=2 --at 3
sherd graph compact db
rm db/segments/00/*.seg
left=$(ls db/segments/01/*.seg)
echo "-- repaired"
sherd graph repair db --dry-run
sherd graph repair db
echo "-- collected: what tagged versions name stays"
sherd graph gc db
for file in $left; do test -e "$file" && echo "${file##*/}"; done
ls db/manifests
sherd graph gc db --json
sherd graph verify db; echo "exit $?"
echo "-- without a tag it goes"
sherd graph tag db release --remove --at 3
sherd graph gc db
sherd graph gc db --untag
ls db/manifests
