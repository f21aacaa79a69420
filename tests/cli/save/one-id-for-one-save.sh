# With a fixed clock the id follows from what is saved: whatever differs, the id does, or shards of two saves could
# pass for one set.
model m.safetensors
tensors n.safetensors embed:F32:4x3 head:F16:2x2 ids:I64:5 scale:F64:=0.25 @format=pt @run=demo
save() { sherd checkpoint save --json "$@" | field 'd["setId"]'; }
{
	save m.safetensors a
	save n.safetensors a1/a # other values
	save m.safetensors a2/a --shards 2
	save m.safetensors a3/a --cut
	save m.safetensors a4/a --step 1
	save m.safetensors a5/a --field k=v
	save m.safetensors a6/a --learning-rate 0.5
	save m.safetensors a7/a --strategy fsdp
	SOURCE_DATE_EPOCH=1 save m.safetensors a8/a
	save m.safetensors b
} >ids
sort ids | uniq -d
wc -l <ids
# The same again is the same.
save m.safetensors again/a >>ids
sort ids | uniq -d | wc -l
