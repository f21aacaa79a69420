tensors a.npy x:F32:6x2
sherd rows pack -q a.npy set --rows-per-shard 2
sherd verify set
sherd rows verify set --json | field '[d["ok"], d["errors"], d["warnings"]]'
for damage in "part-00001.shard 40" "part-00000.shard 0" "part-00002.shard 8" "rows.manifest.json 30"; do
	rm -rf bad && cp -r set bad && flip bad/${damage% *} ${damage#* }
	sherd verify bad
	echo "$? $damage"
	sherd rows verify -q bad --quick 2> quick
	echo "$? quick"
done
rm -rf bad && cp -r set bad && rm bad/part-00001.shard
sherd rows verify bad
echo "$? missing"
rm -rf bad && cp -r set bad && shard bad/stray.shard 1x2
sherd rows verify bad
echo "$? stray"
rm -rf bad && mkdir bad && shard bad/a.shard 1x2 0 reserved=9 more=3
sherd rows verify bad
echo "$? tolerated"
sherd rows verify bad --json | field '[[w["code"] for w in d["warnings"]], d["ok"]]'
sherd rows cat bad
