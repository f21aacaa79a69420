"""dcp.save and dcp.load beside torch's FileSystemWriter and FileSystemReader, one process; and raw write + fsync."""

import os
import shutil
import sys
import tempfile

import sherd.dcp
import torch
import torch.distributed.checkpoint as dcp
from files import tensors
from measure import SIZES, compare, forget
from torch.distributed.checkpoint import FileSystemReader, FileSystemWriter


def main(folder):
    for size in SIZES:
        state = tensors(size)
        nbytes = sum(t.numel() * 4 for t in state.values())
        label = f"{size / 2**30:g} GiB"
        mine, theirs, raw = (os.path.join(folder, name) for name in ("ours/a", "theirs", "raw"))
        os.makedirs(os.path.dirname(mine), exist_ok=True)

        def save():
            dcp.save(state, storage_writer=sherd.dcp.Writer(mine), no_dist=True)

        def save_theirs():
            dcp.save(state, storage_writer=FileSystemWriter(theirs, sync_files=True), no_dist=True)

        def write():
            with open(raw, "wb", buffering=0) as file:
                for tensor in state.values():
                    file.write(memoryview(tensor.numpy()).cast("B"))
                os.fsync(file.fileno())

        def clear(name):
            for path in (os.path.dirname(mine), theirs):
                shutil.rmtree(path, ignore_errors=True)
                os.makedirs(path)
            if os.path.exists(raw):
                os.remove(raw)

        compare(f"dcp.save, {label}", save, {"FileSystemWriter": save_theirs}, nbytes, 2.0, before=clear)
        compare(f"dcp.save against write + fsync, {label}", save, {"write + fsync": write}, nbytes, 0.75, before=clear)
        clear("")
        save()
        save_theirs()
        target = {name: torch.zeros_like(tensor) for name, tensor in state.items()}

        def load():
            dcp.load(target, storage_reader=sherd.dcp.Reader(mine), no_dist=True)

        def load_theirs():
            dcp.load(target, storage_reader=FileSystemReader(theirs), no_dist=True)

        compare(f"dcp.load, warm, checked, {label}", load, {"FileSystemReader": load_theirs}, nbytes, 3.0)
        compare(f"dcp.load, cold, checked, {label}", load, {"FileSystemReader": load_theirs}, nbytes, 3.0,
                before=lambda name: forget(os.path.dirname(mine), theirs))
        clear("")


if __name__ == "__main__":
    scratch = tempfile.mkdtemp(dir=sys.argv[1] if len(sys.argv) > 1 else None)
    try:
        main(scratch)
    finally:
        shutil.rmtree(scratch)
