"""Graphs in memory: made at random, written as JSON Lines, read back from either side and compared."""

import json
import random


def metadata(made):
    """By its meaning: the real server hands out texts that it has read and written anew."""
    return json.dumps(json.loads(made.get("metadata") or "{}"), sort_keys=True)


def record(node):
    """What must come back of a node, whoever hands it out."""
    return (node.get("semanticId"), node["nodeType"], node["name"], node["file"], bool(node.get("exported")),
            metadata(node))


class Graph:
    """Nodes by id, edges by (source, destination, type); ids as decimal texts."""

    def __init__(self, nodes=(), edges=()):
        self.nodes = {n["id"]: record(n) for n in nodes}
        self.edges = {(e["src"], e["dst"], e["edgeType"]): metadata(e) for e in edges}

    def differences(self, other):
        for name in ("nodes", "edges"):
            left, right = getattr(self, name), getattr(other, name)
            for key in sorted(left.keys() | right.keys()):
                if left.get(key) != right.get(key):
                    yield f"{name[:-1]} {key}: {left.get(key)} / {right.get(key)}"


def make_node(path, number, rng):
    """Always of the same type: of a node that changed it the real server finds the old row, too."""
    text = f"{path}->FUNCTION->f{number}"
    # The real server takes the id from the semantic id where there is one: so they are the same here.
    made = {"id": text, "semanticId": text, "nodeType": ["FUNCTION", "CLASS", "http:route"][number % 3],
            "name": f"f{number}", "file": path}
    if rng.random() < 0.3:
        made["exported"] = True
    if rng.random() < 0.5:
        made["metadata"] = json.dumps({"a": "ä\n", "line": number}, sort_keys=True, separators=(",", ":"))
    return made


def file_of(path, count, rng):
    """The nodes of one file, and edges among them."""
    nodes = [make_node(path, i, rng) for i in range(count)]
    edges = [make_edge(rng.choice(nodes), rng.choice(nodes), rng) for _ in range(count)]
    return nodes, edges


def make_edge(src, dst, rng):
    """Always with the same metadata: of edges that changed it the real server hands out the old."""
    made = {"src": src["id"], "dst": dst["id"], "edgeType": rng.choice(["CALLS", "USES", "CONTAINS"])}
    weight = len(src["id"]) + 3 * len(dst["id"])
    if weight % 2:
        made["metadata"] = json.dumps({"weight": weight})
    return made


def project(seed, files):
    """Nodes and edges of some files in some directories, each edge once, some of them leading from file to file."""
    rng = random.Random(seed)
    folders = ["", "src/", "src/auth/", "src/api/", "lib/ünicode/", "a/b/c/d/"]
    nodes, edges = [], []
    for i in range(files):
        more, between = file_of(f"{rng.choice(folders)}f{i}.js", rng.randrange(1, 30), rng)
        nodes += more
        edges += between
    edges += [make_edge(rng.choice(nodes), rng.choice(nodes), rng) for _ in range(len(nodes))]
    return nodes, list({(e["src"], e["dst"], e["edgeType"]): e for e in edges}.values())


def write_lines(path, records):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(r, ensure_ascii=False) + "\n" for r in records)


def read_lines(text):
    return [json.loads(line) for line in text.split("\n") if line]
