model m.safetensors
for name in a b c d; do sherd checkpoint save -q m.safetensors run/$name --shards 2; done
sherd checkpoint save -q m.safetensors run/ab
sherd checkpoint remove run/a
sherd checkpoint remove --json run/b.metadata.json run/c
sherd checkpoint remove run/a; echo $?
sherd checkpoint remove run/d_shard_0.shard; echo $?
sherd checkpoint remove run/; echo $?
sherd checkpoint remove run; echo $?
sherd checkpoint remove --json nowhere/x; echo $?
sherd checkpoint remove; echo $?
echo '{' >run/d.metadata.json
sherd checkpoint remove run/d
rm run/ab.metadata.json
sherd checkpoint remove run/ab
ls run
