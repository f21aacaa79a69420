tensors m.safetensors $'a\nb\tc\\d:F32:1' $'\e[31mred:F32:1' 'ünï:F32:1' '"quoted":U8:2' @$'k\x7f'=$'v\x01'
sherd info m.safetensors
sherd info --json m.safetensors | field '[t["name"] for t in d["tensors"]]'
sherd info --json m.safetensors | field 'd["metadata"]'
