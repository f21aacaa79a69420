# What is only a part of a database, or holds one, says so.
mkdir .grafema
db=.grafema/graph.rfdb
sherd graph create -q $db --shards 1
printf '{"id":"a"}\n' | sherd graph import -q $db --nodes -
cp $db/segments/00/seg_000001_nodes.seg copy.bin
for path in .grafema $db/current.json $db/db_config.json $db/manifest_index.json \
	$db/segments/00/seg_000001_nodes.seg $db/segments/00/seg_000001_nodes.idx copy.bin; do
	sherd info $path; echo "exit $?"
	sherd verify -q $path; echo "exit $?"
done
cd $db
sherd info current.json; echo "exit $?"
sherd info . | head -n 1
