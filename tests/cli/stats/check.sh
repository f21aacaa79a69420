tensors fine.safetensors w:F32:3
tensors nan.safetensors w:F32:3=1,nan,2 v:F32:2
tensors inf.safetensors w:BF16:2=#803f80ff
for file in fine nan inf; do
	sherd stats $file.safetensors --check --quiet >/dev/null
	echo "$file $?"
	sherd stats $file.safetensors --quiet >/dev/null
	echo "$file without --check $?"
done
sherd stats nan.safetensors v --check --quiet >/dev/null
echo "v $?"
sherd stats nan.safetensors --check --json | field '[d["nan"], d["inf"], "error" in d]'
sherd stats none.safetensors --check
echo "exit $?"
