# By the parts of names, in natural order; layers that are equal are one line.
specs=(head:F32:3 model.embed.weight:BF16:4x2)
for i in 0 1 2 3 4 5 6 7 8 9 10; do
	specs+=("model.layers.$i.norm:F32:2" "model.layers.$i.attn.q:BF16:2x2" "model.layers.$i.experts.0.w:F32:1" "model.layers.$i.experts.1.w:F32:1")
done
tensors m.safetensors "${specs[@]}" model.layers.11.norm:F32:3 model.layers.12.norm:F32:3 only.one.path.here:U8:1 a:U8:1 a.b:U8:1 .:U8:1 01:U8:1 02:U8:1
sherd info --tree m.safetensors
sherd info --tree --match '*.attn.*' m.safetensors
sherd info --tree --sort size m.safetensors
echo "exit $?"
