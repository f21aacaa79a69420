tensors m.safetensors w:F32:30x40 v:F32:2000 thin:F32:600x2 few:F32:4x5
for name in w v thin few; do
	sherd cat m.safetensors $name --elide
done
sherd cat m.safetensors w --elide --all | wc -l
sherd cat m.safetensors w | wc -l
# What is printed is of the checkpoint too, where the ends lie in other shards.
sherd checkpoint save m.safetensors ck --shards 3 --cut --quiet
sherd cat ck w --elide | cmp - <(sherd cat m.safetensors w --elide) && echo the same
