"""Code graphs: nodes that belong to files, and edges between them, with versions.

>>> import tempfile, os
>>> path = os.path.join(tempfile.mkdtemp(), "db")
>>> with create(path) as db:
...     db.add([{"id": "a", "nodeType": "FUNCTION", "name": "f", "file": "x.py"},
...             {"id": "b", "nodeType": "FUNCTION", "name": "g", "file": "x.py"}],
...            [{"src": "a", "dst": "b", "edgeType": "CALLS"}])
...     version = db.commit()
>>> with open(path) as db:
...     sorted(n.name for n in db.find(type="FUNCTION")), [e.type for e in db.out("a")]
(['f', 'g'], ['CALLS'])
"""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

from . import _arrow, _core
from ._place import Path, open_place
from ._progress import Progress, watched

__all__ = ["Edge", "Graph", "Node", "Update", "Version", "create", "open"]


class Node(NamedTuple):
    id: int
    semantic_id: str
    type: str
    name: str
    file: str
    exported: bool
    metadata: str
    content_hash: int


class Edge(NamedTuple):
    src: int
    dst: int
    type: str
    metadata: str


class Update(NamedTuple):
    """What became other by an update."""

    nodes_added: int
    nodes_changed: int
    nodes_removed: int
    edges_added: int
    edges_removed: int


class Version(NamedTuple):
    version: int
    time_ns: int
    tags: dict[str, str]


Record = Mapping[str, Any] | Node | Edge
Id = str | int
_Row = TypeVar("_Row")
_Ask = Callable[[Callable[[list[tuple[Any, ...]]], bool]], None]
_FIRST = 4096  # answers that are had at once; more are streamed
_SAME = {"semantic_id": "semanticId", "type": "nodeType", "content_hash": "contentHash"}


def _line(record: Record) -> str:
    if isinstance(record, Node):
        fields = {_SAME.get(k, k): v for k, v in record._asdict().items() if v not in ("", 0, False)}
        return json.dumps({**fields, "id": str(record.id)})
    if isinstance(record, Edge):
        return json.dumps({"src": str(record.src), "dst": str(record.dst), "edgeType": record.type, "metadata": record.metadata})
    return json.dumps(record)


def _lines(*groups: Iterable[Record]) -> bytes:
    return "\n".join(_line(record) for group in groups for record in group).encode()


def _stream(ask: _Ask, make: Callable[..., _Row]) -> Iterator[_Row]:
    """Answers one by one. Few are had at once; many come from a thread, which waits when nobody takes them."""
    first: list[tuple[Any, ...]] = []

    def take(batch: list[tuple[Any, ...]]) -> bool:
        first.extend(batch)
        return len(first) < _FIRST

    ask(take)
    for row in first:
        yield make(*row)
    if len(first) >= _FIRST:
        yield from _rest(ask, make, len(first))


def _rest(ask: _Ask, make: Callable[..., _Row], had: int) -> Iterator[_Row]:
    batches: queue.Queue[list[tuple[Any, ...]] | BaseException | None] = queue.Queue(4)
    stop = threading.Event()

    def put(item: list[tuple[Any, ...]] | BaseException | None) -> bool:
        while not stop.is_set():
            try:
                batches.put(item, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def work() -> None:
        try:
            ask(put)
            put(None)
        except BaseException as error:  # noqa: BLE001 - it is raised where the answers are taken
            put(error)

    thread = threading.Thread(target=work, daemon=True, name="sherd-graph")
    thread.start()
    passed = 0
    try:
        while (batch := batches.get()) is not None:
            if isinstance(batch, BaseException):
                raise batch
            for row in batch[max(0, had - passed) :]:
                yield make(*row)
            passed += len(batch)
    finally:
        stop.set()
        thread.join()


class Graph:
    """An open database: one version for reading, or a writer, whose changes others see when `commit()` made them a
    version. A writer is not changed while its answers are being taken."""

    def __init__(self, store: _core.Handle, folder: str, path: str, write: bool, version: int) -> None:
        self.path = path
        self._graph = _core.graph_open(store, folder, not write, version)

    def __enter__(self) -> Graph:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """What was not committed is lost."""
        self._graph.close()

    # ---- questions

    @property
    def version(self) -> int:
        return _core.graph_version(self._graph)

    def node(self, id: Id) -> Node | None:
        row = _core.graph_get(self._graph, str(id))
        return None if row is None else Node(*row)

    def find(
        self, type: str | None = None, file: str | None = None, name: str | None = None, *, prefix: Iterable[str] = ()
    ) -> Iterator[Node]:
        """Nodes to which all of it applies; prefix names those of the texts that are only beginnings."""
        kinds = set(prefix)
        flags = ("type" in kinds, "file" in kinds, "name" in kinds)
        return _stream(lambda each: _core.graph_find(self._graph, type, file, name, flags, each), Node)

    def out(self, id: Id, *types: str) -> Iterator[Edge]:
        """Edges that begin at the node."""
        return _stream(lambda each: _core.graph_edges(self._graph, "out", str(id), list(types), each), Edge)

    def in_(self, id: Id, *types: str) -> Iterator[Edge]:
        """Edges that end at the node."""
        return _stream(lambda each: _core.graph_edges(self._graph, "in", str(id), list(types), each), Edge)

    def edges(self, *types: str) -> Iterator[Edge]:
        return _stream(lambda each: _core.graph_edges(self._graph, "all", "0", list(types), each), Edge)

    def walk(
        self, ids: Id | Iterable[Id], *types: str, depth: int = 3, direction: str = "out", most: int = 0
    ) -> Iterator[tuple[int, int]]:
        """Ids that can be reached and their distance, nearest first."""
        starts = [ids] if isinstance(ids, (str, int)) else list(ids)
        way = {"out": 0, "in": 1, "both": 2}[direction]
        texts = [str(one) for one in starts]
        return _stream(
            lambda each: _core.graph_walk(self._graph, texts, way, list(types), depth, most, each), lambda *row: row
        )

    def stats(self) -> dict[str, Any]:
        return _core.graph_stats(self._graph)

    def versions(self) -> list[Version]:
        """Those that can be opened, oldest first."""
        return [Version(*row) for row in _core.graph_versions(self._graph)]

    # ---- tables

    def node_table(self, **query: Any) -> _arrow.Table:
        """The nodes that `find()` gives, for `pyarrow.table()`, `pandas`, polars and whoever knows Arrow's interface."""
        return _arrow.table(
            self.find(**query),
            {"id": "id", "semantic_id": "u", "type": "u", "name": "u", "file": "u", "exported": "b", "metadata": "u"},
        )

    def edge_table(self, *types: str) -> _arrow.Table:
        return _arrow.table(self.edges(*types), {"src": "id", "dst": "id", "type": "u", "metadata": "u"})

    # ---- changes

    def add(self, nodes: Iterable[Record] = (), edges: Iterable[Record] = ()) -> None:
        """Adds records, as `docs/formats/graph-json.md` has them, or replaces those that are there."""
        _core.graph_add(self._graph, _lines(nodes, edges))

    def import_lines(self, *paths: Path) -> None:
        """Adds the records of files of JSON Lines; nodes come before the edges that begin at them."""
        import builtins

        for path in paths:
            with builtins.open(path, "rb") as file:
                _core.graph_add(self._graph, file.read())

    def update(self, file: str, nodes: Iterable[Record] = (), edges: Iterable[Record] = ()) -> Update:
        """Replaces everything that belongs to one file."""
        return Update(*_core.graph_update(self._graph, file, _lines(nodes, edges)))

    def delete_file(self, file: str) -> Update:
        return Update(*_core.graph_delete_file(self._graph, file))

    def delete(self, *ids: Id) -> int:
        """Deletes nodes with all their edges; returns how many were there."""
        return _core.graph_delete_nodes(self._graph, [str(id) for id in ids])

    def commit(self, *, progress: Progress = None) -> int:
        """Makes the changes a version, durably; returns its number."""
        with watched(progress, "commit") as callback:
            return _core.graph_flush(self._graph, callback)

    def compact(self, *, progress: Progress = None) -> int:
        with watched(progress, "compact") as callback:
            return _core.graph_compact(self._graph, callback)

    def tag(self, key: str, value: str | None, version: int = 0) -> None:
        """Gives a version (0: the current one) a tag; None takes it away."""
        _core.graph_tag(self._graph, version, key, value)


def open(path: Path, *, write: bool = False, version: int = 0, settings: Mapping[str, str] | None = None) -> Graph:
    """Opens a database, its current version or another one; to change it, with `write=True`."""
    store, folder = open_place(path, settings=settings)
    return Graph(store, folder, str(path), write, version)


def create(path: Path, *, shards: int = 0, planner: str = "hash", settings: Mapping[str, str] | None = None) -> Graph:
    """Makes an empty database and opens it to be changed. planner: "hash" or "directory"."""
    if planner not in ("hash", "directory"):
        raise ValueError("planner is 'hash' or 'directory'")
    store, folder = open_place(path, create=True, settings=settings)
    _core.graph_create(store, folder, shards, planner)
    return Graph(store, folder, str(path), True, 0)
