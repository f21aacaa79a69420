# Without UTF-8 the plot is made of what ASCII has.
tensors a.safetensors w:F32:100 same:F32:3=2,2,2 nan:F32:1=nan none:F32:0 text:X9:1=#01
sherd stats a.safetensors --hist
LC_ALL=C.UTF-8 sherd stats a.safetensors --hist w
sherd stats a.safetensors --hist --json w | field '[len(d["tensors"][0]["histogram"]), sum(d["tensors"][0]["histogram"])]'
