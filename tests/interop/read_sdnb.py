#!/usr/bin/env python3
"""Reads the arrays of variables of an SDNB model or SDZ archive: read_sdnb.py FILE

Written from docs/formats/sdnb.md, with what it takes from samediff-legacy.md (read_samediff.py), and the standard
library. FILE is a file, one shard of a set, an archive. Prints one JSON document; exits 1 with one line on standard
error when the file has to be refused."""

import io
import json
import os
import re
import struct
import sys
import zipfile

from read_samediff import TYPES, Buffer, Refused, Table, need, product, to_c_order

MAP = (b"\xac\xed\0\5\x73\x72\0\x17java.util.LinkedHashMap\x34\xc0\x4e\x5c\x10\x6c\xc0\xfb\2\0\1\x5a\0\x0baccessOrder"
       b"\x78\x72\0\x11java.util.HashMap\5\7\xda\xc1\xc3\x16\x60\xd1\3\0\2\x46\0\x0aloadFactor\x49\0\x09threshold\x78\x70")
PAIR = (b"\x72\0\x1forg.nd4j.common.primitives.Pair\0\0\0\0\0\0\0\x77\2\0\2\x4c\0\3key\x74\0\x12Ljava/lang/Object;"
        b"\x4c\0\5value\x71\0\x7e\0\5\x78\x70")
LONG = (b"\x72\0\x0ejava.lang.Long\x3b\x8b\xe4\x90\xcc\x8f\x23\xdf\2\0\1\x4a\0\5value\x78\x72\0\x10java.lang.Number"
        b"\x86\xac\x95\x1d\x0b\x94\xe0\x8b\2\0\0\x78\x70")
SHARD = re.compile(r"^(.+)\.shard(0|[1-9]\d*)-of-([1-9]\d*)(\.sdnb)?$")


class Manifest:
    """{name: (position, length)}"""

    def __init__(self, data):
        self.data, self.at, self.handles = data, 0, []
        self.expect(MAP)
        self.handles += [None] * 3
        self.take(8)
        self.expect(b"\x77\x08")
        self.take(4)
        count = self.number(4)
        self.entries = {}
        for _ in range(count):
            name = self.name()
            need(name not in self.entries, "duplicate-name", name)
            self.entries[name] = self.value("pair", PAIR, 2, self.pair)
        self.expect(b"\x78")
        need(self.number(1) < 2, "bad-manifest", "the end")
        need(self.at == len(data), "trailing-bytes")

    def take(self, count):
        need(self.at + count <= len(self.data), "truncated", f"byte {self.at}")
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self, count):
        return int.from_bytes(self.take(count), "big")

    def expect(self, wanted):
        need(self.take(len(wanted)) == wanted, "bad-manifest", f"byte {self.at}")

    def name(self):
        self.expect(b"\x74")
        raw = self.take(self.number(2))
        self.handles.append(None)
        need(raw and 0 not in raw and b"\xc0\x80" not in raw, "bad-name")
        try:
            units = raw.decode("utf-8", "surrogatepass")
            need(all(ord(c) < 0x10000 for c in units), "bad-name")
            return units.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeError as problem:
            raise Refused("bad-name") from problem

    def reference(self, kind):
        handle = self.number(4) - 0x7E0000
        need(0 <= handle < len(self.handles), "bad-manifest", "a reference")
        need(self.handles[handle] is not None and self.handles[handle][0] == kind, "bad-manifest", "a reference")
        return self.handles[handle][1]

    def value(self, kind, spelled, handles, fields):
        mark = self.number(1)
        if mark == 0x71:
            return self.reference(kind)
        need(mark == 0x73, "bad-manifest", f"byte {self.at}")
        if self.data[self.at:self.at + 1] == b"\x71":
            self.at += 1
            self.reference(kind + " class")
        else:
            self.expect(spelled)
            self.handles += [(kind + " class", None)] + [None] * (handles - 1)
        place = len(self.handles)
        self.handles.append(None)
        made = fields()
        self.handles[place] = (kind, made)
        return made

    def long(self):
        number = self.number(8)
        need(number < 2 ** 63, "bad-offsets")
        return number

    def pair(self):
        return self.value("long", LONG, 2, self.long), self.value("long", LONG, 2, self.long)


def decode_array(table):
    number, order = table.scalar(2, "B"), table.scalar(3, "B")
    need(number in TYPES and number != 50, "bad-dtype", str(number))
    need(order in (0, 1), "bad-type")
    need(table.place(4, 1) is None and not table.scalar(7, "B"), "bad-version")
    shape, span = table.numbers(0, "q") or [], table.span(1, 1)
    need(len(shape) <= 32 and all(d >= 0 for d in shape), "bad-shape")
    raw = table.buffer.data[span[0]:span[0] + span[1]] if span else b""
    dtype, size = TYPES[number][0], TYPES[number][3]
    if not shape and not span:  # a scalar of nothing
        return {"dtype": dtype, "shape": [0], "data": ""}
    need(len(raw) == product(shape) * size, "size-mismatch")
    return {"dtype": dtype, "shape": shape, "data": (to_c_order(raw, size, shape) if order else raw).hex()}


def read_file(data):
    """(variables by name, metadata)"""
    need(len(data) >= 32, "truncated")
    magic, version, manifest, length, graph = struct.unpack(">4sIqqq", data[:32])
    need(magic == b"SDNB", "bad-magic")
    need(version == 1, "bad-version")
    need(graph == 32 and manifest >= 32, "bad-offsets")
    need(length >= 0 and manifest + length <= len(data), "truncated")
    places = Manifest(data[manifest:manifest + length]).entries
    end = manifest
    for position, size in sorted(places.values(), reverse=True):
        need(position >= 32 and position + size <= end, "overlap")
        end = position
    root = Buffer(data[32:end])
    root = Table(root, root.follow(0))
    need(root.place(1) is not None and root.place(2) is not None, "bad-header")
    variables = {}
    for table in root.tables(1):
        name, array = table.text(1), table.table(4)
        need(name and name not in variables, "bad-name")
        node = table.table(0)
        variables[name] = {"type": table.scalar(2, "B"), "shape": table.numbers(3, "q"),
                           "id": node and [node.scalar(0, "i"), node.scalar(1, "i")],
                           "array": array and decode_array(array)}
    for name, (position, size) in places.items():
        need(name in variables, "unknown-variable", name)
        variable = variables[name]
        need(variable["array"] is None, "duplicate-name", name)
        need(variable["type"] in TYPES and all(d >= 0 for d in variable["shape"] or []), "bad-shape", name)
        dtype, _, _, width = TYPES[variable["type"]]
        need(product(variable["shape"] or []) * width == size, "size-mismatch", name)
        variable["array"] = {"dtype": dtype, "shape": variable["shape"] or [],
                             "data": data[position:position + size].hex()}
    keys, values = root.texts(9) or [], root.texts(10) or []
    need(len(keys) == len(values), "bad-count")
    return variables, dict(zip(keys, values))


def read_set(names, get):
    """One file, or the shards among names that belong to the first of them."""
    found = SHARD.match(names[0])
    if not found:
        return read_file(get(names[0]))
    base, count = found.group(1), int(found.group(3))
    variables, metadata = {}, {}
    for index in range(count):
        name = [n for n in (f"{base}.shard{index}-of-{count}.sdnb", f"{base}.shard{index}-of-{count}") if n in names]
        need(len(name) == 1, "missing-shard", index)
        some, about = read_file(get(name[0]))
        need(about.get("shard.index", str(index)) == str(index), "bad-piece")
        if index == 0:
            variables = some
            metadata = {k: v for k, v in about.items() if k not in ("shard.index", "shard.type")}
            continue
        for key, variable in some.items():
            need(key in variables and variables[key]["type"] == variable["type"], "unknown-variable", key)
            if variable["array"]:
                need(variables[key]["array"] is None, "duplicate-name", key)
                variables[key]["array"] = variable["array"]
    return variables, metadata


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    kind = "sdz" if data[:4] == b"PK\3\4" else "sdnb"
    if kind == "sdz":
        archive = zipfile.ZipFile(io.BytesIO(data))
        names = archive.namelist()
        first = [n for n in ("model", "model.sdnb") if n in names] or [n for n in names if SHARD.match(n)] or \
            [n for n in names if archive.read(n)[:4] == b"SDNB"]
        need(first, "no-graph")
        variables, metadata = read_set(first[:1] + names, archive.read)
    else:
        folder = os.path.dirname(path)

        def get(name):
            with open(os.path.join(folder, name), "rb") as file:
                return file.read()

        variables, metadata = read_set([os.path.basename(path)] + os.listdir(folder or "."), get)
    tensors = {name: v["array"] for name, v in variables.items() if v["array"]}
    return {"format": kind, "metadata": metadata, "tensors": tensors}


if __name__ == "__main__":
    try:
        json.dump(read(sys.argv[1]), sys.stdout)
    except Refused as problem:
        sys.exit(str(problem))
