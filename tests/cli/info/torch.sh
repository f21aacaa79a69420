# A file that would run a command when Python loads it: nothing happens here, and it is named.
python3 - <<'END'
import struct, zipfile
def text(s):
    return b"X" + struct.pack("<I", len(s)) + s.encode()
storage = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text("0") + text("cpu") + b"K\x06tQ"
tensor = b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + b"K\0(K\3K\2t(K\1K\3t\x89NtR"
evil = b"cposix\nsystem\n" + text("touch pwned") + b"\x85R"
def save(name, body):
    with zipfile.ZipFile(name, "w") as z:
        z.writestr("m/data.pkl", b"\x80\2" + body)
        z.writestr("m/data/0", struct.pack("<6f", *range(6)))
        z.writestr("m/version", "3\n")
save("evil.pt", b"}(" + text("layer") + b"}(" + text("w") + tensor + b"u" + text("epoch") + b"K\3" + text("x") + evil + b"u.")
save("broken.pt", evil + b"0\xff.")
open("alone.pkl", "wb").write(b"\x80\2" + evil + b".")
open("page.pt", "wb").write(b"\x80\2c__builtin__\neval\n" + text("1") + b"\x85R.")
END
sherd info evil.pt
sherd info --json evil.pt
sherd cat evil.pt layer.w
sherd verify evil.pt
for f in broken.pt alone.pkl page.pt; do
	sherd info $f
	echo $?
	sherd verify $f
	echo $?
done
sherd convert evil.pt w.safetensors
sherd cat w.safetensors layer.w
ls
