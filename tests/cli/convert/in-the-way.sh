# What is no target of ours stays, and the message says what is in the way.
model m.safetensors
sherd convert m.safetensors m.safetensors/
echo $?
mkdir d.safetensors.index.json e.safetensors
sherd convert m.safetensors d.safetensors.index.json
echo $?
sherd convert m.safetensors d.safetensors.index.json --replace
echo $?
sherd convert m.safetensors e.safetensors --replace
echo $?
sherd convert -q m.safetensors a/ && sherd convert -q m.safetensors b/ && rm b/npy.manifest.json
sherd convert m.safetensors b/ --replace
echo $?
sherd info b
echo $?
touch a/stray.npy
sherd verify a
sherd convert -q m.safetensors i.safetensors.index.json --shards 2
cp i-00001-of-00002.safetensors i-00001-of-00003.safetensors
sherd verify i
printf X | dd of=a/ids.npy bs=1 seek=130 conv=notrunc status=none
sherd verify -q a
echo $?
ls
