graph-lines n.jsonl e.jsonl 4 3
sherd graph create -q good --shards 2
sherd graph import -q good --nodes n.jsonl --edges e.jsonl
nodes=$(cd good && ls segments/*/*_nodes.seg | head -1)
fresh() { rm -rf db; cp -r good db; }
try() { sherd graph find db >/dev/null; echo "find $?"; sherd verify -q db; echo "verify $?"; }
echo "pointer"; fresh; echo '{"version": ' >db/current.json; try
echo "pointer to nothing"; fresh; echo '{"version": 9}' >db/current.json; try
echo "pointer is another document"; fresh; cp db/manifests/000002.json db/current.json; try
echo "manifest cut"; fresh; truncate -s 100 db/manifests/000002.json; try
echo "manifest gone"; fresh; rm db/manifests/000002*.json; try
echo "segment gone"; fresh; rm "db/$nodes"; try
echo "segment cut"; fresh; truncate -s -5 "db/$nodes"; try
echo "magic"; fresh; flip "db/$nodes" 0; try
echo "a bit of a name"; fresh; flip "db/$nodes" -60; try
echo "indexes gone"; fresh; find db/segments -type f ! -name '*.seg' -delete; try
echo "no configuration"; fresh; rm db/db_config.json; try
echo "json"; fresh; rm "db/$nodes"; sherd graph stats db --json; echo $?
