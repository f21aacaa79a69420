# One that cannot be shown does not hide the others.
tensors a.safetensors w:F32:2
tensors b.npy w:F32:2
sherd info a.safetensors none b.npy
echo "exit $?"
sherd info a.safetensors none b.npy --json | field '[[p["path"], p.get("format"), p.get("error", {}).get("code")] for p in d["paths"]]'
sherd info a.safetensors b.npy --json | field 'len(d["paths"])'
echo "exit $?"
