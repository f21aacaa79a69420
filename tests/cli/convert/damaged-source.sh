# What is copied gets new checksums: damage in a source that has checksums is told, and nothing is written.
tensors m.safetensors a:F32:4x2 b:F32:4x2
sherd convert -q m.safetensors arrays/
sherd rows pack -q m.safetensors set --rows-per-shard 4
flip arrays/b.npy -3
flip set/part-00001.shard -3
sherd convert arrays x.safetensors
echo $?
sherd rows pack arrays more
echo $?
sherd cat arrays a | tail -n 1
sherd convert set x.safetensors
echo $?
sherd rows pack set more
echo $?
sherd checkpoint save set ck
echo $?
tensors n.npy x:F32:1x2
sherd rows pack -q n.npy other && sherd rows append set other
echo $?
sherd cat set rows --range 0:4 | tail -n 1
ls
echo "what can be had is had without the manifest"
sherd cat arrays/b.npy | tail -n 1
sherd rows stream set --format text | tail -n 1
