#!/usr/bin/env python3
"""Holds databases of ours against the real server, and its against us: check.py SERVER SHERD

Every case makes databases in an empty folder, lets one side write and the other read, and compares all nodes and
edges."""

import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import graphs
from graphs import Graph
from server import Refused, Server

PROGRAM, SHERD = sys.argv[1:3]
LAYOUTS = {"1 shard": ["--shards", "1"], "2 shards": ["--shards", "2"], "8 shards": ["--shards", "8"],
           "directories": ["--planner", "directory"], "every directory": ["--planner", "directory", "--min-files", "1"]}


def sherd(*arguments):
    done = subprocess.run([SHERD, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"sherd {arguments}: {done.returncode}: {done.stderr}"
    return done.stdout


def document(command, database):
    return json.loads(sherd("graph", command, database, "--json"))


def ours(database, *arguments):
    """What we read."""
    return Graph(graphs.read_lines(sherd("graph", "export", database, "--nodes", "-", *arguments)),
                 graphs.read_lines(sherd("graph", "export", database, "--edges", "-", *arguments)))


def theirs(server):
    """What the real server reads."""
    return Graph(server.query(), server.ask("getAllEdges")["edges"])


def same(what, left, right):
    found = list(left.differences(right))
    assert not found, f"{what}: {len(found)} differences, first {found[:3]}"


def build(folder, layout, nodes, edges):
    database = folder / "ours.rfdb"
    graphs.write_lines(folder / "nodes", nodes)
    graphs.write_lines(folder / "edges", edges)
    sherd("graph", "create", database, *layout)
    sherd("graph", "import", database, "--nodes", folder / "nodes", "--edges", folder / "edges")
    # What it may find of ours besides: a manifest that was tagged while it was read, and a mark that a crash left.
    shutil.copy(database / "manifests" / "000002.json", database / "manifests" / "000002.held-1")
    (database / "graph.making").touch()
    return database


def update(folder, database, path, nodes, edges):
    graphs.write_lines(folder / "nodes", nodes)
    graphs.write_lines(folder / "edges", edges)
    sherd("graph", "update", database, "--file", path, "--nodes", folder / "nodes", "--edges", folder / "edges")


def by_point(server, graph):
    """Every node by its id, and its edges in both directions."""
    for ident, record in graph.nodes.items():
        node = server.ask("getNode", id=ident)["node"]
        assert node and graphs.record(node) == record, f"getNode {ident}: {node}, not {record}"
        out = server.ask("getOutgoingEdges", id=ident)["edges"]
        wanted = {key for key in graph.edges if key[0] == ident}
        assert {(e["src"], e["dst"], e["edgeType"]) for e in out} == wanted, f"edges from {ident}"
        back = server.ask("getIncomingEdges", id=ident)["edges"]
        wanted = {key for key in graph.edges if key[1] == ident}
        assert {(e["src"], e["dst"], e["edgeType"]) for e in back} == wanted, f"edges to {ident}"
    for kind in {record[1] for record in graph.nodes.values()}:
        found = set(server.ask("findByType", nodeType=kind)["ids"])
        assert found == {i for i, r in graph.nodes.items() if r[1] == kind}, f"findByType {kind}"
    for path in {record[3] for record in graph.nodes.values()}:
        found = set(server.ask("findByAttr", query={"file": path})["ids"])
        assert found == {i for i, r in graph.nodes.items() if r[3] == path}, f"findByAttr file {path}"


def opens_ours(folder, layout):
    nodes, edges = graphs.project(1, 40)
    database = build(folder, layout, nodes, edges)
    mine = ours(database)
    assert len(mine.nodes) == len(nodes) and len(mine.edges) == len(edges)
    with Server(PROGRAM, database) as server:
        same("it reads what we wrote", mine, theirs(server))
        by_point(server, mine)
    same("its opening changes nothing", mine, ours(database))
    sherd("verify", "--quiet", database)


def commits_and_compacts_ours(folder, layout):
    nodes, edges = graphs.project(2, 30)
    database = build(folder, layout, nodes, edges)
    # It puts what it commits where the hash says: what a shard of a directory holds it leaves there besides, and after
    # its compaction either may be found. So of those it gets only files that are new.
    path = nodes[0]["file"] if "--shards" in layout else "src/new/other.js"
    replaced, between = graphs.file_of(path, 12, random.Random(3))
    with Server(PROGRAM, database) as server:
        server.ask("commitBatch", changedFiles=[path], nodes=replaced, edges=between)
        fresh, links = graphs.file_of("src/new/fresh.js", 9, random.Random(4))
        server.ask("commitBatch", changedFiles=["src/new/fresh.js"], nodes=fresh, edges=links)
    with Server(PROGRAM, database) as server:
        committed = theirs(server)
    assert {r[4:] for i, r in committed.nodes.items() if r[3] == path} == {graphs.record(n)[4:] for n in replaced}
    same("we read its commits", committed, ours(database))
    # It must be opened again between committing and compacting, or it loses what it committed.
    with Server(PROGRAM, database) as server:
        server.ask("compact")
    with Server(PROGRAM, database) as server:
        same("its compaction keeps all", committed, theirs(server))
    same("we read its compaction", committed, ours(database))
    update(folder, database, path, *graphs.file_of(path, 5, random.Random(5)))
    sherd("graph", "delete-file", database, "src/new/fresh.js")
    mine = ours(database)
    with Server(PROGRAM, database) as server:
        same("it reads our deltas on its compaction", mine, theirs(server))
        by_point(server, mine)
    sherd("graph", "compact", database)
    sherd("graph", "gc", database)
    same("our compaction keeps all", mine, ours(database))
    with Server(PROGRAM, database) as server:
        same("it reads our compaction", mine, theirs(server))
        server.ask("addNodes", nodes=[{"id": "late", "semanticId": "late", "nodeType": "T", "name": "", "file": "z/z"}])
        server.ask("flush")
    after = ours(database)
    assert len(after.nodes) == len(mine.nodes) + 1 and after.edges == mine.edges


def many_files(files, each):
    """Nodes in so many files, each with an edge to the next one of its file."""
    nodes = [{"id": f"d{f % 97}/f{f}.js->N->{k}", "semanticId": f"d{f % 97}/f{f}.js->N->{k}", "nodeType": "N",
              "name": f"n{k}", "file": f"d{f % 97}/f{f}.js", "metadata": ""} for f in range(files) for k in range(each)]
    edges = [{"src": nodes[i]["id"], "dst": nodes[i + 1]["id"], "edgeType": "NEXT", "metadata": ""}
             for i in range(len(nodes) - 1) if i % each < each - 1]
    return nodes, edges


def finds_files_of_large_segments(folder):
    """More files in one segment than it would list itself: it must find those that it commits anew."""
    nodes, edges = many_files(12000, 1)
    database = build(folder, ["--shards", "1"], nodes, edges)
    with Server(PROGRAM, database) as server:
        server.ask("commitBatch", changedFiles=[nodes[77]["file"]], nodes=[], edges=[])
    with Server(PROGRAM, database) as server:
        answer = theirs(server)
    assert len(answer.nodes) == len(nodes) - 1, f"{len(answer.nodes)} of {len(nodes)} nodes are left"
    same("we read its removal", answer, ours(database))


def keeps_what_an_index_covers(folder):
    """Enough segments for an index over all of them, which it knows nothing of."""
    nodes, edges = many_files(6000, 7)
    database = build(folder, ["--shards", "64"], nodes, edges)
    assert list(database.glob("segments/run_*.idx")), "there is no index"
    mine = ours(database)
    path = nodes[0]["file"]
    with Server(PROGRAM, database) as server:
        same("it reads what we wrote", mine, theirs(server))
        replaced, between = graphs.file_of(path, 12, random.Random(3))
        server.ask("commitBatch", changedFiles=[path], nodes=replaced, edges=between)
    with Server(PROGRAM, database) as server:
        committed = theirs(server)
    same("we read its commit", committed, ours(database))
    with Server(PROGRAM, database) as server:
        server.ask("compact")
    same("we read its compaction", committed, ours(database))
    sherd("graph", "delete-file", database, path)
    sherd("graph", "gc", database)
    mine = ours(database)
    with Server(PROGRAM, database) as server:
        same("it reads what we committed", mine, theirs(server))
    sherd("verify", "--quiet", database)


def reads_theirs(folder):
    database = folder / "theirs.rfdb"
    nodes, edges = graphs.project(6, 40)
    seen = {}

    def step(name, change):
        with Server(PROGRAM, database) as server:
            change(server)
        with Server(PROGRAM, database) as server:
            answer = theirs(server)
        mine = ours(database)
        same(name, answer, mine)
        sherd("verify", "--quiet", database)
        seen[document("stats", database)["version"]] = mine

    def flush(server):
        for i in range(0, len(nodes), 200):
            server.ask("addNodes", nodes=nodes[i:i + 200])
        server.ask("addEdges", edges=edges)
        server.ask("flush")

    def commit(path, count, seed):
        def change(server):
            more, between = graphs.file_of(path, count, random.Random(seed))
            server.ask("commitBatch", changedFiles=[path], nodes=more, edges=between)
        return change

    def bury(server):
        for doomed in nodes[3:9]:
            server.ask("deleteNode", id=doomed["id"])
        for doomed in edges[-5:]:
            server.ask("deleteEdge", src=doomed["src"], dst=doomed["dst"], edgeType=doomed["edgeType"])
        server.ask("flush")

    step("we read its flush", flush)
    for i in range(40):  # more than 32: a full manifest comes among the deltas
        step(f"we read its commit {i}", commit(nodes[i * 7 % len(nodes)]["file"], i % 5, i))
    step("we read its tombstones", bury)
    step("we read its tag", lambda server: server.ask("tagSnapshot", version=3, tags={"release": "1"}))
    step("we read its compaction", lambda server: server.ask("compact"))
    step("we read what follows", commit("src/after.js", 7, 99))
    there = {v["version"] for v in document("versions", database)["versions"]}
    looked = [version for version in seen if version in there]
    for version in looked:
        same(f"version {version}, looked back on", seen[version], ours(database, "--at", version))
    assert len(looked) > 2, f"only {looked} of {sorted(seen)} can be read"


def main():
    cases = [(f"{case.__name__.replace('_', ' ')}, {name}", case, (layout,))
             for case in (opens_ours, commits_and_compacts_ours) for name, layout in LAYOUTS.items()]
    cases.append(("finds files of large segments", finds_files_of_large_segments, ()))
    cases.append(("keeps what an index covers", keeps_what_an_index_covers, ()))
    cases.append(("reads theirs", reads_theirs, ()))
    failed = 0
    for name, case, arguments in cases:
        with tempfile.TemporaryDirectory(prefix="sherd-rfdb-") as folder:
            try:
                case(pathlib.Path(folder), *arguments)
                print(f"ok      {name}", flush=True)
            except (AssertionError, Refused) as problem:
                failed += 1
                print(f"FAILED  {name}: {problem}", flush=True)
    print(f"{len(cases)} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
