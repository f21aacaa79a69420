# Neither the format nor the number of files counts.
tensors m.safetensors a:F32:8x4 b:F32:16 c:I32:2x3x5 d:F32:
sherd checkpoint save m.safetensors ck/s1 --shards 1 --quiet
sherd checkpoint save m.safetensors ck/s3 --shards 3 --quiet
sherd convert m.safetensors big --to safetensors-index --shards 2 --quiet
sherd convert m.safetensors m.npz --quiet
sherd convert m.safetensors m.sdc --compress deflate --quiet
for one in m.safetensors ck/s1 ck/s3 big m.npz m.sdc; do
	for other in m.safetensors ck/s1 ck/s3 big m.npz m.sdc; do
		sherd diff "$one" "$other" --quiet || echo "$one and $other: $?"
	done
done
echo all were compared
# One tensor without a name of its own.
tensors x.npy x:F32:4x2
tensors y.npy y:F32:4x2
tensors one.safetensors w:F32:4x2=0,1,2,3,4,5,6,9
sherd diff x.npy y.npy
sherd diff x.npy one.safetensors
echo "exit $?"
