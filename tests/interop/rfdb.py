#!/usr/bin/env python3
"""The reader of read_rfdb.py against databases whose content is known: rfdb.py

The one that Sherd's own code made (tests/golden/rfdb, which tests/golden/test_rfdb.c makes again bit for bit), and those
of the real server ($SHERD_FIXTURES/rfdb, where it is). Every flipped byte of the golden one must be noticed."""

import glob
import json
import os
import shutil
import sys
import tarfile
import tempfile

import read_rfdb

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "rfdb")


def need(holds, *about):
    if not holds:
        print(*about)
        sys.exit(1)


def count(records, name):
    types = [record[name] for record in records]
    return {t: types.count(t) for t in sorted(set(types))}


def golden():
    version, nodes, edges = read_rfdb.read(GOLDEN)
    found = {(n["semantic_id"], n["node_type"], n["name"], n["file"], n["metadata"]) for n in nodes}
    need(found == {
        ("main.js->MODULE->main", "MODULE", "main", "main.js", ""),
        ("main.js->FUNCTION->start", "FUNCTION", "start", "main.js", '{"line":3}'),
        ("7", "CONSTANT", "\u00e9t\u00e9", "main.js", ""),
        ("src/a.js->FUNCTION->f", "FUNCTION", "f", "src/a.js", '{"line":2}'),
        ("src/a.js->FUNCTION->h", "FUNCTION", "h", "src/a.js", ""),
        ("src/b.js->FUNCTION->g", "FUNCTION", "g", "src/b.js", ""),
        ("src/c.js->CLASS->C", "CLASS", "C", "src/c.js", ""),
    }, "golden nodes:", found)
    by_id = {n["id"]: n["semantic_id"] for n in nodes}
    need(by_id[7] == "7", "an id of digits is not its number")
    need(sorted((by_id[e["src"]], by_id[e["dst"]], e["edge_type"]) for e in edges) == [
        ("main.js->FUNCTION->start", "src/a.js->FUNCTION->f", "CALLS"),
        ("main.js->FUNCTION->start", "src/b.js->FUNCTION->g", "CALLS"),
        ("main.js->MODULE->main", "main.js->FUNCTION->start", "CONTAINS"),
        ("src/b.js->FUNCTION->g", "src/a.js->FUNCTION->f", "CALLS"),
    ], "golden edges:", edges)
    need(version.counts == {"nodes": count(nodes, "node_type"), "edges": count(edges, "edge_type")}, version.counts)
    first, nodes, edges = read_rfdb.read(GOLDEN, 1)
    need(first.tags == {"commit": "abc123"} and len(nodes) == 6 and len(edges) == 5, "version 1 of the golden one")


def damaged():
    """A byte of a segment, a sidecar or a manifest that is different is refused, wherever it is."""
    flips = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "db")
        shutil.copytree(GOLDEN, copy)
        paths = glob.glob(os.path.join(copy, "segments", "*", "*")) + glob.glob(os.path.join(copy, "manifests", "*"))
        for path in sorted(paths):
            with open(path, "rb") as file:
                raw = file.read()
            # A seal that is no longer one is taken for none: manifests of others have none.
            end = raw.rindex(b',\n  "sha256"') if path.endswith(".json") else len(raw)
            for at in range(0, end, 7):
                with open(path, "wb") as file:
                    file.write(raw[:at] + bytes([raw[at] ^ 0x10]) + raw[at + 1 :])
                try:
                    read_rfdb.read(copy)
                    need(False, path, "byte", at, "was changed and not noticed")
                except (read_rfdb.Refused, KeyError, ValueError, TypeError, OverflowError, read_rfdb.struct.error):
                    flips += 1
            with open(path, "wb") as file:
                file.write(raw)
        read_rfdb.read(copy)
    need(flips > 500, "too few bytes were changed")
    return flips


def unpack(fixtures, name, folder):
    with tarfile.open(os.path.join(fixtures, name + ".rfdb.tar.gz")) as archive:
        archive.extractall(folder)
    return glob.glob(os.path.join(folder, name + "*.rfdb"))[0]


def genuine(fixtures):
    with tempfile.TemporaryDirectory() as folder:
        _, nodes, edges = read_rfdb.read(unpack(fixtures, "tiny-5n5e", folder))
        with open(os.path.join(fixtures, "tiny-5n5e.input.json"), encoding="utf-8") as file:
            put_in = json.load(file)
        need({n["semantic_id"] for n in nodes} == {n["semanticId"] for n in put_in["nodes"]}, "tiny: nodes differ")
        need(len(edges) == len(put_in["edges"]), "tiny: edges differ")
        database = unpack(fixtures, "history", folder)
        _, nodes, edges = read_rfdb.read(database)
        with open(os.path.join(fixtures, "history.live-decoded.json"), encoding="utf-8") as file:
            alive = json.load(file)
        for kind, found in (("nodes", nodes), ("edges", edges)):
            want = sorted(json.dumps(r, sort_keys=True) for r in alive[kind])
            need(sorted(json.dumps(r, sort_keys=True) for r in found) == want, f"history: {kind} differ")
        earlier = [len(read_rfdb.read(database, v)[1]) for v in range(1, 10)]
        need(earlier[0] == 0 and earlier[8] == len(nodes), "history: earlier versions", earlier)
    return len(nodes), len(edges)


def main():
    golden()
    print(f"the golden database; {damaged()} changed bytes noticed")
    fixtures = os.environ.get("SHERD_FIXTURES")
    if fixtures and os.path.isdir(os.path.join(fixtures, "rfdb")):
        print("the real server's databases: %d nodes, %d edges alive" % genuine(os.path.join(fixtures, "rfdb")))
    else:
        print("no databases of the real server here: those were left out")


if __name__ == "__main__":
    main()
