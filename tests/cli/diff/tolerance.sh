tensors a.safetensors w:F32:4=1,2,3,nan
tensors b.safetensors w:F32:4=1,2.25,3,nan
tensors half.safetensors w:F16:4=1,2,3,nan
sherd diff a.safetensors b.safetensors --tolerance 0.25
echo "exit $?"
sherd diff a.safetensors b.safetensors --tolerance 0.2
echo "exit $?"
sherd diff a.safetensors b.safetensors --relative 0.125
echo "exit $?"
sherd diff a.safetensors half.safetensors
echo "exit $?"
sherd diff a.safetensors half.safetensors --any-dtype
echo "exit $?"
sherd diff a.safetensors b.safetensors --tolerance -1
echo "exit $?"
sherd diff a.safetensors b.safetensors --tolerance x
echo "exit $?"
