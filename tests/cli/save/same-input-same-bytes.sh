model m.safetensors
for where in one two; do
	sherd checkpoint save -q m.safetensors $where/a --shards 3 --cut --step 4 --workers $([ $where = one ] && echo 1 || echo 4)
	sherd convert -q m.safetensors $where/b.safetensors.index.json --shards 2
	sherd checkpoint reshard -q $where/a $where/c --shards 2
done
diff -r one two && ls one
SOURCE_DATE_EPOCH=1 sherd checkpoint save -q m.safetensors three/a --shards 3 --cut --step 4
cmp -s one/a.metadata.json three/a.metadata.json || echo another time, other bytes
sherd info --json one/a | field '[d["timestamp"], d["setId"]]'
unset SOURCE_DATE_EPOCH
sherd checkpoint save -q m.safetensors four/a
sherd checkpoint save -q m.safetensors five/a
[ "$(sherd info --json four/a | field 'd["setId"]')" != "$(sherd info --json five/a | field 'd["setId"]')" ] && echo ids differ
