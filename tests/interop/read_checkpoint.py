#!/usr/bin/env python3
"""Reads a checkpoint, or one shard alone, and checks all of it: read_checkpoint.py PREFIX | SHARD

Written from docs/formats/checkpoint.md and dtypes.md alone, with the standard library. Prints one JSON document: the
tensors with their bytes in hexadecimal, and the warnings. Exits 1 with one line on standard error when the checkpoint
has to be refused."""

import binascii
import datetime
import hashlib
import json
import os
import re
import struct
import sys

import read_blake3

MAGIC = 0x53484152
BLOCK = 16 << 20
TRAILER = 20
# name: (number in shards, bytes of an element or block, dataType, C# number)
TYPES = {
    "BOOL": (1, 1, "Bool", 11), "U8": (2, 1, "UInt8", 7), "I8": (3, 1, "Int8", 3), "U16": (4, 2, "UInt16", 8),
    "I16": (5, 2, "Int16", 4), "U32": (6, 4, "UInt32", 9), "I32": (7, 4, "Int32", 5), "U64": (8, 8, "UInt64", 10),
    "I64": (9, 8, "Int64", 6), "F16": (10, 2, "Float16", 0), "BF16": (11, 2, "BFloat16", 12),
    "F32": (12, 4, "Float32", 1), "F64": (13, 8, "Float64", 2), "F8_E4M3": (14, 1, "Float8E4M3", None),
    "F8_E5M2": (15, 1, "Float8E5M2", None), "C64": (16, 8, "Complex64", None), "UTF8": (17, None, "Utf8", None),
    "F8_E8M0": (18, 1, "Float8E8M0", None), "F8_E4M3FNUZ": (19, 1, "Float8E4M3FNUZ", None),
    "F8_E5M2FNUZ": (20, 1, "Float8E5M2FNUZ", None), "F4": (21, 1, "Float4E2M1", None),
    "F6_E2M3": (22, 3, "Float6E2M3", None), "F6_E3M2": (23, 3, "Float6E3M2", None)}
# ggml's blocks: its number, elements and bytes of one
GGML = {
    "Q4_0": (2, 32, 18), "Q4_1": (3, 32, 20), "Q5_0": (6, 32, 22), "Q5_1": (7, 32, 24),
    "Q8_0": (8, 32, 34), "Q8_1": (9, 32, 36), "Q2_K": (10, 256, 84), "Q3_K": (11, 256, 110),
    "Q4_K": (12, 256, 144), "Q5_K": (13, 256, 176), "Q6_K": (14, 256, 210), "Q8_K": (15, 256, 292),
    "IQ2_XXS": (16, 256, 66), "IQ2_XS": (17, 256, 74), "IQ3_XXS": (18, 256, 98), "IQ1_S": (19, 256, 50),
    "IQ4_NL": (20, 32, 18), "IQ3_S": (21, 256, 110), "IQ2_S": (22, 256, 82), "IQ4_XS": (23, 256, 136),
    "IQ1_M": (29, 256, 56), "TQ1_0": (34, 256, 54), "TQ2_0": (35, 256, 66), "MXFP4": (39, 32, 17),
    "NVFP4": (40, 64, 36), "Q1_0": (41, 128, 18), "Q2_0": (42, 64, 18)}
TYPES.update({name: (64 + number, size, name, None) for name, (number, _, size) in GGML.items()})
PER_BLOCK = {"F4": 2, "F6_E2M3": 4, "F6_E3M2": 4, **{name: row[1] for name, row in GGML.items()}}
OPAQUE, OPAQUE_NUMBER = "Opaque:", 63
BY_NUMBER = {row[0]: name for name, row in TYPES.items()}
BY_DATA_TYPE = {row[2]: name for name, row in TYPES.items()}
BY_CSHARP = {row[3]: name for name, row in TYPES.items() if row[3] is not None}
SEAL_END = re.compile(rb'[,{]\n  "sha256": "([0-9a-f]{64})"\n\}\Z')


class Refused(Exception):
    """What a reader must refuse; the first argument is the reason."""


def refuse(reason, text):
    raise Refused(f"{reason}: {text}")


def need(holds, reason, text):
    if not holds:
        refuse(reason, text)


# ------------------------------------------------------------------------------------------------------------ JSON

def unique(pairs):
    keys = [key for key, _ in pairs]
    need(len(keys) == len(set(keys)), "duplicate-key", "a key stands twice")
    return dict(pairs)


def no_constant(word):
    refuse("bad-json", f"{word} is no JSON")


def parse_json(raw):
    try:
        text = raw.decode("utf-8")
        value = json.loads(text, object_pairs_hook=unique, parse_constant=no_constant)
        json.dumps(value, ensure_ascii=False).encode("utf-8")  # lone surrogates
    except (ValueError, RecursionError) as problem:
        refuse("bad-json", str(problem))
    need(isinstance(value, dict), "bad-type", "not an object")
    return value


def integer(value, what, low=0, high=2 ** 64 - 1):
    need(isinstance(value, int) and not isinstance(value, bool), "bad-type", f"{what} is no integer")
    need(low <= value <= high, "bad-number", f"{what} is {value}")
    return value


def text_of(value, what):
    need(isinstance(value, str), "bad-type", f"{what} is no text")
    need("\0" not in value, "bad-text", f"{what} holds NUL")
    return value


def text_or_null(value, what):
    return "" if value is None else text_of(value, what)


def object_or_null(value, what):
    need(value is None or isinstance(value, dict), "bad-type", f"{what} is no object")
    return value or {}


def check_seal(raw, meta):
    """True when sealed, False when there is no seal; refuses a broken one."""
    if "sha256" not in meta:
        return False
    match = SEAL_END.search(raw)
    need(match, "bad-seal", "the document does not end with its seal")
    hashed = raw[:match.start() + len(",\n  ")]
    need(hashlib.sha256(hashed).hexdigest().encode() == match.group(1), "bad-seal", "the hash is wrong")
    return True


# ----------------------------------------------------------------------------------------------------------- shard

class Cursor:
    def __init__(self, raw):
        self.raw, self.at = raw, 0

    def take(self, count):
        need(count <= len(self.raw) - self.at, "truncated", f"ends at byte {len(self.raw)}")
        self.at += count
        return self.raw[self.at - count:self.at]

    def number(self, size):
        return int.from_bytes(self.take(size), "little")

    def numbers(self, size, count):
        need(count * size <= len(self.raw) - self.at, "truncated", f"ends at byte {len(self.raw)}")
        return [self.number(size) for _ in range(count)]


def count_of(shape):
    product = 1
    for dimension in shape:
        product *= dimension
    need(product < 2 ** 64, "bad-shape", "does not fit 64 bits")
    return product


def in_blocks(dtype, box):
    """A shape or place with its last dimension counted in blocks; None when it lies inside of one."""
    per = PER_BLOCK.get(dtype, 1)
    if not box or box[-1] % per:
        return box if per == 1 else None
    return [*box[:-1], box[-1] // per]


def check_entry(entry):
    if entry["dtype"].startswith(OPAQUE):
        need(0 < len(entry["dtype"][len(OPAQUE):].encode()) < 256, "bad-dtype", entry["name"])
        need(entry["globalShape"] is None, "bad-piece", "never cut")
        return
    size, per = TYPES[entry["dtype"]][1], PER_BLOCK.get(entry["dtype"], 1)
    count = count_of(entry["shape"])
    if size is None:
        need(entry["size"] >= 8 * (count + 1), "size-mismatch", entry["name"])
        need(entry["globalShape"] is None, "bad-piece", "text is never cut")
    else:
        need(count % per == 0, "bad-shape", entry["name"])
        need(entry["dtype"] not in GGML or in_blocks(entry["dtype"], entry["shape"]), "bad-shape", entry["name"])
        need(entry["size"] == count // per * size < 2 ** 64, "size-mismatch", entry["name"])
    if entry["globalShape"] is not None:
        need(all(in_blocks(entry["dtype"], entry[key]) is not None for key in ("shape", "globalShape", "globalOffset")),
             "bad-piece", entry["name"])
    if entry["globalShape"] is not None:
        count_of(entry["globalShape"])
        for whole, at, here in zip(entry["globalShape"], entry["globalOffset"], entry["shape"]):
            need(at + here <= whole, "bad-piece", entry["name"])


def checksum_of(data, text):
    """The checksum text that data has, by the digest that the text names."""
    if text.startswith("blake3:"):
        return "blake3:" + read_blake3.digest(data).hex()
    return hashlib.sha256(data).hexdigest()


class Shard:
    """One file; want is its object of the metadata, or None for a shard alone."""

    def __init__(self, path, want, warnings):
        with open(path, "rb") as file:
            self.raw = file.read()
        self.path, self.warnings = path, warnings
        cursor = Cursor(self.raw)
        need(cursor.number(4) == MAGIC, "bad-magic", path)
        self.rank = cursor.number(4)
        need(self.rank < 2 ** 31, "bad-rank", path)
        length = cursor.number(4)
        need(length <= 1024, "bad-checksum", path)
        checksum = cursor.take(length)
        need(b"\0" not in checksum, "bad-checksum", path)
        self.checksum = checksum.decode("latin-1")
        self.count = cursor.number(4)
        need(self.count < 2 ** 31, "bad-count", path)
        size = want["fileSize"] if want else 0
        need(size in (0, len(self.raw)), "size-mismatch", path)
        self.choose_layout(16 + length, size != 0)
        if self.checksum:
            need(checksum_of(self.data, self.checksum) == self.checksum, "bad-checksum", path)
        else:
            warnings.append(f"no-checksum: {os.path.basename(path)}")
        self.index = None
        if not self.four and len(self.data) >= TRAILER and self.data[-8:-1] == b"SHERDIX":
            self.read_index()

    def choose_layout(self, at, vouched):
        size = len(self.raw)
        four = int.from_bytes(self.raw[at:at + 4], "little")
        eight = int.from_bytes(self.raw[at:at + 8], "little")
        need(size >= at + 4, "truncated", self.path)
        if size >= at + 8 and size == at + 8 + eight:
            self.four, self.data = False, self.raw[at + 8:]
            return
        fits = size == at + 4 + four and four < 2 ** 31
        if fits and not vouched:
            fits = self.raw[-8:-1] != b"SHERDIX" and (
                not self.checksum or checksum_of(self.raw[at + 4:], self.checksum) == self.checksum)
        need(fits, "truncated" if size < at + 8 + eight else "trailing-bytes", self.path)
        self.four, self.data = True, self.raw[at + 4:]

    def read_index(self):
        version = self.data[-1:]
        need(version in (b"1", b"2"), "bad-version", "index")
        length, crc = struct.unpack("<QI", self.data[-TRAILER:-8])
        need(1 <= length <= len(self.data) - TRAILER, "bad-index", self.path)
        start = len(self.data) - TRAILER - length
        need(binascii.crc32(self.data[start:-12]) == crc, "bad-crc", "index")
        cursor = Cursor(self.data[start:-TRAILER])
        index = {"setId": cursor.take(16).hex(), "rank": cursor.number(4), "world": cursor.number(4)}
        index["time"] = struct.unpack("<q", cursor.take(8))[0]
        count, about = cursor.number(4), cursor.number(4)
        index["about"] = parse_json(cursor.take(about)) if about else {}
        need(not set(index["about"]) & {"version", "timestamp", "worldSize", "shards", "setId", "sha256"},
             "duplicate-key", "the description has keys of the metadata")
        index["entries"] = [self.read_record(cursor, start) for _ in range(count)]
        if version == b"2":
            self.check_values(cursor, start)
        need(cursor.at == len(cursor.raw), "trailing-bytes", "index")
        need(index["rank"] == self.rank and index["rank"] < index["world"], "bad-rank", self.path)
        need(count == self.count, "bad-count", self.path)
        names = [entry["name"] for entry in index["entries"]]
        need(len(names) == len(set(names)), "duplicate-name", self.path)
        self.check_places(index["entries"], start)
        self.index = index

    def check_values(self, cursor, start):
        """The values of parts in front of the index; with those of the others they make the digest."""
        log = cursor.number(1)
        need(10 <= log <= 24, "bad-index", "size of parts")
        values = [cursor.take(32) for _ in range(start >> log)]
        right = read_blake3.values(self.data, 1 << log)
        need(right[:len(values)] == values, "bad-part", self.path)
        need("blake3:" + read_blake3.join(values + right[len(values):]).hex() == self.checksum, "bad-checksum",
             self.path)

    def read_record(self, cursor, end):
        length, kind, dims, flags, zero = struct.unpack("<IBBBB", cursor.take(8))
        need(kind in BY_NUMBER or kind == OPAQUE_NUMBER, "bad-dtype", str(kind))
        need(dims <= 32, "too-many-dims", str(dims))
        need(length <= 64 << 10, "name-too-long", str(length))
        need(not flags & ~7 and not zero and bool(flags & 4) == (kind == OPAQUE_NUMBER), "bad-index", "flags")
        entry = {"dtype": BY_NUMBER.get(kind), "offset": cursor.number(8), "size": cursor.number(8)}
        entry["shape"] = cursor.numbers(8, dims)
        entry["globalShape"] = cursor.numbers(8, dims) if flags & 1 else None
        entry["globalOffset"] = cursor.numbers(8, dims) if flags & 1 else None
        crcs = cursor.numbers(4, -(-entry["size"] // BLOCK))
        entry["name"] = cursor.take(length).decode("utf-8")
        need("\0" not in entry["name"], "bad-name", self.path)
        if flags & 2:
            entry["extra"] = parse_json(b"{" + cursor.take(cursor.number(4)) + b"}")
            need(not set(entry["extra"]) & {"name", "shape", "dataType", "offset", "size", "globalShape",
                                            "globalOffset"}, "duplicate-key", "further members")
        if flags & 4:
            entry["dtype"] = OPAQUE + cursor.take(cursor.number(1)).decode("utf-8")
        check_entry(entry)
        need(entry["offset"] + entry["size"] <= end, "out-of-range", entry["name"])
        for number, crc in enumerate(crcs):
            at = entry["offset"] + number * BLOCK
            block = self.data[at:min(at + BLOCK, entry["offset"] + entry["size"])]
            need(binascii.crc32(block) == crc, "bad-crc", f"{entry['name']}, block {number}")
        return entry

    def check_places(self, entries, end):
        behind = 0
        for entry in sorted((e for e in entries if e["size"]), key=lambda e: e["offset"]):
            need(entry["offset"] >= behind, "overlap", entry["name"])
            behind = entry["offset"] + entry["size"]
            need(behind <= end, "out-of-range", entry["name"])

    def bytes_of(self, entry):
        return self.data[entry["offset"]:entry["offset"] + entry["size"]]


# -------------------------------------------------------------------------------------------------------- metadata

def dims_of(value, what):
    need(isinstance(value, list), "bad-type", what)
    need(len(value) <= 32, "too-many-dims", what)
    return [integer(v, what) for v in value]


def read_tensor(raw):
    need(isinstance(raw, dict), "bad-type", "tensor")
    for key in ("name", "shape", "dataType", "size"):
        need(key in raw, "missing-key", key)
    kind = raw["dataType"]
    if isinstance(kind, str):
        need(kind in BY_DATA_TYPE or kind.startswith(OPAQUE), "bad-dtype", kind)
        dtype = BY_DATA_TYPE.get(kind, kind)
    else:
        need(integer(kind, "dataType") in BY_CSHARP, "bad-dtype", str(kind))
        dtype = BY_CSHARP[kind]
    entry = {"name": text_of(raw["name"], "name"), "dtype": dtype, "shape": dims_of(raw["shape"], "shape"),
             "offset": integer(raw.get("offset", 0), "offset"), "size": integer(raw["size"], "size"),
             "globalShape": None, "globalOffset": None}
    need(len(entry["name"].encode()) <= 64 << 10, "name-too-long", "name")
    need(("globalShape" in raw) == ("globalOffset" in raw), "bad-piece", entry["name"])
    if "globalShape" in raw:
        entry["globalShape"] = dims_of(raw["globalShape"], "globalShape")
        entry["globalOffset"] = dims_of(raw["globalOffset"], "globalOffset")
        need(len(entry["globalShape"]) == len(entry["globalOffset"]) == len(entry["shape"]), "bad-piece",
             entry["name"])
    check_entry(entry)
    return entry


def read_shard_object(raw):
    need(isinstance(raw, dict), "bad-type", "shard")
    need("rank" in raw and "fileSize" in raw, "missing-key", "rank or fileSize")
    path = text_or_null(raw.get("filePath"), "filePath")
    last = path.split("/")[-1]
    need(not path or ("../" not in path and "\\" not in path and last not in ("", ".", "..")), "bad-path", path)
    tensors = raw.get("tensors")
    need(tensors is None or isinstance(tensors, list), "bad-type", "tensors")
    return {"rank": integer(raw["rank"], "rank", high=2 ** 32 - 1), "file": last,
            "fileSize": integer(raw["fileSize"], "fileSize"),
            "checksum": text_or_null(raw.get("checksum"), "checksum"),
            "tensors": None if tensors is None else [read_tensor(t) for t in tensors]}


def nanoseconds(text):
    match = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)", text)
    need(match, "bad-time", text)
    zone = "+00:00" if match.group(3) == "Z" else match.group(3)
    when = datetime.datetime.fromisoformat(match.group(1) + zone)
    since = when - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    return (since.days * 86400 + since.seconds) * 10 ** 9 + int((match.group(2) or "0")[:9].ljust(9, "0"))


def read_metadata(path, warnings):
    with open(path, "rb") as file:
        raw = file.read()
    meta = parse_json(raw)
    sealed = check_seal(raw, meta)
    for key in ("version", "worldSize", "shards"):
        need(key in meta, "missing-key", key)
    version = text_of(meta["version"], "version")
    need(version == "1" or version.startswith("1."), "bad-version", version)
    world = integer(meta["worldSize"], "worldSize", high=2 ** 32 - 1)
    need(isinstance(meta["shards"], list), "bad-type", "shards")
    shards = sorted((read_shard_object(s) for s in meta["shards"]), key=lambda s: s["rank"])
    ranks = [s["rank"] for s in shards]
    need(len(ranks) == len(set(ranks)), "duplicate-rank", path)
    sharding = object_or_null(meta.get("sharding"), "sharding") or object_or_null(meta.get("shardingStrategy"),
                                                                                "shardingStrategy")
    count = sharding.get("shardCount")
    need(count is None or integer(count, "shardCount") == len(shards), "missing-shards", path)
    if "setId" in meta:
        need(re.fullmatch("[0-9a-f]{32}", text_of(meta["setId"], "setId")), "bad-set-id", path)
        need(sealed, "bad-seal", "a set of ours without its seal")
        need(ranks == list(range(world)) and world, "missing-shards", path)
    else:
        need(len(shards) == (world if count is None else count) != 0, "missing-shards", path)
    if not sealed:
        warnings.append("no-seal: " + os.path.basename(path))
    fields = object_or_null(meta.get("customFields"), "customFields")
    for key, value in fields.items():
        text_or_null(value, key)
    object_or_null(meta.get("training"), "training")
    return meta, world, shards


def place_foreign(entries, size):
    if all(e["offset"] == 0 for e in entries) and sum(e["size"] for e in entries) == size:
        at = 0
        for entry in entries:
            entry["offset"], at = at, at + entry["size"]


PLACED = ("name", "dtype", "shape", "offset", "size", "globalShape", "globalOffset")


def join_shard(meta, world, want, shard):
    """The entries of a shard, after metadata, head and index were held against each other."""
    need(shard.rank == want["rank"], "bad-rank", shard.path)
    need(shard.checksum == want["checksum"], "bad-checksum", shard.path)
    entries, index = want["tensors"], shard.index
    if "setId" in meta:
        need(index is not None, "no-index", shard.path)
        need(index["setId"] == meta["setId"], "other-set", shard.path)
        need(index["world"] == world, "bad-world", shard.path)
        if shard.rank == 0:
            need(index["time"] == nanoseconds(meta["timestamp"]), "bad-metadata", "time")
            for key, empty in (("training", {}), ("customFields", {})):
                given = index["about"].get(key) or empty
                need(all(meta[key].get(k) == v for k, v in given.items()), "bad-metadata", key)
    if entries is None:
        need(index is not None, "no-index", shard.path)
        return index["entries"]
    need(len(entries) == shard.count, "bad-count", shard.path)
    if "setId" in meta:
        for a, b in zip(entries, index["entries"]):
            need(all(a[key] == b[key] for key in PLACED), "bad-metadata", a["name"])
    else:
        place_foreign(entries, len(shard.data))
    shard.check_places(entries, len(shard.data))
    return entries


# --------------------------------------------------------------------------------------------------------- tensors

def check_text(name, shape, raw):
    count = count_of(shape)
    offsets = struct.unpack(f"<{count + 1}Q", raw[:8 * (count + 1)])
    room = len(raw) - 8 * (count + 1)
    need(offsets[0] == 0 and offsets[-1] == room and list(offsets) == sorted(offsets), "bad-offsets", name)
    for i in range(count):
        try:
            raw[8 * (count + 1) + offsets[i]:8 * (count + 1) + offsets[i + 1]].decode("utf-8")
        except UnicodeDecodeError:
            refuse("bad-utf8", name)


def overlap(a, b):
    return all(x < y + m and y < x + n for x, n, y, m in zip(a[0], a[1], b[0], b[1]))


def put(whole, shape, size, at, box, raw):
    """Copies a box, in C order, to its place in the whole."""
    if not box:
        whole[:] = raw
        return
    steps, step = [], size
    for dimension in reversed(shape):
        steps.insert(0, step)
        step *= dimension
    run = box[-1] * size
    for row in range(len(raw) // run):
        target, rest = at[-1] * size, row
        for d in range(len(box) - 2, -1, -1):
            target += (at[d] + rest % box[d]) * steps[d]
            rest //= box[d]
        whole[target:target + run] = raw[row * run:(row + 1) * run]


def join_tensor(name, parts):
    """parts: (entry, bytes), by rank."""
    first = parts[0][0]
    whole_shape = first["globalShape"] if first["globalShape"] is not None else first["shape"]
    boxes = {}
    for entry, raw in parts:
        own = entry["globalShape"] if entry["globalShape"] is not None else entry["shape"]
        need(entry["dtype"] == first["dtype"] and own == whole_shape, "bad-piece", name)
        at = entry["globalOffset"] if entry["globalShape"] is not None else [0] * len(own)
        key = (tuple(at), tuple(entry["shape"]))
        need(boxes.setdefault(key, raw) == raw, "replica-mismatch", name)
    if first["dtype"].startswith(OPAQUE) or in_blocks(first["dtype"], whole_shape) is None:
        return whole_shape, parts[0][1]
    if first["dtype"] == "UTF8":
        check_text(name, first["shape"], parts[0][1])
        return whole_shape, parts[0][1]
    size = TYPES[first["dtype"]][1]
    solid = [(tuple(in_blocks(first["dtype"], list(box)) for box in key), raw) for key, raw in sorted(boxes.items())
             if raw]
    blocks = in_blocks(first["dtype"], whole_shape)
    for i, (a, _) in enumerate(solid):
        for b, _ in solid[:i]:
            need(not overlap(a, b), "overlap", name)
    whole = bytearray(count_of(blocks) * size)
    need(sum(len(raw) for _, raw in solid) == len(whole), "missing-piece", name)
    for (at, box), raw in solid:
        put(whole, blocks, size, at, box, raw)
    return whole_shape, bytes(whole)


def join(shards):
    """shards: (Shard, entries) by rank."""
    parts = {}
    for shard, entries in shards:
        seen = set()
        for entry in entries:
            need(entry["name"] not in seen, "duplicate-name", entry["name"])
            seen.add(entry["name"])
            parts.setdefault(entry["name"], []).append((entry, shard.bytes_of(entry)))
    tensors = []
    for name, found in parts.items():
        shape, raw = join_tensor(name, found)
        tensors.append({"name": name, "dtype": found[0][0]["dtype"], "shape": shape, "hex": raw.hex()})
    return tensors


def read_set(prefix):
    warnings = []
    path = prefix + ".metadata.json"
    if not os.path.exists(path):
        refuse("not-found", path)
    meta, world, wants = read_metadata(path, warnings)
    joined = []
    for want in wants:
        file = want["file"] or f"{os.path.basename(prefix)}_shard_{want['rank']}.shard"
        key = os.path.join(os.path.dirname(prefix), file)
        need(os.path.exists(key), "missing-shard", key)
        shard = Shard(key, want, warnings)
        joined.append((shard, join_shard(meta, world, want, shard)))
    return {"setId": meta.get("setId"), "world": world, "timestamp": meta.get("timestamp", ""),
            "training": meta.get("training") or {}, "customFields": meta.get("customFields") or {},
            "tensors": join(joined), "warnings": warnings}


def read_alone(path):
    warnings = []
    shard = Shard(path, None, warnings)
    entries = shard.index["entries"] if shard.index else []
    if not shard.index:
        warnings.append("no-index: " + os.path.basename(path))
    alone = [dict(e, globalShape=None, globalOffset=None) for e in entries]
    return {"setId": shard.index and shard.index["setId"], "rank": shard.rank, "tensors": join([(shard, alone)]),
            "warnings": warnings}


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    name = sys.argv[1]
    try:
        result = read_alone(name) if name.endswith(".shard") else read_set(name.removesuffix(".metadata.json"))
    except (Refused, UnicodeDecodeError) as problem:
        print(f"{name}: {problem}", file=sys.stderr)
        return 1
    json.dump(result, sys.stdout, indent=1)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
