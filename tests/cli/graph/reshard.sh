# A copy is there whole or not at all.
sherd graph create db --shards 2
printf '%s\n' '{"id":"a","nodeType":"F","name":"a","file":"a.js"}' '{"src":"a","dst":"b","edgeType":"CALLS"}' |
	sherd graph import db --nodes - --edges -
sherd graph reshard db new --shards 3

echo "-- nobody finished it"
cp -r new half
rm half/current.json
touch half/graph.making
sherd graph stats half || echo "exit $?"
sherd graph reshard db half --shards 1
sherd graph export half --nodes - --edges -
ls half half/manifests

echo "-- it lost a part"
rm half/current.json
sherd graph reshard db half || echo "exit $?"
ls half

echo "-- it fails"
sherd graph reshard --at 9 db never || echo "exit $?"
(
	ulimit -f 0
	trap '' XFSZ
	sherd graph reshard db never || echo "exit $?" >&2
)
[ ! -e never ] && echo "nothing is left"
