#!/usr/bin/env python3
"""Reads a SameDiff FlatBuffers file or an ND4J binary array: read_samediff.py FILE

Written from docs/formats/samediff-legacy.md and dtypes.md alone, with the standard library. Prints one JSON document:
the tensors with their bytes in hexadecimal, and of a model its variables and operations. Exits 1 with one line on
standard error when the file has to be refused."""

import json
import os
import struct
import sys

# number: (type, name in binary arrays, bit of extras, bytes of an element)
UNSIGNED = 1 << 23
TYPES = {
    1: ("BOOL", "BOOL", 1 << 19, 1), 3: ("F16", "HALF", 1 << 12, 2), 5: ("F32", "FLOAT", 1 << 13, 4),
    6: ("F64", "DOUBLE", 1 << 14, 8), 7: ("I8", "BYTE", 1 << 15, 1), 8: ("I16", "SHORT", 1 << 16, 2),
    9: ("I32", "INT", 1 << 17, 4), 10: ("I64", "LONG", 1 << 18, 8), 11: ("U8", "UBYTE", 1 << 15 | UNSIGNED, 1),
    12: ("U16", "UINT16", 1 << 16 | UNSIGNED, 2), 13: ("U32", "UINT32", 1 << 17 | UNSIGNED, 4),
    14: ("U64", "UINT64", 1 << 18 | UNSIGNED, 8), 17: ("BF16", "BFLOAT16", 1 << 11, 2), 50: ("UTF8", "UTF8", 1 << 20, 0)}
TYPE_BITS = sum({row[2] & ~UNSIGNED for row in TYPES.values()}) | UNSIGNED
BY_NAME = {row[1]: number for number, row in TYPES.items()}
KINDS = ("VARIABLE", "CONSTANT", "ARRAY", "PLACEHOLDER", "SEQUENCE")
EMPTY = 8
# ways of storing a part of a binary array, and the form of its count
MODES = {"MIXED_DATA_TYPES": "Q", "LONG_SHAPE": "Q", "JAVACPP": "I", "HEAP": "I", "DIRECT": "I"}
KNOWN_TYPES = set(range(18)) | {50, 51, 52}
OP_TYPES = set(range(23)) | {40, 60, 119, 120}
BETA3_OP_TYPES = {**{n: 200 + n for n in range(11)}, 11: 21, 12: 22, 30: 40, 40: 60, 119: 119}
SYNONYMS = {
    "mmul": "matmul", "stridedslice": "strided_slice", "tensorarrayv3": "create_list", "tensorarrayreadv3": "read_list",
    "tensorarraywritev3": "write_list", "tensorarraygatherv3": "gather_list", "tensorarraysizev3": "size_list",
    "tensorarraysplitv3": "split_list", "tensorarrayscatterv3": "scatter_list"}
CUSTOM = 21
MASK = 2 ** 64 - 1


class Refused(Exception):
    """What a reader must refuse; the first argument is the reason."""


def need(holds, reason, text=""):
    if not holds:
        raise Refused(f"{reason}: {text}")


# ----------------------------------------------------------------------------------------------------- FlatBuffers

class Buffer:
    """The bytes, and how much of them may still be visited."""

    def __init__(self, data):
        self.data = data
        self.budget = 2 * len(data) + 4096

    def get(self, form, at):
        size = struct.calcsize(form)
        need(0 <= at <= len(self.data) - size, "truncated", f"byte {at}")
        return struct.unpack_from("<" + form, self.data, at)[0]

    def charge(self, cost):
        self.budget -= cost
        need(self.budget >= 0, "overlap")

    def follow(self, at):
        offset = self.get("I", at)
        need(4 <= offset <= len(self.data) - at, "bad-offsets", f"byte {at}")
        return at + offset

    def vector(self, at, size):
        """(where the elements begin, their number)"""
        count = self.get("I", at)
        need(count * size <= len(self.data) - at - 4, "truncated", f"byte {at}")
        self.charge(count * size + 4)
        return at + 4, count

    def text(self, at):
        begin, count = self.vector(at, 1)
        need(begin + count < len(self.data), "truncated", f"byte {begin}")
        raw = self.data[begin:begin + count + 1]
        need(raw.find(0) == count, "bad-text", f"byte {begin}")
        try:
            return raw[:-1].decode()
        except UnicodeDecodeError as problem:
            raise Refused(f"bad-utf8: {problem}") from problem


class Table:
    def __init__(self, buffer, at):
        self.buffer, self.at = buffer, at
        self.vtable = at - buffer.get("i", at)
        need(0 <= self.vtable < len(buffer.data), "bad-offsets", f"byte {at}")
        size, self.size = buffer.get("H", self.vtable), buffer.get("H", self.vtable + 2)
        need(size >= 4 and size % 2 == 0 and self.size >= 4, "bad-offsets", f"byte {self.vtable}")
        need(self.vtable + size <= len(buffer.data) and at + self.size <= len(buffer.data), "truncated")
        self.fields = (size - 4) // 2
        buffer.charge(max(self.size, 16))

    def place(self, field, width=4):
        if field >= self.fields:
            return None
        offset = self.buffer.get("H", self.vtable + 4 + 2 * field)
        if not offset:
            return None
        need(4 <= offset <= self.size - width, "bad-offsets", f"field {field} of {self.at}")
        return self.at + offset

    def scalar(self, field, form):
        at = self.place(field, struct.calcsize(form))
        return 0 if at is None else self.buffer.get(form, at)

    def _target(self, field):
        at = self.place(field)
        return None if at is None else self.buffer.follow(at)

    def text(self, field):
        at = self._target(field)
        return None if at is None else self.buffer.text(at)

    def table(self, field):
        at = self._target(field)
        return None if at is None else Table(self.buffer, at)

    def span(self, field, size):
        at = self._target(field)
        return None if at is None else self.buffer.vector(at, size)

    def numbers(self, field, form):
        span = self.span(field, struct.calcsize(form))
        if span is None:
            return None
        return list(struct.unpack_from(f"<{span[1]}{form}", self.buffer.data, span[0]))

    def _targets(self, field):
        span = self.span(field, 4)
        return None if span is None else [self.buffer.follow(span[0] + 4 * i) for i in range(span[1])]

    def texts(self, field):
        targets = self._targets(field)
        return None if targets is None else [self.buffer.text(at) for at in targets]

    def tables(self, field):
        return [Table(self.buffer, at) for at in self._targets(field) or []]

    def pairs(self, field):
        return [[t.scalar(0, "i"), t.scalar(1, "i")] for t in self.tables(field)]


# ---------------------------------------------------------------------------------------------------------- arrays

def product(dims):
    result = 0 if 0 in dims else 1
    for d in dims:
        result *= d
    need(result < 2 ** 64, "overflow")
    return result


def strides_of(dims, order):
    strides, step = [0] * len(dims), 1
    for d in (range(len(dims)) if order == "f" else reversed(range(len(dims)))):
        strides[d] = step
        step *= dims[d]
    return strides


def decode_shape(info, number):
    """(shape, strides of the elements, empty)"""
    need(len(info) >= 4 and info[0] >= 0 and len(info) == 2 * info[0] + 4, "bad-shape")
    rank = info[0]
    need(rank <= 32, "too-many-dims")
    dims, strides, extras, letter = info[1:1 + rank], info[1 + rank:1 + 2 * rank], info[1 + 2 * rank], info[-1]
    need(all(d >= 0 for d in dims), "bad-shape")
    need(letter in (99, 102), "bad-shape")
    empty = bool(extras & EMPTY)
    if empty and 0 not in dims:
        return [0], [1], True
    order = chr(letter)
    size = TYPES[number][3]
    need(product(dims) * max(size, 1) < 2 ** 64, "overflow")
    if 0 in dims:
        return dims, strides_of(dims, order), empty
    step = 1
    for s, d in sorted((s, d) for s, d in zip(strides, dims) if d != 1):
        need(s == step, "bad-strides")
        step *= d
    return dims, strides, empty


def to_c_order(raw, size, dims, steps=None):
    steps = steps or strides_of(dims, "f")
    places = [0]
    for d, step in zip(dims, steps):
        places = [p + i * step for p in places for i in range(d)]
    return b"".join(raw[p * size:(p + 1) * size] for p in places)


def turn(raw, size):
    return b"".join(raw[i:i + size][::-1] for i in range(0, len(raw), size)) if size > 1 else raw


def decode_texts(raw, count):
    """The bytes with plain offsets."""
    if not raw and not count:
        return bytes(8)
    need(len(raw) >= 8 * (count + 1), "size-mismatch")
    table = 8 * (count + 1)
    offsets = struct.unpack_from(f"<{count + 1}Q", raw)
    if offsets[0] == 0 and offsets[-1] <= len(raw) - table:
        return raw[:table + offsets[-1]]
    need(len(raw) >= table + 8, "bad-offsets")
    told, *offsets = struct.unpack_from(f">{count + 2}Q", raw)
    need(told == count and offsets[0] == 0 and offsets[-1] <= len(raw) - table - 8, "bad-offsets")
    return struct.pack(f"<{count + 1}Q", *offsets) + raw[table + 8:table + 8 + offsets[-1]]


def decode_elements(number, info, raw, big):
    """A tensor without its name."""
    dtype, _, _, size = TYPES[number]
    shape, strides, _ = decode_shape(info, number)
    if dtype == "UTF8":
        need(all(d == 1 or s == w for d, s, w in zip(shape, strides, strides_of(shape, "c"))), "bad-strides")
        data = decode_texts(raw, product(shape))
    else:
        need(len(raw) == product(shape) * size, "size-mismatch")
        data = to_c_order(raw, size, shape, strides)
        data = turn(data, size) if big else data
    return {"dtype": dtype, "shape": shape, "data": data.hex()}


def decode_array(table):
    number, order = table.scalar(2, "B"), table.scalar(3, "B")
    need(number in TYPES, "bad-dtype", str(number))
    need(order in (0, 1), "bad-type")
    need(table.place(4, 1) is None and not table.scalar(7, "B"), "bad-version")
    span = table.span(1, 1)
    raw = table.buffer.data[span[0]:span[0] + span[1]] if span else b""
    return decode_elements(number, table.numbers(0, "q") or [], raw, order == 1)


def read_array(data):
    """An ND4J binary array."""
    at = 0

    def number_of(form):
        nonlocal at
        size = struct.calcsize(form)
        need(len(data) >= at + size, "truncated")
        at += size
        return struct.unpack_from(">" + form, data, at - size)[0]

    def text():
        nonlocal at
        length = number_of("H")
        need(len(data) >= at + length, "truncated")
        at += length
        return data[at - length:at].decode("latin-1")

    def part():
        mode = text()
        need(mode in MODES, "bad-magic", mode)
        count, name = number_of(MODES[mode]), text()
        need(name in BY_NAME and name != "UTF8", "bad-dtype", name)
        return mode, BY_NAME[name], count

    mode, number, count = part()
    need(TYPES[number][0] == "I64" or TYPES[number][0] == "I32" and MODES[mode] == "I", "bad-shape")
    need(4 <= count <= 68, "bad-shape")
    info = [number_of("q" if TYPES[number][0] == "I64" else "i") for _ in range(count)]
    need(MODES[mode] == "Q" or info[-3] == 0, "bad-strides")
    if at == len(data) and len(info) >= 4 and info[-3] & EMPTY:
        numbers = [n for n, row in TYPES.items() if row[2] == info[-3] & TYPE_BITS]
        need(numbers and numbers[0] != 50, "bad-dtype")
        number, count = numbers[0], 0
    else:
        _, number, count = part()
    size = count * TYPES[number][3]
    need(len(data) >= at + size, "truncated")
    need(len(data) == at + size, "trailing-bytes")
    return decode_elements(number, info, data[at:], True)


# ----------------------------------------------------------------------------------------------------------- graph

def make_table():
    state, table = 0x544B2FBACAAF1684, []
    for _ in range(256):
        for _ in range(31):
            state ^= state >> 7
            state = (state ^ state << 11) & MASK
            state ^= state >> 10
        table.append(state)
    return table


HASH_TABLE = make_table()


def op_number(op):
    h = 0xBB40E64DA205B064
    for c in SYNONYMS.get(op, op).encode():
        h = (h * 7664345821815920749 & MASK) ^ HASH_TABLE[c]
        h = (h * 7664345821815920749 & MASK) ^ HASH_TABLE[0]
    return h - 2 ** 64 if h >> 63 else h


def read_variable(table):
    id_table, array = table.table(0), table.table(4)
    kind = table.scalar(6, "B")
    need(kind < len(KINDS), "bad-type")
    name = table.text(1)
    need(name, "bad-name")
    number = table.scalar(2, "B")
    need(number in KNOWN_TYPES, "bad-dtype")
    return {"name": name, "kind": KINDS[kind], "type": number, "shape": table.numbers(3, "q"),
            "id": id_table and [id_table.scalar(0, "i"), id_table.scalar(1, "i")],
            "array": array and decode_array(array)}


def read_properties(table):
    return [{"name": p.text(0), "ints": p.numbers(1, "i"), "longs": p.numbers(2, "q"), "reals": p.numbers(3, "d"),
             "arrays": [decode_array(a) for a in p.tables(4)], "bools": p.numbers(5, "B"), "texts": p.texts(6)}
            for p in table.tables(4)]


def read_operation(table):
    scalar, properties = table.table(18), read_properties(table)
    need(table.scalar(2, "B") in OP_TYPES, "unknown-op")
    need(KNOWN_TYPES.issuperset((table.numbers(17, "B") or []) + (table.numbers(22, "B") or [])), "bad-dtype")
    return {"id": table.scalar(0, "i"), "name": table.text(1), "op": table.text(16), "type": table.scalar(2, "B"),
            "number": table.scalar(3, "q"), "input_ids": table.pairs(6), "output_numbers": table.numbers(7, "i"),
            "outputs": table.texts(15) or [], "longs": table.numbers(9, "q"), "reals": table.numbers(8, "d"),
            "bools": table.numbers(10, "B"), "dimensions": table.numbers(11, "i"), "properties": properties,
            "scalar": scalar and decode_array(scalar)}


def read_beta3_variable(table):
    id_table, array, name = table.table(0), table.table(3), table.text(1)
    need(name, "bad-name")
    return {"name": name, "type": 0, "shape": table.numbers(2, "q"), "array": array and decode_array(array),
            "id": id_table and [id_table.scalar(0, "i"), id_table.scalar(1, "i")]}


def read_beta3_operation(table):
    properties, scalar = read_properties(table), table.scalar(13, "f")
    if scalar:
        properties.append({"name": "scalar", "ints": None, "longs": None, "reals": [scalar], "arrays": [], "bools": None,
                           "texts": None})
    need(table.scalar(2, "B") in BETA3_OP_TYPES, "unknown-op")
    need(table.scalar(7, "B") in KNOWN_TYPES, "bad-dtype")
    return {"id": table.scalar(0, "i"), "name": table.text(1), "op": table.text(17),
            "type": BETA3_OP_TYPES[table.scalar(2, "B")], "number": table.scalar(3, "q"), "input_ids": table.pairs(6),
            "outputs": table.texts(16) or [], "longs": table.numbers(10, "q"), "reals": table.numbers(9, "d"), "bools": None,
            "dimensions": table.numbers(11, "i"), "properties": properties, "scalar": None}


def renew(variables, operations):
    """What follows from a graph of beta2 or beta3: outputs, kinds, ids."""
    known, makers, renamed, told = {v["name"]: v for v in variables}, {}, {}, len(variables)

    def make(variable, id_):
        if variable.get("kind") != "ARRAY":
            if variable["id"] and variable["id"] != id_:
                renamed[tuple(variable["id"])] = id_
            variable.update(kind="ARRAY", id=id_)

    for op in operations:
        if not op["outputs"] and op["name"]:
            makers.setdefault(op["name"], op)
            op["outputs"] = [op["name"]]
    for op in operations:
        for i, name in enumerate(op["outputs"]):
            if name and name not in known:
                known[name] = {"name": name, "type": 0, "shape": None, "array": None, "id": None}
                variables.append(known[name])
            if name:
                make(known[name], [op["id"], i])
    for v in variables[:told]:
        base, _, k = v["name"].rpartition(":")
        if base in makers and k.isdecimal() and len(k) <= 6:
            make(v, [makers[base]["id"], int(k)])
    for v in variables:
        v.setdefault("kind", "VARIABLE" if v["array"] else "PLACEHOLDER")
        if v["array"]:
            v["type"] = [n for n, row in TYPES.items() if row[0] == v["array"]["dtype"]][0]
    for op in operations:
        op["input_ids"] = [renamed.get(tuple(pair), pair) for pair in op["input_ids"]]


def is_shape(buffer, at, count, form):
    try:
        numbers = [buffer.get(form, at + struct.calcsize(form) * i) for i in (0, count - 1)]
    except Refused:
        return False
    return count >= 4 and numbers[0] * 2 + 4 == count and numbers[1] in (99, 102)


def is_old_variable(buffer, table):
    at = table.place(4)
    if at is None or table.fields > 5:
        return False
    device = buffer.get("I", at)
    return device < 4 or device > len(buffer.data) - at


def is_of_a_snapshot(table):
    if table.fields >= 16 and table.place(7, 1) is None and table.place(8) is not None:
        return True
    if table.fields != 18 or table.place(14) is not None or table.place(15) is None or table.place(16) is None:
        return False
    name = bytes(table.numbers(17, "B") or [])
    return name[:1].isalpha() and name.replace(b"_", b"").isalnum()


def era_of(data, root):
    """What the tables look like: "now", "beta3", "before" or "snapshot"."""
    buffer = Buffer(data)
    root = Table(buffer, root.at)
    if root.place(0, 1) is not None and root.place(1, 1) == root.place(0, 1) + 4:
        return "before"
    if root.fields > 5:
        return "now"
    variables, old = root.tables(1)[:16], False
    for table in variables:
        if table.fields > 6:
            return "now"
        old = old or is_old_variable(buffer, table)
        array = table.table(3) if old else None
        shape = array.span(0, 4) if array else None
        if shape and is_shape(buffer, *shape, "i") and not is_shape(buffer, *shape, "q"):
            return "before"
    if old:
        return "beta3"
    nodes = root.tables(2)[:16]
    if not variables and any(t.fields >= 16 and t.place(7, 1) is None and t.place(8) is not None for t in nodes):
        return "beta3"
    return "snapshot" if any(is_of_a_snapshot(t) for t in nodes) else "now"


def outside(path, variable):
    """The array beside the file, or None."""
    if variable["kind"] in ("ARRAY", "SEQUENCE"):
        return None
    place = os.path.join(os.path.splitext(path)[0] + "_external", variable["name"] + ".bin")
    if not os.path.isfile(place):
        return None
    with open(place, "rb") as file:
        return read_array(file.read())


def others(parts, begin):
    """Names and arrays of all that belongs to no variable, in order."""
    for parameter, keys, arrays in parts["updaters"]:
        for key, array in zip(keys, arrays):
            yield f"{begin}updater/{parameter}/{key}", array
    for i, op in enumerate(parts["operations"]):
        owner = op["name"] if op["name"] is not None else f"#{i}"
        if op["scalar"]:
            yield f"{begin}op/{owner}/scalar", op["scalar"]
        for p in op["properties"]:
            for k, array in enumerate(p["arrays"]):
                several = f"/{k}" if len(p["arrays"]) > 1 else ""
                yield f"{begin}op/{owner}/{p['name'] or ''}{several}", array
    for name, arrays in parts["sequences"]:
        for k, array in enumerate(arrays):
            yield f"{begin}sequence/{name}/{k}", array
    for name, inner in parts["graphs"]:
        begin_inner = f"{begin}graph/{name}/"
        for v in inner["variables"]:
            if v["array"]:
                yield f"{begin_inner}variable/{v['name']}", v["array"]
        yield from others(inner, begin_inner)


def name_tensors(path, parts):
    tensors, names = [], set()

    def add(name, array):
        name = name if name not in names else f"{name}#{len(tensors)}"
        need(name not in names, "duplicate-name", name)
        names.add(name)
        tensors.append({"name": name, **array})

    variables = parts["variables"]
    beside = [(v["name"], outside(path, v)) for v in variables if not v["array"]]
    beside = [(name, array) for name, array in beside if array]
    held = [v["name"] for v in variables if v["array"]] + [name for name, _ in beside]
    mark = "@" * (1 + max([0] + [len(name) - len(name.lstrip("@")) for name in held]))
    names.update(name for name, _ in beside)
    for v in variables:
        if v["array"]:
            add(v["name"], v["array"])
    for name, array in others(parts, mark):
        add(name, array)
    tensors += [{"name": name, **array} for name, array in beside]
    return tensors


def read_inner(table, depth):
    """A graph inside of a graph: its name, and what is in its bytes."""
    need(depth < 16, "too-deep")
    name, span = table.text(0), table.span(1, 1)
    need(name is not None and span, "bad-name")
    return name, read_parts(table.buffer.data[span[0]:span[0] + span[1]], depth + 1)


def read_parts(data, depth=0):
    buffer = Buffer(data)
    root = Table(buffer, buffer.follow(0))
    need(root.at % 4 == 0 and root.fields <= 12, "bad-header")
    need(root.place(1) is not None and root.place(2) is not None, "bad-header")
    try:
        era = "now" if depth else era_of(data, root)
    except Refused:
        era = "now"
    need(era not in ("before", "snapshot"), "bad-version", era)
    variables = [read_beta3_variable(t) if era == "beta3" else read_variable(t) for t in root.tables(1)]
    names = [v["name"] for v in variables]
    need(len(names) == len(set(names)), "duplicate-name")
    updaters = [(t.text(0), t.texts(1) or [], [decode_array(a) for a in t.tables(2)]) for t in root.tables(8)]
    need(all(len(keys) == len(arrays) for _, keys, arrays in updaters), "bad-count")
    operations = [read_beta3_operation(t) if era == "beta3" else read_operation(t) for t in root.tables(2)]
    if era == "beta3":
        renew(variables, operations)
    metadata, sequences = {}, []
    if root.place(10) is not None:
        keys, values = root.texts(9) or [], root.texts(10)
        need(len(keys) == len(values), "bad-count")
        metadata = dict(zip(keys, values))
    else:
        sequences = [(t.text(0), [decode_array(a) for a in t.tables(1)]) for t in root.tables(9)]
    by_id = {tuple(v["id"]): v["name"] for v in reversed(variables) if v["id"]}
    warnings = []
    for op in operations:
        op["inputs"] = [by_id.get(tuple(pair)) for pair in op["input_ids"]]
        if op["type"] == CUSTOM and op["op"] and op_number(op["op"]) != op["number"]:
            warnings.append("op-mismatch")
    return {"metadata": metadata, "variables": variables, "operations": operations, "updaters": updaters,
            "sequences": sequences, "placeholders": root.texts(5) or [], "losses": root.texts(6) or [],
            "training": root.text(7), "warnings": warnings, "graphs": [read_inner(t, depth) for t in root.tables(11)]}


def read_graph(path, data):
    need(len(data) >= 8, "truncated")
    parts = read_parts(data)
    return {"format": "samediff-flatbuffers", **parts, "tensors": name_tensors(path, parts)}


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    if any(data.startswith(struct.pack(">H", len(mode)) + mode.encode()) for mode in MODES):
        name = os.path.basename(path)
        tensor = {"name": name.removesuffix(".bin"), **read_array(data)}
        return {"format": "nd4j-array", "metadata": {}, "tensors": [tensor]}
    return read_graph(path, data)


def main():
    try:
        json.dump(read(sys.argv[1]), sys.stdout)
    except Refused as problem:
        print(f"{sys.argv[1]}: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
