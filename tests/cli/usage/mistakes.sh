try() { sherd "$@"; echo $?; }
try
try frobnicate
try checkpoint
try checkpoint frobnicate
try --frobnicate
try info
try info a b
try info --frobnicate a
try info --json=yes a
try cat a --range
try -x
try info -x a
try checkpoint save a b --shards 0
try checkpoint save a b --shards many
try checkpoint save a b --rank 1
try checkpoint save a b --rank 2 --world 2
try checkpoint save a b --rank 0 --world 2 --shards 3
try checkpoint save a b --layout java
try checkpoint save a b --learning-rate fast
try checkpoint load a
try checkpoint load a -o b
try checkpoint load a -o b.npy --rank 0
try checkpoint load a -o b.npy --cut
try info a --workers 0
try checkpoint repair a --set-id XYZ
