#!/usr/bin/env python3
"""GGUF files of the real gguf package: every type of tensors and of values, splits; and ours by its reader."""

import json
import os
import pathlib

import gguf
import numpy
from gguf import GGMLQuantizationType as Type
from gguf import GGUFValueType as Value

from _sherd import info, need, raw, refused, sherd, tensors

PLAIN = {"F32": "<f4", "F16": "<f2", "BF16": "<u2", "F64": "<f8", "I8": "i1", "I16": "<i2", "I32": "<i4", "I64": "<i8"}
# The package counts two floats where ggml has two halves; no file holds this type.
OTHER_SIZE = {"Q8_1"}
DECODED = {"Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"}
VALUES = {
    "t.u8": (200, Value.UINT8), "t.i8": (-100, Value.INT8), "t.u16": (60000, Value.UINT16),
    "t.i16": (-30000, Value.INT16), "t.u32": (4000000000, Value.UINT32), "t.i32": (-2000000000, Value.INT32),
    "t.u64": (2**64 - 1, Value.UINT64), "t.i64": (-(2**63), Value.INT64), "t.f32": (0.1, Value.FLOAT32),
    "t.f64": (0.1, Value.FLOAT64), "t.inf": (float("inf"), Value.FLOAT32), "t.yes": (True, Value.BOOL),
    "t.text": ("gr\u00fc\u00dfe \"\\\n", Value.STRING), "t.empty": ("", Value.STRING),
}
ARRAYS = {
    "a.u8": ([0, 255], Value.UINT8), "a.i16": ([-1, 2], Value.INT16), "a.i32": (list(range(-5, 5)), Value.INT32),
    "a.u64": ([2**64 - 1], Value.UINT64), "a.f32": ([0.5, float("-inf")], Value.FLOAT32),
    "a.f64": ([1e300, -0.0], Value.FLOAT64), "a.bool": ([True, False], Value.BOOL),
    "a.text": (["a", "", "\u2581the", "x\ny"], Value.STRING),
}


def block_data(name, rng):
    """Rows of two blocks each; halves that are scales are finite."""
    elements, size = gguf.GGML_QUANT_SIZES[Type[name]]
    data = rng.integers(0, 256, (3, 2 * size), dtype=numpy.uint8)
    for row in data:
        for at in range(0, 2 * size, size):
            for half in {"Q4_0": (0,), "Q4_1": (0, 2), "Q5_0": (0,), "Q5_1": (0, 2), "Q8_0": (0,), "Q2_K": (80, 82),
                         "Q3_K": (108,), "Q4_K": (0, 2), "Q5_K": (0, 2), "Q6_K": (208,)}.get(name, ()):
                row[at + half + 1] &= 0xBB  # neither infinite nor NaN
    return data, (3, 2 * elements)


def content():
    rng = numpy.random.default_rng(15)
    out = {}
    for t in Type:
        if t.name in PLAIN:
            data = numpy.frombuffer(rng.bytes(6 * numpy.dtype(PLAIN[t.name]).itemsize), PLAIN[t.name]).reshape(2, 3)
            out["plain." + t.name] = (t, data, (2, 3))
        elif t.name not in OTHER_SIZE:
            data, shape = block_data(t.name, rng)
            out["block." + t.name] = (t, data, shape)
    out["four"] = (Type.F32, numpy.arange(24, dtype="<f4").reshape(1, 2, 3, 4), (1, 2, 3, 4))
    out["vector"] = (Type.F16, numpy.arange(5, dtype="<f2"), (5,))
    return out


def write(path, out, **options):
    writer = gguf.GGUFWriter(path, "llama", **options)
    writer.add_custom_alignment(64)
    for key, (value, kind) in VALUES.items():
        writer.add_key_value(key, value, kind)
    for key, (value, kind) in ARRAYS.items():
        writer.add_key_value(key, value, Value.ARRAY, sub_type=kind)
    for name, (t, data, _) in out.items():
        writer.add_tensor(name, data, raw_dtype=t)
    writer.write_header_to_file(path)
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def check_sizes():
    """Blocks have the sizes that the package has for them."""
    for t, (elements, size) in gguf.GGML_QUANT_SIZES.items():
        if t.name in OTHER_SIZE or t.name in PLAIN:
            continue
        writer = gguf.GGUFWriter("size.gguf", "llama")
        writer.add_tensor("x", numpy.zeros((1, size), numpy.uint8), raw_dtype=t)
        writer.write_header_to_file("size.gguf")
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        x = tensors("size.gguf")["x"]
        need((x["dtype"], x["shape"], x["bytes"]) == (t.name, [1, elements], size), t.name, x)


def check_read(path, out):
    found = tensors(path)
    need(list(found) == list(out), path, "other tensors", list(found))
    for name, (t, data, shape) in out.items():
        need(found[name]["dtype"] == t.name, path, name, found[name]["dtype"])
        need(tuple(found[name]["shape"]) == shape, path, name, found[name]["shape"])
        need(raw(path, name) == data.tobytes(), path, name, "other bytes")
    texts = info(path)["metadata"]
    for key, (value, kind) in {**VALUES, **ARRAYS}.items():
        array = key in ARRAYS
        text = texts[key]
        if array or kind is not Value.STRING:
            real = kind in (Value.FLOAT32, Value.FLOAT64)
            text = float(text) if key == "t.inf" else json.loads(text, parse_int=float if real else int)
        if kind in (Value.FLOAT32, Value.FLOAT64):
            dtype = numpy.float32 if kind is Value.FLOAT32 else numpy.float64
            need(numpy.array(text, dtype=dtype).tobytes() == numpy.array(value, dtype=dtype).tobytes(), path, key, text)
        else:
            need(text == value, path, key, text)
    sherd("verify", path)


def fields(path):
    reader = gguf.GGUFReader(path)
    return {k: (v.types, v.contents()) for k, v in reader.fields.items() if not k.startswith("GGUF.")}, reader


def check_reader(theirs, ours):
    """The package reads the same from both."""
    (a, a_reader), (b, b_reader) = fields(theirs), fields(ours)
    need(repr(a) == repr(b), ours, "other keys", {k: (a.get(k), b.get(k)) for k in {*a, *b} if repr(a.get(k)) != repr(b.get(k))})
    need(a_reader.alignment == b_reader.alignment, ours, "other alignment")
    for x, y in zip(a_reader.tensors, b_reader.tensors, strict=True):
        need((x.name, x.tensor_type, x.shape.tolist()) == (y.name, y.tensor_type, y.shape.tolist()), ours, x.name)
        need(x.data.tobytes() == y.data.tobytes(), ours, x.name, "other bytes")
        need(y.data_offset % b_reader.alignment == 0, ours, x.name, "not aligned")


def check_split(out):
    path = pathlib.Path("split.gguf")
    writer = gguf.GGUFWriter(path, "llama", split_max_tensors=5)
    for name, (t, data, _) in out.items():
        writer.add_tensor(name, data, raw_dtype=t)
    writer.write_header_to_file(path)
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    parts = sorted(p for p in os.listdir() if p.startswith("split-"))
    need(len(parts) > 2, "no parts", parts)
    found = tensors(parts[0])
    need(set(found) == set(out), "split", sorted(found))
    for name, (_, data, _) in out.items():
        need(raw(parts[0], name) == data.tobytes(), "split", name)
    sherd("convert", parts[0], "joined.gguf")
    need("split.count" not in fields("joined.gguf")[0], "joined", "still a part of a set")
    need(len(tensors(parts[1])) == 5, "a part by itself")
    os.rename(parts[1], "away")
    need(parts[1] in refused("info", parts[0]), "the part that is missing is not named")


def check_values(out):
    """Blocks as floats, bit for bit, and what is not decoded stays as it is."""
    decoded = {n: v for n, v in out.items() if v[0].name in DECODED}
    need(len(decoded) == len(DECODED), "types without a tensor")
    options = [o for n in decoded for o in ("--match", n)]
    sherd("convert", "theirs.gguf", "floats.safetensors", "--dtype", "F32", "-q", *options)
    for name, (t, data, shape) in decoded.items():
        want = gguf.quants.dequantize(data, t).astype("<f4")
        got = numpy.frombuffer(raw("floats.safetensors", name), "<f4").reshape(shape)
        need(want.shape == shape and want.tobytes() == got.tobytes(), t.name, "other floats")
    sherd("convert", "theirs.gguf", "floats.gguf", "--dtype", "F32", "-q")
    found = tensors("floats.gguf")
    for name, (t, _, _) in out.items():
        cast = t.name in DECODED or t.name in ("F16", "BF16", "F64")
        need(found[name]["dtype"] == ("F32" if cast else t.name), name, found[name]["dtype"])


def main():
    out = content()
    check_sizes()
    write("theirs.gguf", out)
    check_read("theirs.gguf", out)
    sherd("convert", "theirs.gguf", "ours.gguf")
    check_read("ours.gguf", out)
    check_reader("theirs.gguf", "ours.gguf")
    # By way of a checkpoint, which has no types of ggml's but keeps all.
    sherd("convert", "theirs.gguf", "set", "--to", "checkpoint")
    sherd("convert", "set", "again.gguf")
    check_reader("theirs.gguf", "again.gguf")
    check_values(out)
    check_split(out)
    write("big.gguf", {"x": out["plain.F32"]}, endianess=gguf.GGUFEndian.BIG)
    need("big-endian" in refused("info", "big.gguf"), "big-endian")


main()
