# Cut off while it writes, a pack leaves nothing that looks complete and is not; run again, it starts over.
python3 - <<'P'
import os, shutil, signal, subprocess, time

n, width = 1 << 20, 16
head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({n}, {width}), }}".encode()
head += b" " * (-(len(head) + 11) % 64) + b"\n"
with open("big.npy", "wb") as f:
    f.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head)
    f.truncate(10 + len(head) + n * width * 4)


def cut_off(number):
    """The status and last words of a pack that the signal reached when some shards were there."""
    for _ in range(20):
        shutil.rmtree("set", ignore_errors=True)
        packing = subprocess.Popen(["sherd", "rows", "pack", "big.npy", "set", "--rows-per-shard", "8192"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        while not os.path.exists("set/part-00003.shard") and packing.poll() is None:
            time.sleep(0.001)
        packing.send_signal(number)
        _, said = packing.communicate()
        if packing.returncode:
            return packing.returncode, said.decode().strip()
    return "was never in time"


for number in (signal.SIGINT, signal.SIGTERM):
    print(cut_off(number), os.path.exists("set"))
print(cut_off(signal.SIGKILL), "rows.packing" in os.listdir("set"), "rows.manifest.json" in os.listdir("set"))
P
for command in "rows info" "rows stream --digest" "rows cat" "info --json" "verify -q" "convert -q"; do
	sherd $command set $([ "$command" = "convert -q" ] && echo x.npy)
	echo "$? $command"
done
tensors small.npy x:F32:2x2
sherd rows pack -q small.npy set && ls -A set && sherd rows verify set
