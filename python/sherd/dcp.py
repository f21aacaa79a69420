"""torch.distributed.checkpoint in checkpoints of ours.

    import torch.distributed.checkpoint as dcp
    dcp.save(state, storage_writer=sherd.dcp.Writer("run/step-100"))
    dcp.load(state, storage_reader=sherd.dcp.Reader("run/step-100"))

A checkpoint is written by all ranks and exists from the moment `finish()` committed it, or not at all; another one of
the same name is replaced in one step. Metadata is JSON. What is read is checked block by block, several items at a
time, and of an item only the part that is asked for. The tensors are open to everything else here: `sherd.open()`,
`sherd info`, `sherd convert`.

A set of N ranks has N + 1 shards: shard 0 is the coordinator's, which names what is no tensor and what the planner
keeps; its coming is the commit.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import time
from typing import Any

import torch
from torch.distributed.checkpoint.metadata import (
    BytesStorageMetadata,
    ChunkStorageMetadata,
    Metadata,
    StorageMeta,
    TensorProperties,
    TensorStorageMetadata,
)
from torch.distributed.checkpoint.planner import (
    LoadItemType,
    LoadPlan,
    LoadPlanner,
    SavePlan,
    SavePlanner,
    WriteItem,
    WriteItemType,
)
from torch.distributed.checkpoint.storage import StorageReader, StorageWriter, WriteResult
from torch.futures import Future

from . import _core, _types
from ._errors import NotFoundError, SherdError
from ._file import item_of
from ._place import open_place
from ._tree import Decoder, Encoder

__all__ = ["Reader", "Writer"]

_ABOUT = "sherd.dcp"
_VERSION = "1"
Id = str | os.PathLike[str]


def _done(value: Any) -> Any:
    future: Any = Future()
    future.set_result(value)
    return future


def _piece_name(name: str, offsets: Any) -> str:
    """Of a piece of a tensor of which one rank has several: a shard holds a name once."""
    return f"{name}@{','.join(str(int(n)) for n in offsets)}"


def _split_names(plans: list[SavePlan]) -> list[str]:
    """Tensors of which some rank writes more than one piece."""
    found: set[str] = set()
    for plan in plans:
        seen: set[str] = set()
        for write in plan.items:
            if write.type == WriteItemType.SHARD:
                (found if write.index.fqn in seen else seen).add(write.index.fqn)
    return sorted(found)


def _is_ours(checkpoint_id: Id) -> bool:
    try:
        open_place(os.path.dirname(os.fspath(checkpoint_id)) or ".")
        return True
    except (SherdError, ValueError):
        return False


class Writer(StorageWriter):
    """A storage writer for `dcp.save()` and `dcp.async_save()`; `checkpoint_id` is a path or URI."""

    def __init__(
        self, checkpoint_id: Id | None = None, *, digest: str = "blake3", settings: dict[str, str] | None = None
    ) -> None:
        super().__init__()
        self.checkpoint_id = checkpoint_id
        self._digest = digest
        self._settings = settings
        self._uses: dict[str, int] = {}
        self._plan: dict[str, Any] = {}

    def reset(self, checkpoint_id: Id | None = None) -> None:
        if checkpoint_id is not None:
            self.checkpoint_id = checkpoint_id

    def set_up_storage_writer(self, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        if self.checkpoint_id is None:
            raise ValueError("no checkpoint_id was given")
        self._store, self._prefix = open_place(
            os.fspath(self.checkpoint_id), create=True, beside=True, settings=self._settings
        )

    def prepare_local_plan(self, plan: SavePlan) -> SavePlan:
        return plan

    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        import dataclasses

        common = {"set_id": _core.set_id(), "world": len(plans) + 1, "split": _split_names(plans)}
        return [dataclasses.replace(plan, storage_data={**common, "rank": i + 1}) for i, plan in enumerate(plans)]

    def _options(self, rank: int, fields: list[tuple[str, str]]) -> dict[str, Any]:
        return {
            "rank": rank,
            "world": self._plan["world"],
            "set_id": self._plan["set_id"],
            "time_ns": time.time_ns(),
            "replace": True,
            "take_over_after_ns": 1,
            "digest": self._digest,
            "about": {"fields": fields},
        }

    def _begin(self, plan: SavePlan) -> None:
        """A planner that caches hands out a plan of before: its id is spent, and all ranks make the same one of it."""
        given = plan.storage_data["set_id"]
        uses = self._uses.get(given, 0)
        self._uses = {given: uses + 1}
        set_id = given
        if uses:
            set_id = hashlib.blake2b(f"{given}{uses}".encode(), digest_size=16).hexdigest()
        self._plan = {**plan.storage_data, "set_id": set_id}

    def _item(self, write: WriteItem, data: Any) -> tuple[_core._Item | None, object, int]:
        name = write.index.fqn
        if write.type == WriteItemType.BYTE_IO:
            raw = data.getbuffer() if isinstance(data, io.BytesIO) else memoryview(data)
            return (name, "U8", (raw.nbytes,), raw, None, None), raw, raw.nbytes
        (_, dtype, shape, memory, _, _), kept = item_of(name, data)
        size = data.numel() * data.element_size()
        if write.type == WriteItemType.TENSOR or write.tensor_data is None:
            return (name, dtype, shape, memory, None, None), kept, size
        whole = tuple(write.tensor_data.size)
        if name in self._plan["split"]:
            return (_piece_name(name, write.tensor_data.chunk.offsets), dtype, shape, memory, None, None), kept, size
        if not data.numel() and 0 not in whole:
            return None, kept, 0  # the rank has nothing of it
        return (name, dtype, shape, memory, whole, tuple(write.tensor_data.chunk.offsets)), kept, size

    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Any:
        self._begin(plan)
        items: list[_core._Item] = []
        kept: list[object] = []
        results = []
        for write in plan.items:
            item, keep, size = self._item(write, planner.resolve_data(write))
            kept.append(keep)
            if item is not None:
                items.append(item)
            results.append(WriteResult(index=write.index, size_in_bytes=size, storage_data=None))
        _core.ckpt_save_rank(self._store, self._prefix, items, self._options(self._plan["rank"], []), None)
        del kept
        return _done(results)

    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:
        own = {
            "bytes": [n for n, m in metadata.state_dict_metadata.items() if isinstance(m, BytesStorageMetadata)],
            "planner": Encoder(0).encode(metadata.planner_data),
            "split": {name: self._pieces(metadata.state_dict_metadata[name]) for name in self._plan["split"]},
        }
        text = json.dumps(own).encode()
        items: list[_core._Item] = [(_ABOUT, "U8", (len(text),), text, None, None)]
        _core.ckpt_save_rank(self._store, self._prefix, items, self._options(0, [(_ABOUT, _VERSION)]), None)
        _core.ckpt_wait(self._store, self._prefix, self._plan["set_id"], 0)

    @staticmethod
    def _pieces(entry: Any) -> dict[str, Any]:
        return {
            "dtype": _types.dtype_of_torch(entry.properties.dtype),
            "shape": list(entry.size),
            "pieces": [[list(chunk.offsets), list(chunk.sizes)] for chunk in entry.chunks],
        }

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: Id) -> bool:
        return _is_ours(checkpoint_id)

    def storage_meta(self) -> StorageMeta | None:
        return StorageMeta(checkpoint_id=self.checkpoint_id)


class Reader(StorageReader):
    """A storage reader for `dcp.load()`: of what `Writer` wrote, and of every other checkpoint of ours."""

    def __init__(
        self, checkpoint_id: Id | None = None, *, check: str = "crc", settings: dict[str, str] | None = None
    ) -> None:
        super().__init__()
        self.checkpoint_id = checkpoint_id
        self._check = check
        self._settings = settings
        self._ckpt: _core.Handle | None = None
        self._split: dict[str, Any] = {}

    def reset(self, checkpoint_id: Id | None = None) -> None:
        if checkpoint_id is not None:
            self.checkpoint_id = checkpoint_id
        self._ckpt = None

    def _open(self) -> _core.Handle:
        if self._ckpt is None:
            if self.checkpoint_id is None:
                raise ValueError("no checkpoint_id was given")
            store, prefix = open_place(os.fspath(self.checkpoint_id), beside=True, settings=self._settings)
            self._ckpt = _core.ckpt_open(store, prefix)
            self._rows = {row[0]: (index, row) for index, row in enumerate(_core.ckpt_tensors(self._ckpt))}
        return self._ckpt

    def _bytes(self, name: str) -> bytes:
        index, row = self._rows[name]
        view = _core.alloc(row[3])
        _core.ckpt_load(self._open(), [(index, None, None, view)], self._check, None)
        return bytes(view)

    def read_metadata(self, *args: Any, **kwargs: Any) -> Metadata:
        ckpt = self._open()
        own: dict[str, Any] = {"bytes": [], "planner": None}
        version = dict(_core.ckpt_describe(ckpt)["about"]["fields"]).get(_ABOUT)
        if version is not None:
            if version != _VERSION:
                raise ValueError(f"a DCP checkpoint of version {version}; this package knows {_VERSION}")
            own = json.loads(self._bytes(_ABOUT))
        plain = set(own["bytes"])
        entries: dict[str, TensorStorageMetadata | BytesStorageMetadata] = {}
        self._split = own.get("split", {})
        parts = {_piece_name(name, at) for name, entry in self._split.items() for at, _ in entry["pieces"]}
        for name, entry in self._split.items():
            entries[name] = TensorStorageMetadata(
                TensorProperties(dtype=_types.torch_dtype(entry["dtype"])),
                torch.Size(entry["shape"]),
                [ChunkStorageMetadata(torch.Size(at), torch.Size(size)) for at, size in entry["pieces"]],
            )
        for name, (index, (_, dtype, shape, _)) in self._rows.items():
            if name in plain:
                entries[name] = BytesStorageMetadata()
            elif name not in parts and (name != _ABOUT or version is None):
                chunks = [
                    ChunkStorageMetadata(torch.Size(at), torch.Size(size))
                    for at, size in _core.ckpt_pieces(ckpt, index)
                ]
                properties = TensorProperties(dtype=_types.torch_dtype(dtype))
                entries[name] = TensorStorageMetadata(properties, torch.Size(shape), chunks)
        return Metadata(
            state_dict_metadata=entries,
            planner_data=_planner_data(own["planner"]),
            storage_data={},
            storage_meta=StorageMeta(checkpoint_id=self.checkpoint_id),
        )

    def set_up_storage_reader(self, metadata: Metadata, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        self._open()

    def prepare_local_plan(self, plan: LoadPlan) -> LoadPlan:
        return plan

    def prepare_global_plan(self, plans: list[LoadPlan]) -> list[LoadPlan]:
        return plans

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Any:
        ckpt = self._open()
        wants: list[_core._Want] = []
        after: list[tuple[Any, Any, Any]] = []  # item, target, and what has to be copied to it
        for read in plan.items:
            name = read.storage_index.fqn
            if read.type == LoadItemType.BYTE_IO:
                planner.load_bytes(read, io.BytesIO(self._bytes(name)))
                continue
            begin = read.storage_index.offset or [0] * len(read.storage_offsets)
            if name in self._split:
                name, begin = _piece_name(name, begin), [0] * len(begin)
            index, (_, dtype, _, _) = self._rows[name]
            at = tuple(int(a) + int(b) for a, b in zip(begin, read.storage_offsets))
            target = planner.resolve_tensor(read).detach()
            kind = _types.torch_dtype(dtype)
            direct = target.device.type == "cpu" and target.is_contiguous() and target.dtype == kind
            memory = target if direct else torch.empty(tuple(read.lengths), dtype=kind)
            if tuple(target.shape) != tuple(read.lengths):
                raise AssertionError(f"'{name}': {tuple(target.shape)} is asked for, {tuple(read.lengths)} planned")
            if memory.numel():
                wants.append((index, at, tuple(int(n) for n in read.lengths), memory.data_ptr()))
            after.append((read, target, None if direct else memory))
        _core.ckpt_load(ckpt, wants, self._check, None)
        for read, target, memory in after:
            if memory is not None:
                target.copy_(memory)
            planner.commit_tensor(read, target)
        return _done(None)

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: Id) -> bool:
        return _is_ours(checkpoint_id)


def _planner_data(tree: Any) -> Any:
    def refuse(*_: Any) -> Any:
        raise NotFoundError("the planner's data names tensors")

    return Decoder(refuse, refuse).decode(tree)
