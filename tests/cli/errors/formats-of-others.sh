# T-1: files of other programs are named, with what to do; exit 1, and nothing is called damaged.
python3 - <<'END'
import zipfile
def archive(name, entries, **options):
    with zipfile.ZipFile(name, "w", **options) as z:
        for entry in entries:
            with z.open(entry, "w", force_zip64=True) as f:  # as numpy writes them
                f.write(b"x" * 100)
archive("m.keras", ["config.json", "model.weights.h5"])
archive("d.zip", ["configuration.json", "coefficients.bin"])
archive("other.zip", ["readme.txt"])
open("m.h5", "wb").write(b"\x89HDF\r\n\x1a\n" + bytes(100))
open("lfs.safetensors", "w").write("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n")
open("page.safetensors", "w").write("<!DOCTYPE html>\n<html></html>\n")
open("empty.safetensors", "w").close()
END
mkdir z && echo '{"zarr_format": 2}' >z/.zgroup
for f in m.keras d.zip other.zip m.h5 lfs.safetensors page.safetensors empty.safetensors z; do
	sherd info $f
	echo "info $?"
	sherd verify $f
	echo "verify $?"
done
sherd convert m.keras x.safetensors
sherd --json info m.keras
