tensors m.safetensors good:U8:4 bad:BF16:2
sherd convert m.safetensors out/
echo $?
sherd convert m.safetensors out.npy
echo $?
ls
tensors e.safetensors a:F32:1 :F32:2
for to in o.sdc o.fb o.sdnb o.sdz
do
	sherd convert e.safetensors $to
	echo $?
done
ls
