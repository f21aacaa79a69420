# As a disk that fills up in the middle: an error, and nothing is left.
tensors m.safetensors w:U8:1000x1000
mkdir out
(ulimit -f 200; sherd checkpoint save m.safetensors out/a --shards 2; echo $?)
(ulimit -f 200; sherd convert --json m.safetensors out/a.safetensors; echo $?)
find out
