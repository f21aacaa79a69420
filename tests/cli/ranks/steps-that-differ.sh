# Ranks that mean different steps are not committed with rank 0's; the one that comes later is refused and taken back.
for r in 0 1 2; do tensors r$r.safetensors w$r:F32:4 @rank=$r; done
rank() { sherd checkpoint save r$1.safetensors ${prefix:-k/a} --rank $1 --world 3 --set-id 0000000000000000000000000000000${id:-1} "${@:2}"; echo $?; }
rank 0 --step 5 --learning-rate 0.1
rank 1 --step 6
ls k
rank 1 --step 5 --epoch 1
rank 1 --step 5 --learning-rate 0.1
rank 2 --step 5 --learning-rate 0.2
rank 2 --ddp-rank 7
sherd info --json k/a | field '[d["training"], d["metadata"]]'
# whoever says nothing contradicts nobody, but for rank 0, whose word is recorded
prefix=k/b
rank 1
rank 2 --optimizer adam
rank 0 --optimizer sgd
rank 0
rank 0 --optimizer adam
sherd info --json k/b | field 'd["training"]'
# the same rank again
rank 0 --optimizer sgd
rank 0 --optimizer adam --step 3
rank 0 --optimizer adam --field x=y
rank 0 --optimizer adam
ls k
