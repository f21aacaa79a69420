#!/usr/bin/env python3
"""Writes checkpoints into a folder: write_checkpoint.py FOLDER

Written from docs/formats/checkpoint.md and dtypes.md alone, with the standard library. Prints, as JSON, what was
written: for each prefix its tensors with their bytes in hexadecimal. (It does not follow the commit protocol: nobody
else writes into that folder.)"""

import binascii
import hashlib
import json
import os
import struct
import sys

import read_blake3

BLOCK = 16 << 20
NUMBERS = {"BOOL": 1, "U8": 2, "I8": 3, "U16": 4, "I16": 5, "U32": 6, "I32": 7, "U64": 8, "I64": 9, "F16": 10,
           "BF16": 11, "F32": 12, "F64": 13, "F8_E4M3": 14, "F8_E5M2": 15, "C64": 16, "UTF8": 17}
DATA_TYPES = {"BOOL": "Bool", "U8": "UInt8", "I8": "Int8", "U16": "UInt16", "I16": "Int16", "U32": "UInt32",
              "I32": "Int32", "U64": "UInt64", "I64": "Int64", "F16": "Float16", "BF16": "BFloat16", "F32": "Float32",
              "F64": "Float64", "F8_E4M3": "Float8E4M3", "F8_E5M2": "Float8E5M2", "C64": "Complex64", "UTF8": "Utf8"}


class Tensor:
    def __init__(self, name, dtype, shape, raw, whole=None, at=None, extra=None):
        self.name, self.dtype, self.shape, self.raw = name, dtype, shape, raw
        self.whole, self.at, self.extra, self.offset = whole, at, extra, None


def compact(value):
    return json.dumps(value, ensure_ascii=False)


def utf8(strings):
    parts = [s.encode() for s in strings]
    ends = [sum(len(p) for p in parts[:i]) for i in range(len(parts) + 1)]
    return struct.pack(f"<{len(ends)}Q", *ends) + b"".join(parts)


def record(tensor):
    name = tensor.name.encode()
    extra = compact(tensor.extra)[1:-1].encode() if tensor.extra else b""
    flags = (1 if tensor.whole is not None else 0) | (2 if extra else 0)
    out = struct.pack("<IBBBBQQ", len(name), NUMBERS[tensor.dtype], len(tensor.shape), flags, 0, tensor.offset,
                      len(tensor.raw))
    for dims in [tensor.shape] + ([tensor.whole, tensor.at] if tensor.whole is not None else []):
        out += struct.pack(f"<{len(dims)}Q", *dims)
    for at in range(0, len(tensor.raw), BLOCK):
        out += struct.pack("<I", binascii.crc32(tensor.raw[at:at + BLOCK]))
    out += name
    return out + (struct.pack("<I", len(extra)) + extra if extra else b"")


def index_bytes(set_id, rank, world, time_ns, about, tensors, front=None, log=0):
    """With log: version 2, with BLAKE3 values of parts of 2^log bytes of what lies in front."""
    description = compact(about).encode() if about else b""
    body = bytes.fromhex(set_id) + struct.pack("<IIqII", rank, world, time_ns, len(tensors), len(description))
    body += description + b"".join(record(t) for t in tensors)
    if log:
        parts = [read_blake3.value(front[i << log:i + 1 << log], i << log) for i in range(len(front) >> log)]
        body += bytes([log]) + b"".join(parts)
    length = struct.pack("<Q", len(body))
    return body + length + struct.pack("<I", binascii.crc32(body + length)) + (b"SHERDIX2" if log else b"SHERDIX1")


def shard_bytes(set_id, rank, world, time_ns, about, tensors, log=0):
    """Places the tensors; returns the file and its checksum. log 0: SHA-256, else BLAKE3."""
    data = b""
    for tensor in tensors:
        if tensor.raw:
            data += bytes(-((95 if log else 88) + len(data)) % 64)
        tensor.offset = len(data)
        data += tensor.raw
    data += index_bytes(set_id, rank, world, time_ns, about, tensors, data, log)
    checksum = "blake3:" + read_blake3.digest(data).hex() if log else hashlib.sha256(data).hexdigest()
    head = struct.pack("<III", 0x53484152, rank, len(checksum)) + checksum.encode()
    return head + struct.pack("<IQ", len(tensors), len(data)) + data, checksum


def four_byte_shard(rank, tensors):
    data = b""
    for tensor in tensors:
        tensor.offset = len(data)
        data += tensor.raw
    return struct.pack("<IIIII", 0x53484152, rank, 0, len(tensors), len(data)) + data


def tensor_object(tensor):
    out = {"name": tensor.name, "shape": tensor.shape, "dataType": DATA_TYPES[tensor.dtype], "offset": tensor.offset,
           "size": len(tensor.raw)}
    if tensor.whole is not None:
        out.update(globalShape=tensor.whole, globalOffset=tensor.at)
    out.update(tensor.extra or {})
    return out


def sealed(document):
    """The document with its seal as the last key."""
    text = json.dumps(document, ensure_ascii=False, indent=2)
    hashed = (text.rstrip().removesuffix("}").rstrip() + ",\n  ").encode()
    return hashed + b'"sha256": "' + hashlib.sha256(hashed).hexdigest().encode() + b'"\n}'


def write(folder, name, raw):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(raw)


def write_set(folder, prefix, set_id, ranks, about, timestamp, time_ns, named_by_set=False, listed=True, logs=()):
    shards = []
    for rank, tensors in enumerate(ranks):
        file = f"{prefix}_shard_{rank}" + (f".{set_id}" if named_by_set else "") + ".shard"
        raw, checksum = shard_bytes(set_id, rank, len(ranks), time_ns, about if rank == 0 else None, tensors,
                                    logs[rank] if logs else 0)
        write(folder, file, raw)
        shard = {"rank": rank, "filePath": file, "fileSize": len(raw), "checksum": checksum}
        if listed:
            shard["tensors"] = [tensor_object(t) for t in tensors]
        shards.append(shard)
    document = {"version": "1.0.0", "timestamp": timestamp, "worldSize": len(ranks)}
    document.update(about)
    document["sharding"] = dict(about.get("sharding", {}), shardCount=len(ranks))
    document["shards"] = shards[::-1]  # readers do not care
    document["setId"] = set_id
    write(folder, prefix + ".metadata.json", sealed(document))


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def matrix(rows, columns, first=0):
    return struct.pack(f"<{rows * columns}i", *range(first, first + rows * columns))


def columns_of(raw, columns, low, high):
    rows = [raw[at:at + 4 * columns] for at in range(0, len(raw), 4 * columns)]
    return b"".join(row[4 * low:4 * high] for row in rows)


ABOUT = {
    "ddpRank": 3,
    "sharding": {"strategy": "ddp", "precision": "fp32", "strategySpecificInfo": {"a": [1, 2.5, None]}, "mesh": [3]},
    "training": {"epoch": 1, "step": 99, "learningRate": 0.001, "optimizerType": "sgd", "optimizerState": {"m": 1},
                 "tokens": 2 ** 70},
    "customFields": {"run": "python", "ключ": "значение"},
    "format": "multishard",
}


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    grid = matrix(4, 6)
    ranks = [
        [Tensor("w", "F32", [2, 2], floats(1, -2, 0.5, 1e-20), extra={"note": {"x": "y"}}),
         Tensor("grid", "I32", [4, 2], columns_of(grid, 6, 0, 2), [4, 6], [0, 0]),
         Tensor("words", "UTF8", [2, 2], utf8(["", "héllo", "✓", "\U0001f600"])),
         Tensor("same", "U16", [3], b"\1\0\2\0\3\0")],
        [Tensor("grid", "I32", [4, 1], columns_of(grid, 6, 2, 3), [4, 6], [0, 2]),
         Tensor("same", "U16", [3], b"\1\0\2\0\3\0"),
         Tensor("none", "F64", [0, 7], b""),
         Tensor("scalar", "I8", [], b"\x80")],
        [Tensor("grid", "I32", [1, 3], columns_of(grid[:24], 6, 3, 6), [4, 6], [0, 3]),
         Tensor("odd\t\"name\"", "C64", [1, 1, 1], floats(3, 4))],
        [Tensor("grid", "I32", [3, 3], columns_of(grid[24:], 6, 3, 6), [4, 6], [1, 3]),
         Tensor("grid.empty", "BOOL", [0], b"", [0], [0])],
    ]
    whole = {"w": ranks[0][0], "words": ranks[0][2], "same": ranks[0][3], "none": ranks[1][2], "scalar": ranks[1][3],
             "odd\t\"name\"": ranks[2][1]}
    expected = [{"name": t.name, "dtype": t.dtype, "shape": t.shape, "hex": t.raw.hex()} for t in whole.values()]
    expected.append({"name": "grid", "dtype": "I32", "shape": [4, 6], "hex": grid.hex()})
    expected.append({"name": "grid.empty", "dtype": "BOOL", "shape": [0], "hex": ""})
    when, time_ns = "2026-01-09T13:00:00.000000007+01:00", 1767960000 * 10 ** 9 + 7
    write_set(folder, "python", "0f" * 16, ranks, ABOUT, when, time_ns)
    write_set(folder, "unlisted", "1e" * 16, ranks, ABOUT, when, time_ns, named_by_set=True, listed=False)
    for rank, count in ((0, 5000), (1, 960), (2, 3000)):
        long = Tensor(f"long{rank}", "U8", [count], bytes(i * i // 7 & 255 for i in range(count)))
        ranks[rank].append(long)
    parts = expected + [{"name": t.name, "dtype": t.dtype, "shape": t.shape, "hex": t.raw.hex()}
                        for t in (ranks[0][-1], ranks[1][-1], ranks[2][-1])]
    # One rank chose SHA-256; parts of 1 KiB, of which some hold several tensors, and one that is all of its data.
    write_set(folder, "parts", "2d" * 16, ranks, ABOUT, when, time_ns, logs=(10, 11, 0, 20))
    print(json.dumps({"python": expected, "unlisted": expected, "parts": parts}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
