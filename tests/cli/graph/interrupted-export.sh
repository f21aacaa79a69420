# Cut off while it writes, an export or a conversion leaves no file.
python3 -c '
for i in range(60000): print("{\"id\":%d,\"file\":\"src/d%d/f%d.js\",\"metadata\":\"%s\"}" % (i, i % 40, i % 400, "x" * 200))' >n.jsonl
sherd graph create -q db && sherd graph import -q db --nodes n.jsonl
python3 - <<'P'
import os, signal, subprocess, time

def start(command):
    return subprocess.Popen(["sherd"] + command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

def cut_off(command):
    """Ends the command half-way, by how long it takes when nobody does."""
    for attempt in range(60):
        began = time.monotonic()
        start(command).communicate()
        whole = time.monotonic() - began
        os.unlink("out")
        work = start(command)
        time.sleep(whole * (0.5 + 0.4 * (attempt % 3 - 1)))
        work.send_signal(signal.SIGINT)
        said = work.communicate()[1].decode().strip()
        if work.returncode == 130:
            return work.returncode, said
        if os.path.exists("out"):
            os.unlink("out")
    return "was never in time"

print(cut_off(["graph", "export", "db", "--nodes", "out"]), sorted(os.listdir(".")))
print(cut_off(["convert", "db", "out", "--to", "jsonl"]), sorted(os.listdir(".")))
P
