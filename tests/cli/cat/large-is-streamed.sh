# 64 MiB with 40 MiB of address space beyond what the program takes to start is not enough to hold it.
python3 - <<'P'
import struct, json
n = 64 << 20
text = json.dumps({"w": {"dtype": "U8", "shape": [n], "data_offsets": [0, n]}}).encode()
with open("big.safetensors", "wb") as f:
    f.write(struct.pack("<Q", len(text)) + text)
    f.truncate(8 + len(text) + n)
P
sherd cat big.safetensors --format raw --workers 1 | wc -c
sherd cat big.safetensors --range 0:2000000 | tr -d ' ' | tr -d '\n' | wc -c
sherd cat --json big.safetensors --range 0:2000000 | field 'len(d["values"])'
