# A damaged byte costs the tensor that it lies in, and nothing else: for every world size, kind of damage and format.
tensors m.safetensors a:F32:40 b:F32:30 c:F32:20 d:F32:10 @k=v
names() { sherd info "$1" | grep -oE '^[abcd] ' | tr -d '\n'; }
for world in 1 2 3 4; do
	sherd checkpoint save -q m.safetensors k$world/a --shards $world
	at=$(python3 -c "import json; print(['k$world/%s %d' % (s['filePath'], 88 + t['offset']) for s in json.load(open('k$world/a.metadata.json'))['shards'] for t in s['tensors'] if t['name'] == 'a'][0])")
	shard=${at% *}
	for kind in head short missing index; do
		test $world = 2 || test $world = 4 && continue
		cp -r k$world $kind$world
		case $kind in
		head) flip "$kind${shard#k}" 1 ;;
		short) truncate -s -20 "$kind${shard#k}" ;;
		missing) rm "$kind${shard#k}" ;;
		index) flip "$kind${shard#k}" -30 ;;
		esac
		sherd checkpoint load -q $kind$world/a -o $kind$world.safetensors --partial 2>err
		echo "$kind: $?, $(test -e $kind$world.safetensors && names $kind$world.safetensors), $(grep -c ' is lost$' err) lost"
		tail -1 err
	done
	flip $at
	sherd checkpoint load -q k$world/a -o x$world.safetensors; echo "world $world: $?"
	sherd checkpoint load -q k$world/a -o x$world.safetensors --partial; echo "$?: $(names x$world.safetensors)"
done
for out in x.safetensors.index.json x.sdc x.sdnb y.metadata.json folder/; do
	sherd checkpoint load -q k3/a -o $out --partial 2>/dev/null; echo "$out: $?, $(names $out)"
done
sherd convert -q k3/a c.safetensors --partial 2>/dev/null; names c.safetensors; echo
# by name: all of them, or nothing
sherd checkpoint load -q k4/a -o n.safetensors --partial --tensor b && names n.safetensors; echo
sherd checkpoint load -q k4/a -o o.safetensors --partial --tensor a --tensor b; echo $?
sherd checkpoint load --json k4/a -o j.safetensors --partial | field '[d["tensors"], [[l["object"], l["offset"], l["code"]] for l in d["lost"]]]'
# every rank leaves out the same
for rank in 0 1; do
	sherd checkpoint load -q k1/a -o r$rank.safetensors --partial --rank $rank --world 2 --cut 2>/dev/null; names r$rank.safetensors; echo
done
# another rank holds the same bytes: they are read there
for rank in 0 1; do sherd checkpoint save -q m.safetensors rep/a --rank $rank --world 2 --set-id 00000000000000000000000000000001; done
flip rep/a_shard_0.shard 130
sherd checkpoint load rep/a -o rep.safetensors --partial
cmp <(sherd cat m.safetensors a) <(sherd cat rep.safetensors a) && echo the same
# without an index nobody can tell which tensor of a shard is damaged
sherd checkpoint save -q m.safetensors plain/a --shards 2 --layout csharp
flip plain/a_shard_0.shard 100
sherd checkpoint load -q plain/a -o p.safetensors --partial; names p.safetensors; echo
