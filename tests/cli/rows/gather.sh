# Rows by their ids, in the order given, as text, bytes, NumPy file and document.
set-of-rows set
sherd rows gather set --ids 39,0:2,39
echo "7 8,9" > ids
sherd rows gather set --ids-from ids --dtype f32 --format raw | cmp - <(sherd rows cat set --range 7:10 --format raw) && echo raw
sherd rows gather set --ids-from - --dtype f32 --format npy -o g.npy < ids
sherd cat g.npy --format raw | cmp - <(sherd rows cat set --range 7:10 --format raw) && echo npy
sherd rows gather set --ids 1 --json
try() {
	sherd rows gather set "$@"
	echo "$? $*"
}
try
try --ids ""
try --ids 40
try --ids 3:41
try --ids 5:3
try --ids 1,x
try --ids -1
try --ids 18446744073709551616
try --ids-from nowhere
try --ids 1 --format npy
try --ids 1 --format npy -o g.npy
try --ids 1 --format npy -o b.npy --dtype bf16
try --ids 1 -o x
try --ids 1 --dtype f8
try --ids 1 --verify
sherd rows gather set --ids 1 --format npy -o g.npy --replace --quiet && sherd cat g.npy
ls
