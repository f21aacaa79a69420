#!/usr/bin/env python3
"""Reads a model container, one file or a set: read_container.py FILE

Written from docs/formats/container.md, samediff-legacy.md and dtypes.md alone, with the standard library; graphs are
read by read_samediff.py. A set is named by its base or one of its shards. Prints one JSON document: metadata, and the
tensors with the SHA-256 of their bytes. Exits 1 with one line on standard error when the file has to be refused."""

import hashlib
import json
import os
import re
import struct
import sys
import zlib

import read_blake3
import read_checkpoint
import read_samediff
from read_samediff import Refused, need, product

MAGIC = b"SAMEDIFF_MOD"
HEADER, METADATA, GRAPH, ARRAYS, SHARD_INFO, DIGESTS = range(6)
TYPES = {1: ("BOOL", 1), 2: ("U8", 1), 3: ("I8", 1), 4: ("U16", 2), 5: ("I16", 2), 6: ("U32", 4), 7: ("I32", 4),
         8: ("U64", 8), 9: ("I64", 8), 10: ("F16", 2), 11: ("BF16", 2), 12: ("F32", 4), 13: ("F64", 8),
         14: ("F8_E4M3", 1), 15: ("F8_E5M2", 1), 16: ("C64", 8), 17: ("UTF8", 0),
         18: ("F8_E8M0", 1), 19: ("F8_E4M3FNUZ", 1), 20: ("F8_E5M2FNUZ", 1), 63: ("OPAQUE", None)}
# elements and bytes of a block
BLOCKS = {21: ("F4", 2, 1), 22: ("F6_E2M3", 4, 3), 23: ("F6_E3M2", 4, 3),
          **{64 + number: (name, per, size) for name, (number, per, size) in read_checkpoint.GGML.items()}}
NAME = re.compile(r"(.*[^/])\.shard(0|[1-9]\d*)-of-([1-9]\d*)(?:\.([1-9]\d*))?\.sdc", re.S)


def inflate(raw, length):
    need(length <= 1032 * (len(raw) + 1), "bad-deflate")
    stream = zlib.decompressobj(-15)
    try:
        out = stream.decompress(raw, length + 1)
    except zlib.error as problem:
        raise Refused(f"bad-deflate: {problem}") from problem
    need(stream.eof and not stream.unused_data and len(out) == length, "bad-deflate")
    return out


def unshuffle(raw, width):
    count = len(raw) // width
    out = bytearray(raw)
    for k in range(width):
        out[k:count * width:width] = raw[k * count:(k + 1) * count]
    return bytes(out)


class File:
    """One file: its front and directory were checked."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        data = self.data
        need(data[:12] == MAGIC, "bad-magic")
        need(len(data) >= 16, "truncated")
        need(struct.unpack_from("<I", data, 12)[0] == 1, "bad-version")
        need(len(data) >= 1024, "truncated")
        need(data[16:26] == struct.pack("<BQB", HEADER, 994, 0x10), "bad-head")
        need(struct.unpack_from("<I", data, 1020)[0] == zlib.crc32(data[16:1020]), "bad-crc")
        _, incompatible, self.identity, size, count, reserved = struct.unpack_from("<QQ16sQII", data, 26)
        need(incompatible <= 1, "unknown-feature")
        self.known = DIGESTS if incompatible else SHARD_INFO
        need(count <= 29, "bad-count")
        need(reserved == 0 and not any(data[74 + 32 * count:1020]), "reserved")
        need(size <= len(data), "truncated")
        need(size >= len(data), "trailing-bytes")
        self.digest = hashlib.sha256(data[:1024]).digest()
        self.sections = [self.section(74 + 32 * i) for i in range(count)]
        self.check_places()
        self.values = self.check_digests() if incompatible else None

    def section(self, at):
        kind, flags, reserved, crc, offset, stored, raw = struct.unpack_from("<BBHIQQQ", self.data, at)
        need(reserved == 0 and flags < 0x20, "reserved")
        need(flags & 15 or stored == raw, "size-mismatch")
        need(flags & 16 or not crc, "reserved")
        if kind <= self.known:
            need(flags & 15 <= (0 if kind in (ARRAYS, DIGESTS) else 1), "bad-codec")
            need(kind == ARRAYS or flags & 16, "no-checksum")
        return {"type": kind, "flags": flags, "crc": crc, "offset": offset, "stored": stored, "raw": raw}

    def check_places(self):
        at, seen = 1024, {HEADER}
        for s in self.sections:
            need(s["offset"] == at, "out-of-range")
            at += 10 + s["stored"] + (4 if s["flags"] & 16 else 0)
            need(at <= len(self.data), "out-of-range")
            head = struct.pack("<BQB", s["type"], s["stored"], s["flags"])
            need(self.data[s["offset"]:s["offset"] + 10] == head, "bad-head")
            if s["flags"] & 16:
                need(struct.unpack_from("<I", self.data, at - 4)[0] == s["crc"], "bad-crc")
                need(zlib.crc32(self.data[s["offset"]:at - 4]) == s["crc"], "bad-crc")
            if s["type"] <= self.known and s["type"] != ARRAYS:
                need(s["type"] not in seen, "duplicate-section")
                seen.add(s["type"])
        need(at == len(self.data), "hole")
        arrays = [s for s in self.sections if s["type"] == ARRAYS]
        need(arrays and arrays[-1]["flags"] & 16, "no-index")
        self.index, self.filled = arrays[-1], arrays[:-1]

    def check_digests(self):
        """The root, and what it covers but for arrays; returns of each array its value and those of its chunks."""
        raw = self.payload(DIGESTS)
        need(raw is not None, "no-checksum")
        need(len(raw) >= 72, "truncated")
        identity, sections, arrays, chunks = struct.unpack_from("<16sQQQ", raw, 32)
        table = 72 + 40 * (sections + arrays)
        need(sections <= 29 and len(raw) == table + 32 * chunks, "bad-count")
        need(read_blake3.digest(raw[32:table]) == raw[:32], "bad-checksum")
        need(identity == self.identity, "other-set")
        valued = [s for s in self.sections if s["type"] not in (ARRAYS, DIGESTS)]
        need(len(valued) == sections, "bad-checksum")
        for i, s in enumerate(valued):
            kind, flags, value = struct.unpack_from("<BB6x32s", raw, 72 + 40 * i)
            need((kind, flags) == (s["type"], s["flags"]), "bad-checksum")
            need(read_blake3.digest(self.stored(s)) == value, "bad-checksum")
        self.digest = raw[:32]
        items = [struct.unpack_from("<Q32s", raw, 72 + 40 * (sections + i)) for i in range(arrays)]
        ends = [first for first, _ in items[1:]] + [chunks]
        need(all(first <= end <= chunks for (first, _), end in zip(items, ends)), "bad-checksum")
        return [(value, raw[table + 32 * first:table + 32 * end]) for (first, value), end in zip(items, ends)]

    def stored(self, s):
        return self.data[s["offset"] + 10:s["offset"] + 10 + s["stored"]]

    def payload(self, kind):
        for s in self.sections:
            if s["type"] == kind:
                return inflate(self.stored(s), s["raw"]) if s["flags"] & 15 else self.stored(s)
        return None

    def records(self):
        """Every array of the index, by its name."""
        raw = self.stored(self.index)
        need(len(raw) >= 8, "truncated")
        count, = struct.unpack_from("<Q", raw)
        need(count <= (len(raw) - 8) // 56, "bad-count")
        records, end, before = {}, 8 + 24 * count, (b"", b"")
        for i in range(count):
            digest, offset, length, crc = struct.unpack_from("<8sQII", raw, 8 + 24 * i)
            need(offset == end and length <= len(raw) - offset, "bad-index")
            record = raw[offset:offset + length]
            need(zlib.crc32(record) == crc, "bad-crc")
            array = self.record(record)
            if self.values is not None:
                self.check_array(record, array, i, count)
            name = array["name"].encode()
            need(hashlib.sha256(name).digest()[:8] == digest, "bad-index")
            need(before < (digest, name), "bad-index")
            records[array["name"]], end, before = array, offset + length, (digest, name)
        need(end == len(raw), "trailing-bytes")
        return records

    def record(self, raw):
        need(len(raw) >= 32, "bad-length")
        number, rank, role, reserved, shard, size, name, key, piece, count = struct.unpack_from("<BBBBIQIIII", raw)
        need(number in TYPES or number in BLOCKS, "bad-dtype")
        need(rank <= 32 and role <= 3 and bool(reserved) == (number == 63), "bad-index")
        need(len(raw) == 32 + 8 * rank + 24 * count + name + key + reserved, "bad-length")
        shape = list(struct.unpack_from(f"<{rank}Q", raw, 32))
        dtype, width = TYPES.get(number) or BLOCKS[number][::2]
        per = BLOCKS[number][1] if number in BLOCKS else 1
        if width is not None:
            need(size * per == product(shape) * width if width else size >= 8 * (product(shape) + 1), "size-mismatch")
        need(not count or 0 < piece <= 64 << 20 and count == -(-size // piece), "bad-count")
        at = 32 + 8 * rank
        chunks = [struct.unpack_from("<QIIIBBBB", raw, at + 24 * i) for i in range(count)]
        at += 24 * count
        try:
            text = raw[at:at + name].decode()
        except UnicodeDecodeError as problem:
            raise Refused(f"bad-name: {problem}") from problem
        return {"name": text, "dtype": dtype, "shape": shape, "bytes": size, "shard": shard, "chunks": chunks}

    def check_array(self, record, array, i, count):
        need(len(self.values) == count, "bad-count")
        value, chunks = self.values[i]
        need(len(chunks) == 32 * len(array["chunks"]), "bad-checksum")
        need(read_blake3.digest(record + chunks) == value, "bad-checksum")
        for k, (offset, stored, *_) in enumerate(array["chunks"]):
            need(read_blake3.digest(self.data[offset:offset + stored]) == chunks[32 * k:32 * k + 32], "bad-checksum")

    def chunk(self, chunk):
        offset, stored, raw, crc, codec, kind, width, reserved = chunk
        need(codec <= 1 and kind <= 1, "bad-codec")
        need(not reserved, "reserved")
        need(width >= 2 if kind else not width, "bad-chunk")
        need(stored < raw if codec else stored == raw, "bad-chunk")
        need(any(s["offset"] + 10 <= offset and offset + stored <= s["offset"] + 10 + s["stored"]
                 for s in self.filled), "out-of-range")
        data = self.data[offset:offset + stored]
        need(zlib.crc32(data) == crc, "bad-crc")
        data = inflate(data, raw) if codec else data
        return unshuffle(data, width) if kind else data

    def check_padding(self, records):
        """What no chunk covers is zero, and no two chunks cover the same."""
        chunks = sorted(c[:2] for r in records.values() for c in r["chunks"])
        for s in self.filled:
            begin, end = s["offset"] + 10, s["offset"] + 10 + s["stored"]
            at = begin
            for offset, stored in chunks:
                if not begin <= offset < end:
                    continue
                need(offset >= at, "overlap")
                need(not any(self.data[at:offset]), "bad-padding")
                at = offset + stored
            need(not any(self.data[at:end]), "bad-padding")

    def shard_info(self):
        raw = self.payload(SHARD_INFO)
        if raw is None:
            return None
        need(len(raw) >= 32, "truncated")
        shard, count, generation, reserved, replaces = struct.unpack_from("<IIII16s", raw)
        need(not reserved, "reserved")
        need(count >= 2 and shard < count, "bad-rank")
        need(len(raw) == 32 + (40 * (count - 1) if shard == 0 else 0), "bad-length")
        peers = [struct.unpack_from("<Q32s", raw, at) for at in range(32, len(raw), 40)]
        return {"shard": shard, "count": count, "generation": generation, "replaces": replaces, "peers": peers}


def metadata_of(raw):
    if raw is None:
        return {}
    need(len(raw) >= 4, "truncated")
    at, pairs = 4, []
    for _ in range(struct.unpack_from("<I", raw)[0]):
        need(len(raw) >= at + 8, "truncated")
        key, value = struct.unpack_from("<II", raw, at)
        need(len(raw) >= at + 8 + key + value, "truncated")
        pairs.append((raw[at + 8:at + 8 + key], raw[at + 8 + key:at + 8 + key + value]))
        at += 8 + key + value
    need(at == len(raw), "trailing-bytes")
    need(all(a[0] < b[0] for a, b in zip(pairs, pairs[1:])), "duplicate-key")
    return {key.decode(): value.decode() for key, value in pairs}


def describe(table):
    """A FlatArray of a container: no buffer, and types of ours."""
    number = table.scalar(2, "B")
    need(table.span(1, 1) is None, "size-mismatch")
    if number in read_samediff.TYPES:
        dtype = read_samediff.TYPES[number][0]
        shape, _, _ = read_samediff.decode_shape(table.numbers(0, "q") or [], number)
    else:
        need(number - 100 in TYPES or number - 100 in BLOCKS, "bad-dtype")
        dtype, info = (TYPES.get(number - 100) or BLOCKS[number - 100])[0], table.numbers(0, "q")
        shape = info[1:1 + info[0]]
    return {"dtype": dtype, "shape": shape}


def find_set(base):
    folder, name = os.path.split(base)
    found = [NAME.fullmatch(f) for f in sorted(os.listdir(folder or "."))]
    found = [m for m in found if m and m[1] == name]
    need(found, "not-found")
    first = [m[0] for m in found if m[2] == "0"]
    need(first, "incomplete")
    files = {f: File(os.path.join(folder, f)) for f in first}
    chosen = [a for a in first if all(a == b or files[a].shard_info()["replaces"] == files[b].identity for b in first)]
    need(len(chosen) == 1, "two-sets", " ".join(first))
    return os.path.join(folder, chosen[0])


def open_shards(path, file, info):
    """Shard 0 and all others, held against what it tells of them."""
    name = NAME.fullmatch(path)
    need(name and int(name[2]) == info["shard"] and int(name[3]) == info["count"], "bad-rank")
    base, count = name[1], info["count"]
    if info["shard"]:
        first = f"{base}.shard0-of-{count}.sdc"
        need(os.path.exists(first), "incomplete")
        file = File(first)
        info = file.shard_info()
        need(info and info["shard"] == 0 and info["count"] == count, "bad-rank")
    files = [file]
    for i, (size, digest) in enumerate(info["peers"], 1):
        generation = f".{info['generation']}" if info["generation"] else ""
        place = f"{base}.shard{i}-of-{count}{generation}.sdc"
        need(os.path.exists(place), "missing-shard", place)
        other = File(place)
        told = other.shard_info()
        need(told and other.identity == file.identity, "other-set", place)
        need(told["shard"] == i and told["count"] == count, "duplicate-rank", place)
        need(len(other.data) == size, "size-mismatch", place)
        need(other.digest == digest, "bad-checksum", place)
        files.append(other)
    return files


def read(path):
    if not os.path.exists(path):
        path = find_set(path)
    file = File(path)
    info = file.shard_info()
    files = open_shards(path, file, info) if info else [file]
    graph = files[0].payload(GRAPH)
    need(graph is not None, "no-graph")
    read_samediff.decode_array = describe
    read_samediff.KNOWN_TYPES = set(range(256))
    described = read_samediff.read_graph("", graph)
    records = [f.records() for f in files]
    for shard, (f, own) in enumerate(zip(files, records)):
        need(all(r["shard"] == shard or shard == 0 and not r["chunks"] for r in own.values()), "bad-rank")
        f.check_padding(own)
    need({t["name"] for t in described["tensors"]} == set(records[0]), "no-data")
    tensors = []
    for t in described["tensors"]:
        shard = records[0][t["name"]]["shard"]
        need(shard < len(files) and t["name"] in records[shard], "no-data", t["name"])
        r = records[shard][t["name"]]
        need((r["dtype"], r["shape"]) == (t["dtype"], t["shape"]), "shape-mismatch", t["name"])
        data = b"".join(files[shard].chunk(c) for c in r["chunks"])
        need(len(data) == r["bytes"], "no-data", t["name"])
        tensors.append({"name": t["name"], "dtype": t["dtype"], "shape": t["shape"],
                        "sha256": hashlib.sha256(data).hexdigest()})
    return {"format": "samediff-container", "metadata": metadata_of(files[0].payload(METADATA)),
            "variables": [v["name"] for v in described["variables"]], "tensors": tensors}


def main():
    try:
        json.dump(read(sys.argv[1]), sys.stdout)
    except Refused as problem:
        print(f"{sys.argv[1]}: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
