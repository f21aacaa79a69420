tensors a.safetensors $'line\nbreak:F32:1' $'\e[31mred:F32:1' $'\xe2\x80\xaeturn:F32:1' '"quote"</script>:F32:1' ':F32:1'
tensors b.safetensors x:F32:1
sherd diff a.safetensors b.safetensors
echo "exit $?"
sherd diff a.safetensors b.safetensors --json | field 'sorted([x["name"] for x in d["differences"]])'
