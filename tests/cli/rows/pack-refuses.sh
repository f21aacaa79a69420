tensors m.safetensors a:F32:2x2 wide:F32:1x3 v:F32:3 i:I32:2x2 none:F32:0x2 flat:F32:2x0
try() {
	sherd rows pack m.safetensors out "$@"
	echo "$? $*"
}
try
try --tensor v
try --tensor i
try --tensor none
try --tensor flat
try --tensor nobody
try --tensor a --tensor wide
try --tensor a --rows-per-shard 0
try --tensor a --rows-per-shard x
try --tensor a --dtype f16
sherd rows pack nothing out
echo $?
sherd rows pack m.safetensors
echo $?
ls
