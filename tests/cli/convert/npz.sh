# Archives of NumPy: written stored and deflated, read by every command, damage told with the member.
model m.safetensors
sherd convert m.safetensors a.npz
sherd convert -q m.safetensors b.npz --compress deflate # its length may differ between processors
sherd convert m.safetensors c --to npz --compress deflate:9 -q
for f in a.npz b.npz c; do
	sherd info $f
	sherd verify -q $f && echo fine
	sherd convert -q $f back.safetensors --replace
	sherd cat $f ids --format npy | cmp - <(sherd cat m.safetensors ids --format npy)
	sherd cat $f embed --format raw | cmp - <(sherd cat m.safetensors embed --format raw)
done
python3 - <<'END'
import zipfile
with zipfile.ZipFile("a.npz") as z:
    print(z.testzip(), [(m.filename, m.compress_type) for m in z.infolist()])
    raw = bytearray(open("a.npz", "rb").read())
    raw[raw.index(b"\x93NUMPY") + 130] ^= 1
    open("bad.npz", "wb").write(raw)
    open("cut.npz", "wb").write(raw[:-30])
with zipfile.ZipFile("mixed.npz", "w") as z:
    for name, data in (("w.npy", zipfile.ZipFile("a.npz").read("ids.npy")), ("notes.txt", b"hello\n")):
        z.writestr(name, data)
with zipfile.ZipFile("many.npz", "w", zipfile.ZIP_DEFLATED) as z:
    for i in range(1200):
        z.writestr(f"{i}.npy", zipfile.ZipFile("a.npz").read("ids.npy"))
with zipfile.ZipFile("none.npz", "w"):
    pass
END
sherd info mixed.npz
sherd cat mixed.npz notes.txt --format raw
sherd info none.npz
sherd verify -q many.npz && echo fine
sherd convert many.npz many.safetensors
sherd verify bad.npz
echo $?
sherd convert bad.npz x.safetensors
echo $?
sherd verify cut.npz
echo $?
sherd convert m.safetensors a.npz
echo $?
sherd convert m.safetensors a.npz --replace
sherd convert m.safetensors a.npy --to npz --shards 2
echo $?
ls
