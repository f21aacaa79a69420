#!/usr/bin/env python3
"""Prints the live nodes and edges of a graph database: read_rfdb.py FOLDER [VERSION]

Written from docs/formats/rfdb.md alone, with the standard library. A line of JSON for each node, ascending by id, then one
for each edge, ascending by key. Every segment and every sidecar is checked on the way. What has to be refused gives one
line on standard error and exit status 1."""

import hashlib
import json
import os
import re
import struct
import sys
import zlib

SEAL = re.compile(rb'[,{]\n  "sha256": "([0-9a-f]{64})"\n\}\Z')


class Refused(Exception):
    """What a reader must refuse; the first argument is the reason."""


def need(holds, reason, *about):
    if not holds:
        raise Refused(reason, *about)


# ---- JSON files


def unique(pairs):
    need(len({key for key, _ in pairs}) == len(pairs), "duplicate-key")
    return dict(pairs)


def load(path):
    with open(path, "rb") as file:
        raw = file.read()
    seal = SEAL.search(raw)
    if seal:
        body = raw[: raw.rindex(b'"sha256"')]
        need(hashlib.sha256(body).hexdigest().encode() == seal.group(1), "bad-seal", path)
    return json.loads(raw, object_pairs_hook=unique)


def keys_of(edges):
    return {(source, destination, kind) for source, destination, kind in edges}


class Version:
    """A version, from the full manifest that its edits begin with."""

    def __init__(self, manifest):
        self.number = manifest["version"]
        self.parent = manifest.get("parent_version")
        self.level0 = manifest["node_segments"] + manifest["edge_segments"]
        self.level1 = {kind: manifest.get(f"l1_{kind}_segments", []) for kind in ("node", "edge")}
        self.dead_nodes = set(manifest.get("tombstoned_node_ids", []))
        self.dead_edges = keys_of(manifest.get("tombstoned_edge_keys", []))
        self.tags = manifest.get("tags", {})
        self.counts = manifest.get("live_counts")

    def apply(self, edit):
        need(edit["version"] == self.number + 1 and edit["parent_version"] == self.number, "bad-version")
        self.number, self.parent = edit["version"], edit["parent_version"]
        removed = {("Nodes", i) for i in edit.get("removed_node_segment_ids", [])}
        removed |= {("Edges", i) for i in edit.get("removed_edge_segment_ids", [])}
        self.level0 = [d for d in self.level0 if (d["segment_type"], d["segment_id"]) not in removed]
        self.level0 += edit.get("added_node_segments", []) + edit.get("added_edge_segments", [])
        self.dead_nodes |= set(edit.get("added_tombstone_nodes", []))
        self.dead_nodes -= set(edit.get("removed_tombstone_nodes", []))
        self.dead_edges |= keys_of(edit.get("added_tombstone_edges", []))
        self.dead_edges -= keys_of(edit.get("removed_tombstone_edges", []))
        for kind in ("node", "edge"):
            if edit.get(f"l1_{kind}_segments") is not None:
                self.level1[kind] = edit[f"l1_{kind}_segments"]
        self.tags = edit.get("tags", {})
        self.counts = edit.get("live_counts")

    def descriptors(self):
        return self.level1["node"] + self.level1["edge"] + self.level0


def read_version(folder, number):
    full, edits = {}, {}
    for name in os.listdir(os.path.join(folder, "manifests")):
        match = re.fullmatch(r"(\d{6,})(\.edit)?\.json", name)
        if match and f"{int(match.group(1)):06}" == match.group(1):
            (edits if match.group(2) else full)[int(match.group(1))] = os.path.join(folder, "manifests", name)
    bases = [v for v in full if v <= number]
    need(bases, "not-found", f"version {number}")
    version = Version(load(full[max(bases)]))
    for v in range(max(bases) + 1, number + 1):
        need(v in edits, "not-found", f"the edit of version {v}")
        version.apply(load(edits[v]))
    ids = [d["segment_id"] for d in version.descriptors()]
    need(len(set(ids)) == len(ids), "duplicate-id")
    return version


# ---- segments


class Segment:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.raw = raw = file.read()
        need(len(raw) >= 80, "truncated", path)
        need(raw[:4] == b"SGV2" and raw[-4:] == b"2RTF", "bad-magic", path)
        version, self.kind, zero, self.rows, footer, zeros = struct.unpack_from("<HBBQQQ", raw, 4)
        need(version == 2, "bad-version", path)
        need(self.kind in (0, 1), "bad-type", path)
        need(footer == len(raw) - 48, "truncated", path)
        need(zero == 0 and zeros == 0, "bad-head", path)
        bloom, second, zone, strings, end, size = struct.unpack_from("<QQQQQI", raw, footer)
        need(size == 48, "bad-length", path)
        need(self.place_columns() == end == bloom, "bad-offsets", path)
        self.bloom_at = bloom
        at = self.check_bloom(bloom, self.ids)
        need(second == (at if self.kind else 0), "bad-offsets", path)
        if self.kind:
            at = self.check_bloom(at, self.destinations)
        need(at == zone <= strings <= footer, "bad-offsets", path)
        self.read_strings(strings, footer)
        self.check_zone(zone, strings)

    def place_columns(self):
        n, raw = self.rows, self.raw
        need(n <= len(raw) // 40, "bad-count")
        if self.kind == 0:
            self.text = [struct.unpack_from(f"<{n}I", raw, 32 + 4 * n * c) for c in range(5)]
            at = (32 + 20 * n + 15) // 16 * 16
            need(not any(raw[32 + 20 * n : at]), "bad-head")
            self.ids = self.numbers(at)
            self.hashes = struct.unpack_from(f"<{n}Q", raw, at + 16 * n)
            return at + 24 * n
        self.ids, self.destinations = self.numbers(32), self.numbers(32 + 16 * n)
        self.text = [struct.unpack_from(f"<{n}I", raw, 32 + 32 * n + 4 * n * c) for c in range(2)]
        return 32 + 40 * n

    def numbers(self, at):
        return [int.from_bytes(self.raw[at + 16 * i : at + 16 * i + 16], "little") for i in range(self.rows)]

    def check_bloom(self, at, ids):
        bits, probes, zero = struct.unpack_from("<QII", self.raw, at)
        need(bits and bits % 64 == 0 and 1 <= probes <= 64 and zero == 0, "bad-index", "Bloom filter")
        words = self.raw[at + 16 : at + 16 + bits // 8]
        need(len(words) == bits // 8, "truncated", "Bloom filter")
        for number in ids:
            low, high = number % 2**64, number >> 64 | 1
            for i in range(probes):
                p = (low + i * high) % 2**64 % bits
                need(words[p // 64 * 8 + p % 64 // 8] >> p % 8 & 1, "bad-index", "an id is not in its Bloom filter")
        return at + 16 + bits // 8

    def read_strings(self, at, end):
        count, size = struct.unpack_from("<II", self.raw, at)
        need(at + 8 + 8 * count + size == end, "bad-offsets", "string table")
        text = self.raw[end - size : end]
        self.strings = []
        for i in range(count):
            start, length = struct.unpack_from("<II", self.raw, at + 8 + 8 * i)
            need(start + length <= size, "bad-index", f"string {i}")
            self.strings.append(text[start : start + length].decode("utf-8"))
        need(all(s < count for column in self.text for s in column), "bad-index", "a string that is not there")

    def check_zone(self, at, end):
        columns = {"edge_type": 0} if self.kind else {"node_type": 1, "file": 3}
        raw = self.raw[at:end]
        place = 4

        def text():
            nonlocal place
            size = struct.unpack_from("<H", raw, place)[0]
            place += 2 + size
            return raw[place - size : place]

        fields = {}
        for _ in range(struct.unpack_from("<I", raw)[0]):
            name = text()
            count = struct.unpack_from("<I", raw, place)[0]
            place += 4
            fields[name.decode()] = [text() for _ in range(count)]
        need(place == len(raw) and list(fields) == sorted(fields), "bad-index", "zone map")
        for name, column in columns.items():
            if name in fields:
                found = sorted({self.strings[s].encode() for s in self.text[column]})
                need(fields[name] == found, "bad-index", f"zone map, {name}")

    def string(self, column, row):
        return self.strings[self.text[column][row]]

    def node(self, row):
        names = ("semantic_id", "node_type", "name", "file", "metadata")
        node = {"id": self.ids[row]}
        node.update({name: self.string(c, row) for c, name in enumerate(names)})
        node["content_hash"] = self.hashes[row]
        return node

    def edge(self, row):
        return {"src": self.ids[row], "dst": self.destinations[row], "edge_type": self.string(0, row),
                "metadata": self.string(1, row)}

    def key(self, row):
        if self.kind == 0:
            return self.ids[row]
        return self.ids[row], self.destinations[row], self.string(0, row).encode()

    def is_sorted(self):
        keys = [self.key(row) for row in range(self.rows)]
        return all(a < b for a, b in zip(keys, keys[1:]))


# ---- sidecars


def order(keys):
    return sorted(range(len(keys)), key=lambda row: (keys[row], row))


def grouping(segment, column):
    """The one right grouping: a table may name one text by several numbers, and the lowest of them is the key."""
    rows, numbers = {}, {}
    for row, string in enumerate(segment.text[column]):
        text = segment.strings[string].encode()
        rows.setdefault(text, []).append(row)
        numbers[text] = min(string, numbers.get(text, string))
    texts, start, starts, listed = sorted(rows), 0, [], []
    for text in texts:
        starts.append(start)
        start += len(rows[text])
        listed += rows[text]
    words = [len(texts), 0] + [numbers[text] for text in texts] + starts + [start] + listed
    return struct.pack(f"<{len(words)}I", *words)


def sidecar(segment):
    """What must lie beside the segment."""
    raw = segment.raw
    is_sorted = segment.is_sorted()

    def packed(keys):
        return struct.pack(f"<{segment.rows}I", *order(keys))

    sections = [b"" if is_sorted else packed(segment.ids)]
    if segment.kind == 0:
        sections += [grouping(segment, column) for column in (1, 3, 2)]
    else:
        sections += [packed(segment.destinations), grouping(segment, 0), b""]
    words = segment.bloom_at + 16
    quick = zlib.crc32(raw[:4096] + raw[-4096:] + raw[words : words + 4096])
    head = b"SHERDIDX" + struct.pack("<HBBIQQ", 1, segment.kind, is_sorted, quick, segment.rows, len(raw))
    head += hashlib.sha256(raw).digest()
    at, body = 168, b""
    for section in sections:
        head += struct.pack("<QQII", at + len(body) if section else 168, len(section), zlib.crc32(section), 0)
        body += section + bytes(-len(section) % 8)
    return head + struct.pack("<II", zlib.crc32(head), 0) + body


# ---- the graph


def path_of(folder, descriptor, suffix):
    shard = descriptor.get("shard_id")
    kind = {"Nodes": "nodes", "Edges": "edges"}[descriptor["segment_type"]]
    inner = "" if shard is None else f"{shard:02}"
    return os.path.join(folder, "segments", inner, f"seg_{descriptor['segment_id']:06}_{kind}{suffix}")


def open_segment(folder, descriptor):
    path = path_of(folder, descriptor, ".seg")
    segment = Segment(path)
    need(len(segment.raw) == descriptor["byte_size"], "size-mismatch", path)
    need(segment.rows == descriptor["record_count"], "bad-count", path)
    if "sha256" in descriptor:
        need(hashlib.sha256(segment.raw).hexdigest() == descriptor["sha256"], "bad-checksum", path)
    beside = path_of(folder, descriptor, ".idx")
    if os.path.exists(beside):
        with open(beside, "rb") as file:
            need(file.read() == sidecar(segment), "bad-index", beside)
    return segment


def read(folder, number=None):
    config = load(os.path.join(folder, "db_config.json"))
    need(1 <= config["shard_count"] <= 65535, "out-of-range", "shard_count")
    if number is None:
        number = load(os.path.join(folder, "current.json"))["version"]
    version = read_version(folder, number)
    nodes, edges = {}, {}
    for descriptor in version.descriptors():
        segment = open_segment(folder, descriptor)
        for row in range(segment.rows):
            if segment.kind == 0:
                nodes[segment.ids[row]] = segment.node(row)
            else:
                edge = segment.edge(row)
                edges[edge["src"], edge["dst"], edge["edge_type"]] = edge
    nodes = [nodes[i] for i in sorted(nodes) if i not in version.dead_nodes]
    edges = [edges[key] for key in sorted(edges) if key not in version.dead_edges]
    return version, nodes, edges


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        _, nodes, edges = read(sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else None)
    except (Refused, OSError, KeyError, ValueError, struct.error) as problem:
        print("refused:", *problem.args, file=sys.stderr)
        return 1
    for record in nodes + edges:
        print(json.dumps(record, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
