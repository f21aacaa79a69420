# A folder is one thing: NumPy files beside a set of rows or in a graph database would hide it, or be hidden.
tensors m.safetensors a:F32:2x2
sherd rows pack -q m.safetensors set
sherd graph create -q db
mkdir plain && shard plain/a.shard 2x2
for folder in set db plain; do
	sherd convert m.safetensors $folder/
	echo $?
	sherd convert m.safetensors $folder --to npy-folder --replace
	echo $?
	ls $folder | grep npy
done
sherd verify set
sherd rows stream set
