# The first save holds the prefix while it writes; another set has to wait, or take over.
python3 - <<'P'
import json, os, struct, subprocess, time
n = 200 << 20
text = json.dumps({"w": {"dtype": "U8", "shape": [n], "data_offsets": [0, n]}}).encode()
with open("big.safetensors", "wb") as f:
    f.write(struct.pack("<Q", len(text)) + text)
    f.truncate(8 + len(text) + n)
save = ["sherd", "checkpoint", "save", "-q", "big.safetensors", "out/a", "--workers", "1", "--set-id"]
first = subprocess.Popen(save + ["00112233445566778899aabbccddeeff"])
while not os.path.exists("out/a.saving"):
    time.sleep(0.001)
second = subprocess.run(save + ["ffeeddccbbaa99887766554433221100"], stderr=subprocess.PIPE, text=True)
print(second.returncode, second.stderr.split(": ", 1)[0], "out/a" in second.stderr)
print(first.wait(), sorted(os.listdir("out")))
P
sherd info --json out/a | field 'd["setId"]'
