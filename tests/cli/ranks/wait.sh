id=00112233445566778899aabbccddeeff
tensors r0.safetensors a:F32:2x2
tensors r1.safetensors b:F32:2x2
sherd checkpoint wait p --timeout 0
echo $?
sherd checkpoint save -q r0.safetensors p --rank 0 --world 2 --set-id $id
sherd checkpoint wait p --timeout 0 2>&1 | sed 's/last one .* ago/last one a moment ago/'
(sleep 0.3; sherd checkpoint save -q r1.safetensors p --rank 1 --world 2 --set-id $id) &
sherd checkpoint wait p --timeout 1m
echo $?
sherd checkpoint wait --json p --timeout 1m --set-id $id
sherd checkpoint wait p --timeout 0 --set-id ffeeddccbbaa99887766554433221100
echo $?
sherd checkpoint wait p --timeout never
echo $?
