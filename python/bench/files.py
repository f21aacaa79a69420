"""load_file and save_file beside safetensors and torch. Loading counts until every byte was read once."""

import os
import shutil
import sys
import tempfile

import safetensors.torch
import sherd.torch
import torch
from measure import SIZES, compare, forget


def tensors(size):
    count = max(1, size >> 26)
    return {f"layer{i}.weight": torch.randn(size // count // 4) for i in range(count)}


def touch(loaded):
    for tensor in loaded.values():
        tensor.sum()


def sync(path):
    file = os.open(path, os.O_RDONLY)
    os.fsync(file)
    os.close(file)


def main(folder):
    for size in SIZES:
        state = tensors(size)
        nbytes = sum(t.numel() * 4 for t in state.values())
        path, plain = os.path.join(folder, "m.safetensors"), os.path.join(folder, "m.pt")
        safetensors.torch.save_file(state, path)
        torch.save(state, plain)
        label = f"{size / 2**30:g} GiB"

        def ours():
            sherd.torch.load_file(path)

        def theirs():
            touch(safetensors.torch.load_file(path))

        def pickled():
            torch.load(plain, weights_only=True)

        compare(f"load_file, warm, {label}", ours, {"safetensors": theirs, "torch.load": pickled}, nbytes, 1.0)
        compare(f"load_file, cold, {label}", ours, {"safetensors": theirs, "torch.load": pickled}, nbytes, 1.5,
                before=lambda name: forget(path, plain))

        out = os.path.join(folder, "out")

        def save():
            sherd.torch.save_file(state, out)

        def save_theirs():
            safetensors.torch.save_file(state, out)
            sync(out)

        def save_torch():
            torch.save(state, out)
            sync(out)

        compare(f"save_file, durable, {label}", save, {"safetensors": save_theirs, "torch.save": save_torch}, nbytes, 2.0,
                before=lambda name: os.path.exists(out) and os.remove(out))
        for name in (path, plain, out):
            os.remove(name)


if __name__ == "__main__":
    scratch = tempfile.mkdtemp(dir=sys.argv[1] if len(sys.argv) > 1 else None)
    try:
        main(scratch)
    finally:
        shutil.rmtree(scratch)
