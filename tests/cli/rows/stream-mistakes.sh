set-of-rows set
try() {
	sherd rows stream set "$@"
	echo "$? $*"
}
try --batch 0
try --batch -1
try --batch 18446744073709551616
try --batch 4x
try --batch-bytes 0
try --batch-bytes 1Q
try --batch-bytes 99999999999999999T
try --batch 1 --batch-bytes 1
try --from 41
try --from x
try --from 1 --resume x
try --epoch 1 --resume x
try --epoch x
try --rank 0
try --world 2
try --rank 2 --world 2
try --tail pad
try --rank 0 --world 1 --tail none
try --sample 1.5
try --sample -0.1
try --sample nan
try --shuffle
try --shuffle x
try --shuffle -1
try --shuffle-window 5
try --shuffle 1 --shuffle-window 0
try --dtype f16
try --window 0
try --window 1KB
try --access magic
try --limit-batches 0
try --format npy
try --digest --set-digest
try --digest --format raw
try --ids
try --json --format raw
try --json --batch 0
