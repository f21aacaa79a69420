# Files for torch.load(): written, read again, replaced, refused.
model m.safetensors
sherd convert m.safetensors a.pt
sherd convert m.safetensors b --to torch -q
cmp a.pt b && echo same
sherd convert -q a.pt back.safetensors
sherd convert -q m.safetensors n.safetensors
cmp n.safetensors back.safetensors && echo back
sherd cat a.pt ids --format raw | cmp - <(sherd cat m.safetensors ids --format raw)
sherd verify a.pt
sherd convert m.safetensors a.pt
echo $?
sherd convert m.safetensors a.pt --replace
python3 - <<'END'
import zipfile
with zipfile.ZipFile("a.pt") as z:
    print(z.testzip(), [m.filename for m in z.infolist()])
    raw = bytearray(open("a.pt", "rb").read())
    raw[raw.index(b"archive/data/0") + 64] ^= 1
    open("bad.pt", "wb").write(raw)
    open("cut.pt", "wb").write(raw[:-30])
END
for f in bad.pt cut.pt; do
	sherd verify $f
	echo $?
	sherd convert $f x.safetensors
	echo $?
done
sherd convert a.pt c.pth --shards 2
echo $?
ls
