# Every refusal names the file and the byte.
set-of-rows good
try() { # try NAME SHARD-ARGUMENTS...
	rm -rf set && cp -r good set && shard set/e.shard "${@:2}"
	sherd rows info set
	echo "$1 $?"
	sherd rows info set --json | field '[d["error"].get(k) for k in ("object", "offset", "code")]'
}
try magic 1x3 0 magic=47414d5341453032
try dtype 1x3 0 dtype=7
try cut 2x3 0 cut=1
try short 0x3 0 cut=1
try overflow 1x3 0 rows=9223372036854775807
try product 1x3 0 rows=4294967296 width=4294967296
try width 1x4
try zero-width 1x3 0 width=0
mkdir empty && sherd rows info empty
echo $?
mkdir no-rows && shard no-rows/a.shard 0x3 && sherd rows stream no-rows
echo $?
sherd rows info nothing
echo $?
tensors a.npy x:F32:2x2
for command in info stream cat; do
	sherd rows $command a.npy
	echo $?
done
