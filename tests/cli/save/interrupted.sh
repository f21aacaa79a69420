# The process is told to stop while it writes 300 MB: it ends with 130 and leaves nothing.
python3 - <<'P'
import json, os, signal, struct, subprocess, time
n = 300 << 20
text = json.dumps({"w": {"dtype": "U8", "shape": [n], "data_offsets": [0, n]}}).encode()
with open("big.safetensors", "wb") as f:
    f.write(struct.pack("<Q", len(text)) + text)
    f.truncate(8 + len(text) + n)
for number in (signal.SIGINT, signal.SIGTERM):
    saving = subprocess.Popen(["sherd", "checkpoint", "save", "big.safetensors", "out/a", "--workers", "1"],
                              stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    while not os.path.exists("out/a.saving") and saving.poll() is None:
        time.sleep(0.001)
    saving.send_signal(number)
    _, said = saving.communicate()
    print(saving.returncode, said.decode().strip(), os.listdir("out") if os.path.exists("out") else [])
P
