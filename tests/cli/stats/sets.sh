# Of all formats the same, whatever the number of shards and workers.
tensors m.safetensors a:F32:300x70 b:F32:16 c:I32:2x3x5
sherd checkpoint save m.safetensors ck --shards 3 --quiet
sherd convert m.safetensors m.sdc --compress deflate --quiet
sherd stats m.safetensors --json | field 'sorted([[t["name"], t["mean"], t["deviation"], t["quantiles"]] for t in d["tensors"]])' >want
for path in m.safetensors ck m.sdc; do
	for workers in 1 3; do
		sherd stats $path --workers $workers --json |
			field 'sorted([[t["name"], t["mean"], t["deviation"], t["quantiles"]] for t in d["tensors"]])' | cmp - want
	done
done
sherd stats ck
set-of-rows r 3 5 2
sherd stats r
flip ck_shard_0.shard -300
sherd stats ck
echo "exit $?"
