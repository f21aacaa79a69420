# Values that the type of a set cannot hold become infinite, and the command says so.
tensors a.npy x:F32:2x2=1e6,1,-1e6,2
tensors b.npy x:F32:1x2=1e6,3
tensors huge.npy x:F64:1x2=1e300,4
sherd rows pack a.npy halves --store f16
echo $?
sherd rows append b.npy halves
sherd rows append -q b.npy halves
sherd rows append b.npy halves --json | field 'd["overflowed"]'
sherd rows pack huge.npy floats
sherd rows pack a.npy exact --json | field 'd["overflowed"]'
sherd rows cat halves
sherd convert huge.npy converted --to rows
sherd convert -q huge.npy quiet --to rows
sherd convert huge.npy told --to rows --json | field 'd["overflowed"]'
tensors largest.npy x:F32:1x2=3.4e38,1
sherd convert largest.npy residual --to rows-bf16
sherd convert a.npy fine --to rows --json | field 'd["overflowed"]'
