tensors a.safetensors w:F32:2x3 all.nan:F32:3=nan,nan,nan none:F32:0x4 scalar:F64:=2.5 half:F16:4=1,0,0,inf bits:BOOL:3=1,0,1 \
	big:I64:2=-9007199254740993,5 c:C64:1=#0000803f000000c0 f8:F8_E4M3:2=#387f f4:F4:4=#2132 unknown:X9:2=#0102
sherd stats a.safetensors
sherd stats a.safetensors '*.nan'
sherd stats a.safetensors nan
sherd stats a.safetensors w --json
sherd stats a.safetensors all.nan --json | field '[d["tensors"][0]["min"], d["tensors"][0]["quantiles"]["0.5"], d["nan"]]'
sherd stats a.safetensors unknown --json | field 'd["tensors"]'
sherd stats a.safetensors 'x*'
echo "exit $?"
sherd stats a.safetensors scalr
echo "exit $?"
