# Two ranks, each with its own tensors: all four are there in the end.
id=00112233445566778899aabbccddeeff
tensors r0.safetensors a:F32:2x2 b:I64:3
tensors r1.safetensors c:F32:4 d:U8:5
sherd checkpoint save r0.safetensors p --rank 0 --world 2 --set-id $id
sherd checkpoint save --json r1.safetensors p --rank 1 --world 2 --set-id $id
sherd verify p
sherd info --json p | field '[[t["name"], t["shard"]] for t in d["tensors"]]'
sherd checkpoint load -q p -o all.safetensors
for t in a b; do cmp <(sherd cat all.safetensors $t) <(sherd cat r0.safetensors $t) && echo $t; done
for t in c d; do cmp <(sherd cat all.safetensors $t) <(sherd cat r1.safetensors $t) && echo $t; done
# A rank that comes again, also after the commit: the same is fine, other bytes are not.
sherd checkpoint save r1.safetensors p --rank 1 --world 2 --set-id $id
SOURCE_DATE_EPOCH=1800000000 sherd checkpoint save --json r0.safetensors p --rank 0 --world 2 --set-id $id
sherd checkpoint save r0.safetensors p --rank 1 --world 2 --set-id $id
echo $?
sherd checkpoint save r0.safetensors p --rank 0 --world 3 --set-id $id
echo $?
ls
