tensors m.safetensors b:BOOL:3=0,1,0 u8:U8:2=0,255 i8:I8:2=-128,127 u16:U16:1=65535 i16:I16:1=-32768 \
	u32:U32:1=4294967295 i32:I32:1=-2147483648 u64:U64:1=18446744073709551615 i64:I64:1=-9223372036854775808 \
	f64:F64:4=0.1,1e300,-0.0,5e-324 f32:F32:3=0.1,3.4028235e38,1e-45 f16:F16:3=0.1,65504,6e-8 c:C64:2=#0000803f000000c00000c07f0000807f
for name in b u8 i8 u16 i16 u32 i32 u64 i64 f64 f32 f16 c; do
	echo "$name $(sherd cat m.safetensors $name)"
	echo "$name $(sherd cat --json m.safetensors $name | field 'd["values"]')"
done
