graph-lines nodes edges 3
for db in one two; do
	sherd graph create $db --quiet
	sherd graph import $db --nodes nodes --edges edges --quiet
done
sherd diff one two
echo "exit $?"
sherd graph delete-node two "$(head -n 1 nodes | field 'd["id"]')" --quiet
sherd diff one two --limit 2
echo "exit $?"
sherd diff one two --quiet
echo "exit $?"
sherd diff two one --json | field '[d["equal"], d["nodes"], d["edges"]]'
tensors t.safetensors w:F32:2
sherd diff one t.safetensors
echo "exit $?"
