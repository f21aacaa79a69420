# BF16: 1, -2, 0.1 rounded, inf, nan, smallest. E4M3: 1, 448, NaN, smallest, -0. E5M2: 1, 57344, inf, nan, smallest.
tensors m.safetensors bf:BF16:6=#803f00c0cd3d807fc07f0100 e4:F8_E4M3:5=#387e7f0180 e5:F8_E5M2:5=#3c7b7c7d01 h:F16:4=#007c00fc017e0100
for name in bf e4 e5 h; do
	sherd cat m.safetensors $name
	sherd cat --json m.safetensors $name
done
