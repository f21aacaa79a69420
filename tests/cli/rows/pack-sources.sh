# Several sources, more than two dimensions, types that are kept, and what is left of a pack that fails.
tensors a.npy x:F32:2x3x2
tensors b.npy x:F64:1x2=0.1,1e30
tensors h.safetensors p:F16:2x1x2=0.5,-2,65504,1 q:F16:1x2=3,4
sherd rows pack a.npy b.npy set && sherd rows cat set
sherd rows pack h.safetensors halves && ls halves && sherd rows cat halves
sherd rows info halves --json | field '[d["dtype"], d["rows"], d["bytes"]]'
sherd verify halves
sherd rows pack h.safetensors as-f32 --store f32 && sherd rows cat as-f32
sherd rows pack a.npy h.safetensors as-bf16 --store bf16 && sherd rows cat as-bf16
sherd rows pack -q h.safetensors a.npy mixed --json | field 'd["dtype"]'
sherd convert -q halves back.npy && sherd info back.npy --json | field 'd["tensors"][0]["dtype"]'
rm halves/rows.manifest.json
sherd rows cat halves
echo $?
echo "what fails leaves nothing"
tensors m.safetensors v:F32:3
sherd rows pack m.safetensors deep/er/set
echo $?
sherd rows pack a.npy m.safetensors deep/er/set
echo $?
sherd rows pack a.npy h.safetensors/set
echo $?
sherd rows pack a.npy h.safetensors
echo $?
sherd rows pack a.npy h.safetensors --json | field 'd["error"]["code"]'
sherd rows pack a.npy deep/er/set --rows-per-shard 0
echo $?
mkdir kept && sherd rows pack m.safetensors kept
ls
