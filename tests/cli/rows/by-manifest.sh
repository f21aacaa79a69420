# A manifest stands for its set; under another name it is the list of nothing.
tensors n.npy x:F32:6x2
sherd rows pack -q n.npy set --rows-per-shard 4
sherd info set/rows.manifest.json
sherd rows stream set/rows.manifest.json
sherd verify --json set/rows.manifest.json | field '[d["ok"], d["checked_bytes"] > 100, d["warnings"]]'
[ "$(sherd cat set/rows.manifest.json)" = "$(sherd cat set)" ] && echo the same
cp set/rows.manifest.json copy.json
sherd info copy.json
echo $?
echo '{' >set/rows.manifest.json
sherd verify set/rows.manifest.json
echo $?
bf16-folder bf 2 2 1
sherd info bf/manifest.json
sherd rows stream bf/manifest.json --format text
sherd verify -q bf/manifest.json
echo $?
sherd rows pack -q bf/manifest.json out && sherd rows cat out
