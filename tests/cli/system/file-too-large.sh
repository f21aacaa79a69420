# As a disk that fills up in the middle: an error, and nothing is left.
tensors m.safetensors w:U8:1000x1000
mkdir out
(ulimit -f 200; sherd checkpoint save m.safetensors out/a --shards 2; echo $?)
(ulimit -f 200; sherd convert --json m.safetensors out/a.safetensors; echo $?)
find out
# One rank of two: its shard is taken back, the other one's waits, and the rank can come again.
tensors s.safetensors v:U8:100
rank() { sherd checkpoint save -q $1 out/r --rank $2 --world 2 --set-id 00112233445566778899aabbccddeeff; echo $?; }
(ulimit -f 200; rank m.safetensors 0)
ls out
rank s.safetensors 1
(ulimit -f 200; rank m.safetensors 0)
ls out
rank m.safetensors 0
sherd verify -q out/r && ls out
