model m.safetensors
sherd checkpoint save -q m.safetensors a --shards 4 --cut
sherd checkpoint load -q a --tensor ids --tensor scale -o some.safetensors
sherd info --json some.safetensors | field '[t["name"] for t in d["tensors"]]'
sherd checkpoint load -q a --tensor ids -o ids.npy && sherd cat ids.npy
sherd checkpoint load a --tensor none -o x.safetensors
echo $?
sherd checkpoint load a -o x.npy
echo $?
ls
