#!/usr/bin/env python3
"""npy and npz files of the real NumPy, every type of it that there is a name for here, both ways."""

import numpy

from _sherd import need, raw, sherd, tensors

TYPES = {
    "bool": "BOOL", "uint8": "U8", "int8": "I8", "uint16": "U16", "int16": "I16", "uint32": "U32", "int32": "I32",
    "uint64": "U64", "int64": "I64", "float16": "F16", "float32": "F32", "float64": "F64", "complex64": "C64",
}
SHAPES = [(), (0,), (1,), (7,), (3, 0, 2), (2, 3), (2, 3, 4, 5)]


def array(dtype, shape):
    count = int(numpy.prod(shape, dtype=int))
    bits = numpy.random.default_rng(count).integers(0, 2, count * 16, dtype=numpy.uint8)
    if dtype == "bool":
        return bits[:count].astype(bool).reshape(shape)
    raw_bytes = numpy.random.default_rng(count).bytes(count * numpy.dtype(dtype).itemsize)
    return numpy.frombuffer(raw_bytes, dtype).reshape(shape)


def check(path, arrays):
    found = tensors(path)
    need(set(found) == set(arrays), path, "other names", sorted(found))
    for name, a in arrays.items():
        need(found[name]["dtype"] == TYPES[a.dtype.name], path, name, found[name]["dtype"])
        need(tuple(found[name]["shape"]) == a.shape, path, name, found[name]["shape"])
        need(raw(path, name) == a.astype(a.dtype.newbyteorder("<")).tobytes(), path, name, "other bytes")
    sherd("verify", path)


def main():
    arrays = {f"{d}.{i}": array(d, s) for d in TYPES for i, s in enumerate(SHAPES)}
    numpy.savez("theirs.npz", **arrays)
    check("theirs.npz", arrays)
    numpy.savez_compressed("packed.npz", **arrays)
    check("packed.npz", arrays)
    sherd("convert", "theirs.npz", "ours.npz")
    sherd("convert", "theirs.npz", "folder/")
    with numpy.load("ours.npz", allow_pickle=False) as loaded:
        for name, a in arrays.items():
            need(loaded[name].dtype == a.dtype and loaded[name].shape == a.shape, name)
            need(loaded[name].tobytes() == a.tobytes(), name, "other bytes")
    for name, a in arrays.items():
        read = numpy.load(f"folder/{name}.npy", allow_pickle=False)
        need(read.dtype == a.dtype and read.shape == a.shape and read.tobytes() == a.tobytes(), "folder", name)
    square = numpy.arange(12, dtype=">f8").reshape(3, 4)
    for name, a in (("fortran", numpy.asfortranarray(square)), ("big", square)):
        numpy.save(name, a)
        check(f"{name}.npy", {name: a})


main()
