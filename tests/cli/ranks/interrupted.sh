# Ctrl-C of one rank: it ends with 130, takes its own shard back, and leaves what other ranks saved, and their claim.
python3 - <<'P'
import fcntl, json, os, signal, struct, subprocess, time

N = 150 << 20
ID = "00000000000000000000000000000001"


def source(name, size):
    text = json.dumps({name: {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}).encode()
    with open(f"{name}.safetensors", "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        f.truncate(8 + len(text) + size)


def rank(name, number, prefix):
    return ["sherd", "checkpoint", "save", f"{name}.safetensors", prefix, "--rank", str(number), "--world", "2",
            "--set-id", ID, "--workers", "1"]


def is_held(claim):
    with open(claim) as f:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def interrupt(name, number, prefix, begun):
    saving = subprocess.Popen(rank(name, number, prefix), stderr=subprocess.PIPE,
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    while not begun() and saving.poll() is None:
        time.sleep(0.001)
    saving.send_signal(signal.SIGINT)
    _, said = saving.communicate()
    folder = os.path.dirname(prefix)
    print(saving.returncode, said.decode().strip(), sorted(os.listdir(folder)) if os.path.exists(folder) else [])


source("big", N)
source("small", 100)
interrupt("big", 0, "alone/a", lambda: os.path.exists("alone/a.saving"))
subprocess.run(rank("small", 0, "two/a"), check=True)
interrupt("big", 1, "two/a", lambda: is_held("two/a.saving"))
source("other", 200)
subprocess.run(rank("other", 1, "two/a"), check=True)
P
sherd verify two/a
ls two
