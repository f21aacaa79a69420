#!/usr/bin/env python3
"""Folders of the real torch.distributed.checkpoint, saved by one process and by several with sharded tensors, read here;
ours loaded there. Every type, every value."""

import ctypes
import os
import warnings

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.multiprocessing as mp
from torch.distributed.checkpoint.format_utils import dcp_to_torch_save
from torch.distributed.tensor import Replicate, Shard, distribute_tensor, init_device_mesh

from _sherd import info, need, raw, sherd, tensors

warnings.filterwarnings("ignore")

TYPES = ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "bfloat16",
         "float32", "float64", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu",
         "complex64", "complex128"]


def of_type(name, shape=(3, 4)):
    dtype = getattr(torch, name)
    bits = torch.randint(0, 2 if name == "bool" else 256, (*shape, dtype.itemsize), dtype=torch.uint8)
    return bits.view(dtype).squeeze(-1)


def data(tensor):
    plain = tensor.detach().contiguous().clone()
    return ctypes.string_at(plain.data_ptr(), plain.nbytes)


def whole():
    """The tensors before they are sharded; the same in every process."""
    x = torch.arange(7 * 10, dtype=torch.float32).reshape(7, 10)
    return {"rows": x, "columns": x + 100, "same": x + 200, "flat": torch.arange(11), "cube": torch.arange(60).reshape(3, 4, 5)}


def save_ranks(rank, world, port, path):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    mesh = init_device_mesh("cpu", (world,))
    ways = {"rows": Shard(0), "columns": Shard(1), "same": Replicate(), "flat": Shard(0), "cube": Shard(2)}
    state = {"model": {name: distribute_tensor(t, mesh, [ways[name]]) for name, t in whole().items()},
             "step": 7, "name": "run", "optimizer": {"param_groups": [{"lr": 0.1, "betas": (0.9, 0.99)}]}}
    dcp.save(state, checkpoint_id=path)
    dist.destroy_process_group()


def check(path, wanted):
    found = tensors(path)
    need(info(path)["format"] == "dcp", path, info(path)["format"])
    need(set(found) == set(wanted), path, "other names", list(found))
    for name, tensor in wanted.items():
        need(found[name]["shape"] == list(tensor.shape), path, name, found[name])
        need(raw(path, name) == data(tensor), path, name, "other values")
    sherd("verify", path)


def check_ours(path, wanted):
    """Written again here, in two files, dcp.load() takes it."""
    sherd("convert", path, "ours", "--to", "dcp", "--shards", "2", "--replace")
    check("ours", wanted)
    loaded = {name: torch.empty_like(t).copy_(t) for name, t in wanted.items()}
    for t in loaded.values():
        t.view(torch.uint8).zero_() if t.ndim else None
    dcp.load(loaded, checkpoint_id="ours")
    for name, tensor in wanted.items():
        need(data(loaded[name]) == data(tensor), path, name, "dcp.load() has other values")
    dcp_to_torch_save("ours", "ours.pt")
    for name, tensor in wanted.items():
        need(data(torch.load("ours.pt", weights_only=True)[name]) == data(tensor), name, "by way of torch.save()")


def main():
    state = {name: of_type(name) for name in TYPES}
    state["scalar"] = torch.tensor(3.5)
    state["empty"] = torch.empty(0, 4)
    dcp.save(state, checkpoint_id="types")
    check("types", state)
    check_ours("types", state)
    for world in (1, 2, 3, 4):
        path = f"ranks{world}"
        mp.spawn(save_ranks, (world, 29600 + os.getpid() % 300 + world, path), nprocs=world)
        wanted = {f"model.{name}": t for name, t in whole().items()}
        check(path, wanted)
        metadata = info(path)["metadata"]
        need(metadata["step"] == "7" and metadata["name"] == "run", path, metadata)
        need(metadata["optimizer.param_groups.0.lr"] == "0.1", path, metadata)
    check_ours("ranks3", wanted)


if __name__ == "__main__":
    main()
