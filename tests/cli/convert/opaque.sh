# T-2: a type that nobody here knows is kept by its name.
tensors m.safetensors a:F32:2 'b:I4:3x5=#0102030405' $'c:x\e[1m:0=#06' @k=v
sherd info m.safetensors
sherd info --json m.safetensors | field 'd["tensors"]'
sherd verify -q m.safetensors
sherd cat m.safetensors b
echo $?
sherd cat m.safetensors b --format raw | od -An -tx1
sherd cat m.safetensors b --format raw --range 0:1
echo $?
sherd convert -q m.safetensors s.safetensors
for to in k.metadata.json c.sdc i.safetensors.index.json; do
	sherd convert -q m.safetensors $to
	sherd verify -q $to
	sherd convert -q $to back.safetensors --replace --drop-metadata
	for name in a b c; do
		cmp <(sherd cat back.safetensors $name --format raw) <(sherd cat m.safetensors $name --format raw)
	done
done
sherd checkpoint reshard -q k l --shards 2 --cut && sherd verify -q l
sherd info l | tail -4
for to in x.npz x.sdnb x.fb x/; do
	sherd convert m.safetensors $to
	echo $?
done
ls
