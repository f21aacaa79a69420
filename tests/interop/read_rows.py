#!/usr/bin/env python3
"""Streams or checks rows: read_rows.py stream|check FOLDER|SHARD... [OPTION=VALUE]...

Written from docs/formats/rows.md alone, with the standard library.

stream prints a line for each batch (number, padding or not, row ids, values as 64-bit floats in hexadecimal), the cursor
behind it, and at the end both digests. Options: batch, from, rank, world, tail, shuffle, window, epoch, sample, resume.
check prints what is wrong with a folder or a shard, a line each. A set that has to be refused gives one line on standard
error and exit status 1."""

import hashlib
import json
import os
import re
import struct
import sys
import zlib

MASK = (1 << 64) - 1
BLOCK = 16 << 20
KINDS = {"F32": (b".shard", 32, 4), "F16": (b".f16", 0, 2), "BF16": (b".bf16", 0, 2)}
SEAL = re.compile(rb'[,{]\n  "sha256": "([0-9a-f]{64})"\n\}\Z')


class Refused(Exception):
    """What a reader must refuse; the first argument is the reason."""


def h(x):
    z = (x + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
    return z ^ z >> 31


# ---- files


class Shard:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.raw = raw = file.read()
        if len(raw) < 32:
            raise Refused("truncated", path)
        if raw[:8] != b"GAMSAE01":
            raise Refused("bad-magic", path)
        self.rows, self.width, dtype, self.reserved = struct.unpack_from("<QQII", raw, 8)
        if dtype != 0:
            raise Refused("bad-dtype", path)
        if self.width == 0:
            raise Refused("bad-width", path)
        self.end = 32 + 4 * self.rows * self.width
        if self.end > len(raw):
            raise Refused("truncated", path)

    def row(self, index):
        return struct.unpack_from(f"<{self.width}f", self.raw, 32 + 4 * index * self.width)


class Headless:
    """A file of F16 or BF16 that a manifest lists."""

    def __init__(self, path, entry, manifest):
        with open(path, "rb") as file:
            self.raw = file.read()
        self.rows, self.width, self.dtype = entry["rows"], manifest["width"], manifest["dtype"]
        if len(self.raw) != entry["bytes"]:
            raise Refused("truncated" if len(self.raw) < entry["bytes"] else "size-mismatch", path)

    def row(self, index):
        at = 2 * index * self.width
        if self.dtype == "F16":
            return struct.unpack_from(f"<{self.width}e", self.raw, at)
        bits = struct.unpack_from(f"<{self.width}H", self.raw, at)
        return struct.unpack(f"<{self.width}f", struct.pack(f"<{self.width}I", *(b << 16 for b in bits)))


def is_checkpoint(path):
    with open(path, "rb") as file:
        return file.read(4) == b"RAHS"


def shard_names(folder, suffix=b".shard"):
    names = [os.fsencode(n) for n in os.listdir(folder) if os.path.isfile(os.path.join(folder, n))]
    return [os.fsdecode(n) for n in sorted(names) if n.endswith(suffix) and len(n) > len(suffix)]


def listed_shards(folder):
    """What a manifest lists, in its order."""
    manifest = read_manifest(f"{folder}/rows.manifest.json")
    for entry in manifest["shards"]:
        path = f"{folder}/{entry['file']}"
        if not os.path.exists(path):
            raise Refused("missing-shard", path)
        shard = Shard(path) if manifest["dtype"] == "F32" else Headless(path, entry, manifest)
        if shard.width != manifest["width"]:
            raise Refused("width-mismatch", path)
        if shard.rows != entry["rows"]:
            raise Refused("bad-count", path)
        yield shard


class Set:
    def __init__(self, paths):
        self.width = None
        self.shards = []
        self.manifest = None
        if len(paths) == 1 and os.path.isdir(paths[0]):
            folder, paths = paths[0], []
            if os.path.exists(f"{folder}/rows.manifest.json"):
                self.shards = list(listed_shards(folder))
                self.manifest = read_manifest(f"{folder}/rows.manifest.json")
                self.width = self.shards[0].width if self.shards else None
            elif os.path.exists(f"{folder}/rows.packing"):
                raise Refused("incomplete", folder)
            else:
                paths = [f"{folder}/{n}" for n in shard_names(folder) if not is_checkpoint(f"{folder}/{n}")]
        for path in paths:
            shard = Shard(path)
            self.width = self.width or shard.width
            if shard.width != self.width:
                raise Refused("width-mismatch", path)
            self.shards.append(shard)
        self.total = sum(s.rows for s in self.shards)
        if not self.total:
            raise Refused("empty", "no rows")
        if self.total > MASK:
            raise Refused("too-many-rows", "")

    def lineage(self, total):
        """Of the set as far as row total; None when there is none."""
        if not self.manifest:
            return None
        text, rows = f"{self.manifest['dtype']} {self.manifest['width']}\n", 0
        for entry in self.manifest["shards"]:
            if rows < total and entry["rows"]:
                text += f"{entry['rows']} {entry['sha256']}\n"
                rows += entry["rows"]
        return hashlib.sha256(text.encode()).hexdigest() if rows == total else None

    def place(self, row):
        """The shard of a row, and the row's number in it."""
        for shard in self.shards:
            if row < shard.rows:
                return shard, row
            row -= shard.rows
        raise IndexError(row)

    def row(self, row):
        shard, index = self.place(row)
        return shard.row(index)


# ---- the manifest


def no_twice(pairs):
    if len({k for k, _ in pairs}) != len(pairs):
        raise Refused("duplicate-key", "")
    return dict(pairs)


def need(condition, reason, text=""):
    if not condition:
        raise Refused(reason, text)


def count_of(value):
    need(type(value) is int and 0 <= value <= MASK, "bad-number", str(value))
    return value


def read_manifest(path):
    with open(path, "rb") as file:
        raw = file.read()
    seal = SEAL.search(raw)
    need(seal and hashlib.sha256(raw[:seal.start() + 4]).hexdigest() == seal[1].decode(), "bad-seal", path)
    m = json.loads(raw, object_pairs_hook=no_twice)
    need({"format", "version", "rows", "width", "dtype", "shards"} <= m.keys(), "missing-key", path)
    need(m["format"] == "sherd-rows", "unknown-format", path)
    need(type(m["version"]) is int and 1 <= m["version"] <= 2, "bad-version", path)
    need(m["dtype"] in ("F32", "F16", "BF16") and (m["version"] > 1 or m["dtype"] == "F32"), "bad-dtype", path)
    need(count_of(m["width"]) > 0, "bad-width", path)
    suffix, head, element = KINDS[m["dtype"]]
    last, names = b"", set()
    for s in m["shards"]:
        need({"file", "rows", "bytes", "sha256"} <= s.keys(), "missing-key", path)
        name = s["file"].encode()
        need(len(suffix) < len(name) <= 255 and name.endswith(suffix) and b"/" not in name and b"\0" not in name,
             "bad-path")
        need(m["version"] > 1 or name > last, "bad-name", s["file"])
        need(name not in names, "duplicate-name", s["file"])
        need(re.fullmatch("[0-9a-f]{64}", s["sha256"]), "bad-text", s["sha256"])
        payload = element * count_of(s["rows"]) * m["width"]
        need(count_of(s["bytes"]) == head + payload, "size-mismatch", s["file"])
        need(head or "crc32" in s, "missing-key", s["file"])
        if "crc32" in s:
            need(re.fullmatch("(?:[0-9a-f]{8})*", s["crc32"]), "bad-text", s["crc32"])
            need(len(s["crc32"]) == 8 * (-(-payload // BLOCK)), "bad-length", s["file"])
        last = name
        names.add(name)
    need(sum(s["rows"] for s in m["shards"]) == count_of(m["rows"]), "bad-count", path)
    return m


# ---- order


def permute(seed, n, i):
    bits = max(2, (n - 1).bit_length())
    low = bits // 2
    high = bits - low
    while True:
        x, y = i >> low, i % (1 << low)
        for r in range(8):
            k = h((seed + r) & MASK)
            if r % 2 == 0:
                x ^= h(y ^ k) % (1 << high)
            else:
                y ^= h(x ^ k) % (1 << low)
        i = (x << low) + y
        if i < n:
            return i


class Stream:
    def __init__(self, rows, options):
        self.set = rows
        number = lambda key, default: int(options.get(key, default))
        self.size = min(number("batch", 1024) or 1024, rows.total)
        self.rank, self.world = number("rank", 0), number("world", 1)
        self.tail = options.get("tail", "keep")
        self.shuffle = "shuffle" in options
        self.seed, self.window = number("shuffle", 0), number("window", 0)
        self.threshold = None
        if "sample" in options:
            f = float(options["sample"])
            self.threshold = 1 << 64 if f >= 1 else max(0, int(f * 2.0**64))
        self.epoch, self.total = number("epoch", 0), rows.total
        self.first = number("from", 0)
        self.start = (self.first, 0)
        if "resume" in options:
            self.resume(options["resume"], "batch" in options)

    def what(self):
        order = f"{self.seed:x}/{self.window:x}" if self.shuffle else "-"
        sample = "-" if self.threshold is None else "all" if self.threshold > MASK else f"{self.threshold:x}"
        return f"{order}:{sample}"

    def cursor(self, state):
        text = f"rows2:{self.epoch}:{self.first}:{state[0]}:{state[1]}:{self.size}:{self.total}:{self.set.width}"
        text += f":{self.set.lineage(self.total) or '-'}:{self.what()}"
        return f"{text}:{zlib.crc32(text.encode()):08x}"

    def resume(self, text, same_size):
        body, _, crc = text.rpartition(":")
        need(f"{zlib.crc32(body.encode()):08x}" == crc, "bad-cursor", text)
        epoch, first, known = 0, 0, "-"
        if body.startswith("rows1:"):
            position, number, size, total, width, what = body.split(":", 6)[1:]
        else:
            need(body.startswith("rows2:"), "bad-cursor", text)
            epoch, first, position, number, size, total, width, known, what = body.split(":", 9)[1:]
        same = int(total) == self.set.total if known == "-" else known == self.set.lineage(int(total))
        need(same and int(width) == self.set.width, "bad-cursor", text)
        need(what == self.what(), "bad-cursor", text)
        need(not same_size or int(size) == self.size, "bad-cursor", text)
        self.size, self.epoch, self.first, self.total = int(size), int(epoch), int(first), int(total)
        self.start = (int(position), int(number))

    def row_at(self, position):
        if not self.shuffle:
            return position
        w = self.window
        seed = h(self.seed ^ h(self.epoch)) if self.epoch else self.seed
        if not 0 < w < self.total:
            return permute(seed, self.total, position)
        k = position // w
        size = min(w, self.total - k * w)
        return k * w + permute(h(seed ^ h(k)), size, position - k * w)

    def batch(self, position):
        """The ids of the next batch, and the position behind it; none at the end."""
        ids = []
        while position < self.total and len(ids) < self.size:
            row = self.row_at(position)
            position += 1
            if self.threshold is None or h(row) < self.threshold:
                ids.append(row)
            if not self.shuffle and self.threshold is None:
                shard, index = self.set.place(row)
                if index == shard.rows - 1:
                    break
        return ids, position

    def batches(self, state, most):
        found = []
        while len(found) < most:
            ids, position = self.batch(state[0])
            if not ids:
                return found, (position, state[1])
            found.append((state[1], ids))
            state = (position, state[1] + 1)
        return found, state

    def mine(self):
        """(number, padding, ids, cursor behind the round) of this rank."""
        state = self.start
        while True:
            found, state_after = self.batches(state, self.world)
            whole = len(found) == self.world
            if not found or (not whole and self.tail == "drop"):
                return
            for number, ids in found:
                if number % self.world == self.rank:
                    yield number, False, ids, self.cursor(state_after)
            state = state_after
            if not whole:
                break
        if self.tail == "pad":
            first, _ = self.batches((self.first, 0), self.world)
            for extra in range(self.world - len(found)):
                number = state[1] + extra
                if number % self.world == self.rank:
                    yield number, True, first[extra % len(first)][1], self.cursor(state)


def stream(paths, options):
    rows = Set(paths)
    digest, total = hashlib.sha256(), 0
    for number, padding, ids, cursor in Stream(rows, options).mine():
        raw = [struct.pack(f"<{rows.width}d", *rows.row(i)) for i in ids]
        for i, values in zip(ids, raw):
            total += int.from_bytes(hashlib.sha256(struct.pack("<Q", i) + values).digest(), "big")
        digest.update(b"".join(raw))
        print(number, "pad" if padding else "-", ",".join(map(str, ids)), b"".join(raw).hex())
        print("cursor", cursor)
    print("digest", digest.hexdigest())
    print("set-digest", f"{total % (1 << 256):064x}")


# ---- checking


def sums_differ(raw, head, entry):
    """What is wrong with the bytes of a listed file, as a word, or None."""
    crcs = "".join(f"{zlib.crc32(raw[at:at + BLOCK]):08x}" for at in range(head, len(raw), BLOCK))
    recorded = entry.get("crc32", crcs)
    if any(a != b for a, b in zip(re.findall("........", crcs), re.findall("........", recorded))):
        return "bad-crc"
    return None if hashlib.sha256(raw).hexdigest() == entry["sha256"] else "bad-checksum"


def check_headless(path, entry, manifest):
    name = os.path.basename(path)
    try:
        Headless(path, entry, manifest)
    except Refused as problem:
        yield "error", problem.args[0], name
    with open(path, "rb") as file:
        problem = sums_differ(file.read(), 0, entry)
    if problem:
        yield "error", problem, name


def check_shard(path, entry, widths):
    name = os.path.basename(path)
    if not entry and is_checkpoint(path):
        yield "warning", "left-out", name
        return
    shard = None
    try:
        shard = Shard(path)
    except Refused as problem:
        yield "error", problem.args[0], name
    with open(path, "rb") as file:
        raw = file.read()
    if shard and shard.reserved:
        yield "warning", "reserved", name
    if shard and len(raw) > shard.end:
        yield "warning", "trailing-bytes", name
    if entry:
        if shard and shard.rows != entry["rows"]:
            yield "error", "bad-count", name
        elif shard and len(raw) != entry["bytes"]:
            yield "error", "size-mismatch", name
        problem = sums_differ(raw, 32, entry)
        if problem:
            yield "error", problem, name
    if shard:
        widths.append(shard.width)
        if shard.width != widths[0]:
            yield "error", "width-mismatch", name


def check_listed(folder, manifest):
    widths = [manifest["width"]]
    names = {s["file"] for s in manifest["shards"]}
    for entry in manifest["shards"]:
        path = f"{folder}/{entry['file']}"
        if not os.path.exists(path):
            yield "error", "missing-shard", entry["file"]
        elif manifest["dtype"] == "F32":
            yield from check_shard(path, entry, widths)
        else:
            yield from check_headless(path, entry, manifest)
    for name in shard_names(folder, KINDS[manifest["dtype"]][0]):
        if name not in names:
            yield "warning", "left-out" if is_checkpoint(f"{folder}/{name}") else "stray-shard", name


def check_folder(folder):
    manifest, widths = None, []
    packing = os.path.exists(f"{folder}/rows.packing")
    if os.path.exists(f"{folder}/rows.manifest.json"):
        try:
            manifest = read_manifest(f"{folder}/rows.manifest.json")
        except Refused as problem:
            yield "error", problem.args[0], "rows.manifest.json"
        if packing:
            yield "warning", "claimed", "rows.packing"
    elif packing:
        yield "error", "incomplete", "rows.packing"
    else:
        yield "warning", "no-manifest", "rows.manifest.json"
    if manifest:
        yield from check_listed(folder, manifest)
        return
    for name in shard_names(folder):
        yield from check_shard(f"{folder}/{name}", None, widths)


def check(path):
    if os.path.isdir(path):
        found = check_folder(path)
    else:
        found = [*check_shard(path, None, []), ("warning", "no-checksum", os.path.basename(path))]
    for line in sorted(" ".join(f) for f in found):
        print(line)


def main():
    options = dict(a.split("=", 1) for a in sys.argv[2:] if re.match("[a-z]+=", a))
    paths = [a for a in sys.argv[2:] if not re.match("[a-z]+=", a)]
    if len(sys.argv) < 3 or not paths or sys.argv[1] not in ("stream", "check"):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        if sys.argv[1] == "stream":
            stream(paths, options)
        else:
            check(paths[0])
    except Refused as problem:
        print(": ".join(problem.args), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
