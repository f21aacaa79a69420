tensors m.safetensors cube:I32:3x2x2 vector:I32:6 scalar:I32:=7 empty:I32:0x4 inner:I32:4x0
sherd cat m.safetensors cube
echo "--range 1:2"
sherd cat m.safetensors cube --range 1:2
echo "--range 2:"
sherd cat m.safetensors cube --range 2:
echo "vector"
sherd cat m.safetensors vector
sherd cat m.safetensors vector --range 2:5
sherd cat m.safetensors vector --range :1
sherd cat m.safetensors vector --range 3:3
sherd cat m.safetensors scalar
sherd cat m.safetensors scalar --range 0:1
sherd cat m.safetensors empty
sherd cat m.safetensors inner
sherd cat --json m.safetensors cube --range 1:2
sherd cat --json m.safetensors empty
