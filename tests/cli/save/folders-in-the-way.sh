# Folders that have the names of a checkpoint's objects.
model m.safetensors
for object in x.saving x_shard_0.shard x.metadata.json; do
	mkdir $object
	sherd checkpoint save m.safetensors x
	echo "exit $?"
	rmdir $object
	ls
done
mkdir x
sherd checkpoint save -q m.safetensors x && sherd verify x
