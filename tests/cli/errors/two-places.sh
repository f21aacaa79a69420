# C-7: of a command that reads in one place and writes in another, an error names the file that is meant.
mkdir k d
model m.safetensors
tensors rows.safetensors rows:F32:6x4
tell() { # COMMAND...: what it names, and whether that is there
	object=$(sherd --json "$@" | field 'd["error"]["object"]')
	plain=$(sherd "$@" 2>&1 | head -1)
	echo "$1 $2: $object ($(test -e "$object" -o -e "$object.metadata.json" && echo there || echo missing), $([[ $plain == "sherd: $object: "* ]] && echo "as told" || echo "but told: $plain"))"
}
sherd checkpoint save -q m.safetensors k/x --shards 2
flip k/x_shard_1.shard 130
tell convert k/x d/y.safetensors
tell convert k/x d/y.npy/
tell convert k/x d/y.sdc
tell checkpoint load k/x -o d/y.safetensors
tell checkpoint load k/x -o d/y.metadata.json
tell checkpoint load k/x -o d/y.safetensors.index.json
tell checkpoint reshard k/x d/y --shards 3
tell checkpoint save k/x d/y
sherd checkpoint save -q rows.safetensors k/r
flip k/r_shard_0.shard 130
tell rows pack k/r d/rows
sherd convert -q m.safetensors k/c.sdc
flip k/c.sdc 200
tell convert k/c.sdc d/y.safetensors
tell checkpoint save k/c.sdc d/y --drop-graph
tell model split k/c.sdc d/s --shards 2
tell model convert k/c.sdc d/y.sdc --compress deflate
sherd convert -q m.safetensors k/s.sdc
sherd model split -q k/s.sdc k/s --shards 2
rm k/s.sdc
shard=$(ls k/s.shard1*)
flip $shard 200
tell model join k/s d/joined.sdc
sherd convert -q m.safetensors k/z.sdz
truncate -s -9 k/z.sdz
tell convert k/z.sdz d/y.safetensors
graph-lines n.jsonl e.jsonl
sherd graph create -q k/g --shards 2
sherd graph import -q k/g --nodes n.jsonl --edges e.jsonl
segment=$(ls k/g/segments/00/*_nodes.seg)
truncate -s -9 $segment
tell graph export k/g --nodes d/n.jsonl --edges d/e.jsonl
tell graph reshard k/g d/g --shards 3
tell convert k/g d/g.jsonl
# what is in the way where it is to be written
echo old >d/y.safetensors
echo old >d/n.jsonl
sherd checkpoint save -q m.safetensors k/good
sherd checkpoint save -q m.safetensors d/y
tell convert k/good d/y.safetensors
tell checkpoint load k/good -o d/y.safetensors
tell checkpoint reshard k/good d/y --shards 3
tell checkpoint save m.safetensors d/y
sherd graph create -q k/h
tell graph export k/h --nodes d/n.jsonl
