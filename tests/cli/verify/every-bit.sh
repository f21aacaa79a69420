# No flipped bit of a small set goes unnoticed; bytes that are cut off or added do not either.
tensors m.safetensors w:U8:3
sherd checkpoint save -q m.safetensors s
python3 - <<'P'
import os, pathlib, subprocess
seen = missed = 0
for name in ("s.metadata.json", "s_shard_0.shard"):
    path = pathlib.Path(name)
    good = path.read_bytes()
    bad = [good[:i] + bytes([good[i] ^ 1 << (i % 8)]) + good[i + 1:] for i in range(0, len(good), 7)]
    bad += [good[:-1], good[:len(good) // 2], good + b"\0", b""]
    for data in bad:
        path.write_bytes(data)
        done = subprocess.run(["sherd", "verify", "--quiet", "s"], capture_output=True)
        seen += 1
        if done.returncode != 1 or not done.stderr.startswith(b"sherd: s"):
            missed += 1
            print(name, len(data), done)
    path.write_bytes(good)
print("missed", missed, "of more than 100:", seen > 100)
P
sherd verify s
