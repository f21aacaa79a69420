# A folder of several files of torch.save(): each is looked at, and the index is held against them, both ways.
model raw.safetensors
sherd convert -q raw.safetensors m.safetensors
mkdir folder
sherd convert -q m.safetensors folder/pytorch_model-1.bin --to torch --match ids
sherd convert -q m.safetensors folder/pytorch_model-2.bin --to torch --match embed
index() { printf '{"metadata": {}, "weight_map": {%s}}' "$1" > folder/pytorch_model.bin.index.json; }
check() {
	sherd verify folder 2>&1 | sed 's/, [0-9.]* [KiB]* checked/, some checked/'
	echo "${PIPESTATUS[0]}"
}
both='"ids": "pytorch_model-1.bin", "embed": "pytorch_model-2.bin"'
index "$both"
check
echo "--- named, and in no file"
index "$both, \"other\": \"pytorch_model-2.bin\""
check
sherd info folder 2>&1
echo "--- in a file, and not named"
sherd convert -q m.safetensors folder/pytorch_model-3.bin --to torch
index '"ids": "pytorch_model-3.bin"'
check
echo "--- two files damaged, one missing"
python3 - <<'END'
for name in ("folder/pytorch_model-1.bin", "folder/pytorch_model-2.bin"):
    data = bytearray(open(name, "rb").read())
    data[data.index(b"/data/0") + 200] ^= 1
    open(name, "wb").write(data)
END
index "$both, \"other\": \"pytorch_model-4.bin\""
check
echo "--- a folder that is called a file"
ln -s . folder/again
index '"ids": "again"'
check
