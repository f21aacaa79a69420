"""Graphs: questions, changes, versions, tables."""

import json

import pytest
import sherd
import sherd.graph

NODES = [
    {"id": "a", "nodeType": "FUNCTION", "name": "f", "file": "x.py", "exported": True},
    {"id": "b", "nodeType": "FUNCTION", "name": "g", "file": "x.py", "metadata": {"line": 3}},
    {"id": "c", "nodeType": "CLASS", "name": "C", "file": "y.py"},
]
EDGES = [
    {"src": "a", "dst": "b", "edgeType": "CALLS"},
    {"src": "b", "dst": "c", "edgeType": "USES", "metadata": {"n": 1}},
]


@pytest.fixture
def db(folder):
    with sherd.graph.create("db", shards=2) as graph:
        graph.add(NODES, EDGES)
        graph.commit()
    return "db"


def test_questions(db):
    with sherd.graph.open(db) as graph:
        node = graph.node("a")
        assert (node.name, node.type, node.file, node.exported) == ("f", "FUNCTION", "x.py", True)
        assert node.id > 2**64 and graph.node(node.id) == node and graph.node("nothing") is None
        assert sorted(n.name for n in graph.find()) == ["C", "f", "g"]
        assert [n.name for n in graph.find(type="CLASS")] == ["C"]
        assert [n.name for n in graph.find(file="y", prefix=["file"])] == ["C"]
        assert [(e.type, graph.node(e.dst).name) for e in graph.out("a")] == [("CALLS", "g")]
        assert [e.type for e in graph.in_("c")] == ["USES"] and list(graph.out("a", "USES")) == []
        assert len(list(graph.edges())) == 2
        assert [(graph.node(i).name, d) for i, d in graph.walk("a")] == [("f", 0), ("g", 1), ("C", 2)]
        stats = graph.stats()
        assert (stats["nodes"], stats["edges"], stats["node_types"]) == (3, 2, {"CLASS": 1, "FUNCTION": 2})


def test_changes_and_versions(db):
    with sherd.graph.open(db, write=True) as graph:
        before = graph.version
        change = graph.update("x.py", [{"id": "a", "nodeType": "FUNCTION", "name": "f2", "file": "x.py"}])
        assert change == sherd.graph.Update(0, 1, 1, 0, 2)
        after = graph.commit()
        graph.tag("release", "1")
        graph.delete("c")
        assert graph.node("c") is None
    assert after == before + 1
    with sherd.graph.open(db) as graph:
        assert graph.version == after and graph.node("a").name == "f2" and graph.node("c") is not None
        assert [(v.version, v.tags) for v in graph.versions()][-1] == (after, {"release": "1"})
    with sherd.graph.open(db, version=before) as graph:
        assert graph.node("a").name == "f"


def test_records_go_round(db, folder):
    with sherd.graph.open(db) as graph, sherd.graph.create("copy") as copy:
        copy.add(graph.find(), graph.edges())
        copy.commit()
        assert sorted(copy.find()) == sorted(graph.find()) and sorted(copy.edges()) == sorted(graph.edges())
    (folder / "nodes.jsonl").write_text("".join(json.dumps(n) + "\n" for n in NODES))
    (folder / "edges.jsonl").write_text("".join(json.dumps(e) + "\n" for e in EDGES))
    with sherd.graph.create("third") as third, sherd.graph.open(db) as graph:
        third.import_lines("nodes.jsonl", "edges.jsonl")
        third.commit()
        assert sorted(third.find()) == sorted(graph.find())
    assert sherd.verify("third")


def test_answers_stream(folder):
    with sherd.graph.create("db") as graph:
        graph.add({"id": f"n{i}", "nodeType": "T", "name": str(i), "file": f"f{i % 50}"} for i in range(20000))
        graph.commit()
    with sherd.graph.open("db") as graph:
        names = [int(n.name) for n in graph.find(type="T")]
        assert sorted(names) == list(range(20000))
        some = graph.find()
        assert [next(some) for _ in range(9000)] and some.close() is None


def test_tables(db):
    with sherd.graph.open(db) as graph:
        nodes, edges = graph.node_table(), graph.edge_table()
    assert len(nodes) == 3 and nodes.column_names[:2] == ["id", "semantic_id"]
    assert nodes.__arrow_c_stream__() is not None
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(nodes)
    assert sorted(table.column("name").to_pylist()) == ["C", "f", "g"]
    assert sum(table.column("exported").to_pylist()) == 1
    table.validate(full=True)
    assert pyarrow.table(edges).num_rows == 2


def test_refusals(db):
    with pytest.raises(sherd.NotFoundError):
        sherd.graph.open("nothing")
    with pytest.raises(sherd.ExistsError):
        sherd.graph.create(db)
    with sherd.graph.open(db, write=True) as graph:
        with pytest.raises(sherd.ConflictError):
            sherd.graph.open(db, write=True)
        with pytest.raises(sherd.ArgumentError):
            graph.add(edges=[{"src": "unknown", "dst": "a", "edgeType": "X"}])
        with pytest.raises(sherd.CorruptError) as refusal:
            graph.add([{"nodeType": "X"}])
        assert refusal.value.reason == "missing-key"
    with sherd.graph.open(db) as graph, pytest.raises(sherd.ArgumentError):
        graph.add(NODES)
