# F4: 0.5, -6, 6 and zeros. F6_E2M3: 0, 7.5, -7.5, 0.125. F6_E3M2: 0, 28, -28, 0.0625. E8M0: 1, 2^-127, 2^127, NaN.
# FNUZ: 1, the largest, NaN, the smallest.
tensors m.safetensors f4:F4:2x4=#f107a00f a:F6_E2M3:4=#c0f707 b:F6_E3M2:4=#c0f707 e:F8_E8M0:4=#7f00feff u:F8_E4M3FNUZ:4=#407f8001 v:F8_E5M2FNUZ:4=#407f8001
for name in f4 a b e u v; do
	sherd cat m.safetensors $name
	sherd cat --json m.safetensors $name
done
sherd cat m.safetensors f4 --range 1:2
sherd cat m.safetensors a --range 1:3
sherd cat m.safetensors f4 --range 1:2 --format raw | od -An -tx1
sherd cat m.safetensors a --format raw | od -An -tx1
sherd cat m.safetensors a --range 1:3 --format raw
echo $?
sherd cat m.safetensors f4 --format npy
echo $?
sherd info m.safetensors
sherd verify -q m.safetensors
sherd convert -q m.safetensors k.metadata.json --shards 2
sherd convert -q m.safetensors c.sdc
sherd convert -q m.safetensors s.safetensors
sherd convert -q k back.safetensors && cmp back.safetensors s.safetensors
for from in k c.sdc; do
	sherd verify -q $from
	for name in f4 a b e u v; do
		cmp <(sherd cat $from $name --format raw) <(sherd cat m.safetensors $name --format raw)
	done
done
sherd convert m.safetensors x.npz
echo $?
tensors r.safetensors r:F4:2x3=#f107a0
sherd cat r.safetensors r --range 0:1 --format raw
echo $?
