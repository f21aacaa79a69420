"""Saves tensors as Python programs do, when bench/peers.c asks: peers.py MEMORY BYTES TENSOR_BYTES FOLDER

Reads lines "version PEER" (answers its version, or nothing when it is not installed) and "save PEER" (saves all
tensors to one file, syncs file and folder, answers the seconds, removes the file). The tensors are views of MEMORY."""

import importlib
import mmap
import os
import sys
import time

MEMORY, BYTES, EACH, FOLDER = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
COLUMNS = 4096


def arrays():
    import numpy

    with open(MEMORY, "rb") as file:
        view = mmap.mmap(file.fileno(), BYTES, prot=mmap.PROT_READ)
    whole = numpy.frombuffer(view, dtype="<f4").reshape(-1, EACH // 4 // COLUMNS, COLUMNS)
    return {f"model.layers.{i}.mlp.weight": whole[i] for i in range(whole.shape[0])}


def torch_tensors():
    import warnings

    import torch

    warnings.simplefilter("ignore")  # the memory is read-only, and nobody writes to it
    return {name: torch.from_numpy(array) for name, array in arrays().items()}


def save_numpy(path):
    import numpy

    tensors = arrays()
    return lambda: numpy.savez(path, **tensors)


def save_safetensors(path):
    import safetensors.numpy

    tensors = arrays()
    return lambda: safetensors.numpy.save_file(tensors, path)


def save_torch(path):
    import torch

    tensors = torch_tensors()
    return lambda: torch.save(tensors, path)


SAVERS = {"numpy": save_numpy, "safetensors": save_safetensors, "torch": save_torch}


def sync(path):
    handle = os.open(path, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)


def save(peer):
    path = os.path.join(FOLDER, f"peer_{peer}.npz")
    run = SAVERS[peer](path)
    start = time.monotonic()
    run()
    sync(path)
    sync(FOLDER)
    seconds = time.monotonic() - start
    os.remove(path)
    return f"{seconds:.6f}"


def version(peer):
    if peer == "python":
        return sys.version.split()[0]
    try:
        importlib.import_module("numpy")
        return importlib.import_module(peer).__version__
    except ImportError:
        return ""


def main():
    for line in sys.stdin:
        verb, peer = line.split()
        print(save(peer) if verb == "save" else version(peer), flush=True)


if __name__ == "__main__":
    main()
