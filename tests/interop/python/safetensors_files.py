#!/usr/bin/env python3
"""safetensors files of the real package, every type that torch has for it, both ways."""

import safetensors
import safetensors.torch
import torch

from _sherd import info, need, raw, sherd, tensors

TYPES = {
    torch.bool: "BOOL", torch.uint8: "U8", torch.int8: "I8", torch.uint16: "U16", torch.int16: "I16",
    torch.uint32: "U32", torch.int32: "I32", torch.uint64: "U64", torch.int64: "I64", torch.float16: "F16",
    torch.bfloat16: "BF16", torch.float32: "F32", torch.float64: "F64", torch.float8_e4m3fn: "F8_E4M3",
    torch.float8_e5m2: "F8_E5M2", torch.float8_e8m0fnu: "F8_E8M0", torch.float8_e4m3fnuz: "F8_E4M3FNUZ",
    torch.float8_e5m2fnuz: "F8_E5M2FNUZ", torch.complex64: "C64", torch.float4_e2m1fn_x2: "F4",
}
SHAPES = [(), (0,), (1,), (5,), (2, 0), (3, 4), (2, 3, 4)]


def tensor(dtype, shape):
    size = torch.empty((), dtype=dtype).element_size()
    count = 1
    for n in shape:
        count *= n
    data = torch.arange(count * size, dtype=torch.int64).mul(37).add(count).to(torch.uint8)
    if dtype is torch.bool:
        data = data % 2
    return data.view(dtype).reshape(shape) if count else torch.empty(shape, dtype=dtype)


def data_of(t):
    return t.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if t.numel() else b""


def content():
    out = {}
    for dtype in TYPES:
        for i, shape in enumerate(SHAPES):
            if dtype is torch.float4_e2m1fn_x2 and not shape:
                continue  # two elements do not make a scalar
            out[f"{TYPES[dtype]}.{i}"] = tensor(dtype, shape)
    return out


def check_read(path, out):
    found = tensors(path)
    need(set(found) == set(out), path, "other tensors", sorted(set(found) ^ set(out)))
    for name, t in out.items():
        shape = list(t.shape)
        if TYPES[t.dtype] == "F4":
            shape[-1] *= 2
        need(found[name]["dtype"] == TYPES[t.dtype], path, name, found[name]["dtype"])
        need(found[name]["shape"] == shape, path, name, found[name]["shape"])
        need(raw(path, name) == data_of(t), path, name, "other bytes")
    sherd("verify", path)


def check_loaded(path, out):
    with safetensors.safe_open(path, framework="pt") as f:
        need(set(f.keys()) == set(out), path, "other tensors")
        need(f.metadata() == {"format": "pt", "note": "gr\u00fc\u00dfe"}, path, f.metadata())
        for name, t in out.items():
            loaded = f.get_tensor(name)
            need(loaded.dtype == t.dtype and loaded.shape == t.shape, path, name)
            need(data_of(loaded) == data_of(t), path, name, "other bytes")


def check_casts(out):
    """Every float as F32, by torch's own conversion; and rounding to halves."""
    floats = {n: t for n, t in out.items() if t.dtype.is_floating_point and TYPES[t.dtype] != "F4"}
    for target, word in ((torch.float32, "F32"), (torch.float16, "F16"), (torch.bfloat16, "BF16")):
        sherd("convert", "theirs.safetensors", "cast.safetensors", "--dtype", word, "--replace", "-q")
        loaded = safetensors.torch.load_file("cast.safetensors")
        for name, t in floats.items():
            want = t.to(torch.float64).to(target) if t.dtype is not target else t
            got = loaded[name]
            same = (got == want) | (got.isnan() & want.isnan())
            need(got.dtype is target and bool(same.all()), word, name, got, want)


def main():
    out = content()
    safetensors.torch.save_file(out, "theirs.safetensors", {"format": "pt", "note": "gr\u00fc\u00dfe"})
    check_read("theirs.safetensors", out)
    sherd("convert", "theirs.safetensors", "ours.safetensors")
    with open("theirs.safetensors", "rb") as a, open("ours.safetensors", "rb") as b:
        need(a.read() == b.read(), "ours differs from theirs byte for byte")
    sherd("convert", "theirs.safetensors", "set", "--to", "checkpoint", "--shards", "3")
    sherd("convert", "set", "back.safetensors")
    check_loaded("back.safetensors", out)
    need(info("back.safetensors")["metadata"]["note"] == "gr\u00fc\u00dfe", "metadata")
    check_casts(out)


main()
