"""What Python programs take to look at the same tensors, when bench/bench_look.c asks: look.py FILE.safetensors

Reads lines: "numpy" (minimum, maximum, mean and deviation of every tensor), "safetensors" (names and shapes, by a new
process, beside sherd info), "gguf-dump" (the same of a GGUF file that is made here). Answers one line, or "none" when that
is not installed."""

import importlib.util
import json
import os
import shutil
import struct
import subprocess
import sys
import time

PATH = sys.argv[1]
SHERD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "build", "release", "sherd")


def heads():
    with open(PATH, "rb") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        head = json.loads(file.read(length))
    return 8 + length, {k: v for k, v in head.items() if k != "__metadata__"}


def seconds_of(words):
    best = None
    for _ in range(5):
        start = time.monotonic()
        subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        took = time.monotonic() - start
        best = took if best is None else min(best, took)
    return best


def by_numpy():
    import numpy

    base, tensors = heads()
    whole = numpy.memmap(PATH, dtype="<f4", mode="r", offset=base) if base % 4 == 0 else numpy.fromfile(PATH, "<f4", offset=base)
    start, total = time.monotonic(), 0
    for tensor in tensors.values():
        begin, end = tensor["data_offsets"]
        values = whole[begin // 4 : end // 4]
        _ = values.min(), values.max(), values.mean(dtype="f8"), values.std(dtype="f8")
        total += end - begin
    return f"min, max, mean, std {total / (time.monotonic() - start) / 1e9:.2f} GB/s"


def by_safetensors():
    code = ("import sys; from safetensors import safe_open; f = safe_open(sys.argv[1], 'np');"
            "print([(k, f.get_slice(k).get_shape()) for k in f.keys()])")
    theirs, ours = seconds_of([sys.executable, "-c", code, PATH]), seconds_of([SHERD, "info", PATH])
    return f"names and shapes {theirs * 1e3:.1f} ms, sherd info {ours * 1e3:.1f} ms"


def by_gguf_dump():
    program = shutil.which("gguf-dump", path=os.path.dirname(sys.executable)) or shutil.which("gguf-dump")
    if not program:
        return "none"
    made = PATH + ".gguf"
    subprocess.run([SHERD, "convert", PATH, made, "--quiet", "--replace"], check=True)
    try:
        theirs, ours = seconds_of([program, made]), seconds_of([SHERD, "info", made])
    finally:
        os.unlink(made)
    return f"names and shapes {theirs * 1e3:.1f} ms, sherd info {ours * 1e3:.1f} ms"


def main():
    needs = {"numpy": ("numpy", by_numpy), "safetensors": ("safetensors", by_safetensors), "gguf-dump": ("gguf", by_gguf_dump)}
    for line in sys.stdin:
        package, run = needs[line.strip()]
        print(run() if importlib.util.find_spec(package) else "none", flush=True)


if __name__ == "__main__":
    main()
