# What differs is named with its kind, in the order of the left side.
tensors a.safetensors same:F32:2x3 gone:I64:3 w:F32:2x2=1,2,3,4 shape:F32:4 type:F16:2=1,2 none:F32:0x4 nan:F32:1=nan scalar:F32:=2.5
tensors b.safetensors w:F32:2x2=1,2,3.5,4 new:U8:1 shape:F32:2x2 type:F32:2=1,2.5 same:F32:2x3 none:F32:0x4 nan:F32:1=nan scalar:F32:=2.5
sherd diff a.safetensors b.safetensors
echo "exit $?"
sherd diff a.safetensors b.safetensors --heads
echo "exit $?"
sherd diff a.safetensors b.safetensors --match 's[ac]*'
echo "exit $?"
sherd diff a.safetensors b.safetensors --quiet
echo "exit $?"
sherd diff a.safetensors a.safetensors
echo "exit $?"
sherd diff a.safetensors a.safetensors --json | field '[d["equal"], d["differences"], d["tensors"]]'
sherd diff a.safetensors b.safetensors --json | field '[[x["name"], x["kind"]] for x in d["differences"]]'
sherd diff a.safetensors b.safetensors --json | field 'd["differences"][1]["values"]'
