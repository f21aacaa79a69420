tensors m.safetensors b10:F32:4 b9:F32:8 a:U8:3 b9x:F32:8
sherd info --sort name m.safetensors
sherd info --sort size --match 'b*' m.safetensors
sherd info --sort stored --flat m.safetensors
sherd info --match 'b*' --json m.safetensors | field '[t["name"] for t in d["tensors"]]'
sherd info --match z m.safetensors
echo "exit $?"
sherd info --sort weight m.safetensors
echo "exit $?"
sherd convert m.safetensors set --to safetensors-index --shards 2 --quiet
sherd info set
sherd info --files set
sherd info --files --json set | field '[[t["name"], t["file"]] for t in d["tensors"]]'
sherd info --json set | field '"file" in d["tensors"][0]'
