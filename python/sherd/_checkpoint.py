"""Checkpoints of a training."""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import sys
import time
import weakref
from types import TracebackType
from typing import Any

from . import _core, _types
from ._collective import collective_of
from ._errors import CancelledError, NotFoundError, SherdError
from ._file import item_of
from ._place import Path, open_place
from ._progress import Progress, watched
from ._tree import VERSION, Decoder, Encoder, PerRank, is_stateful, is_torch

__all__ = ["CheckpointManager", "PerRank"]

_STATE = "sherd.python.state"
_VERSION = "sherd.python"
Box = tuple[tuple[int, ...], tuple[int, ...]]  # where a piece begins, and its shape


def _is_dtensor(value: Any) -> bool:
    return is_torch(value) and hasattr(value, "device_mesh") and hasattr(value, "placements")


def _box_of(value: Any) -> Box:
    """Of a DTensor, which part of the whole this rank has."""
    from torch.distributed.tensor._utils import compute_local_shape_and_global_offset

    if any(placement.is_partial() for placement in value.placements):
        raise ValueError("a DTensor of partial values is reduced before it is saved")
    shape, offset = compute_local_shape_and_global_offset(value.shape, value.device_mesh, value.placements)
    return tuple(int(n) for n in offset), tuple(int(n) for n in shape)


class _Piece:
    """What this rank holds of one tensor."""

    def __init__(self, name: str, value: Any) -> None:
        self.name = name
        self.whole: tuple[int, ...] | None = None
        self.at: tuple[int, ...] | None = None
        if _is_dtensor(value):
            self.at, shape = _box_of(value)
            self.whole = tuple(value.shape)
            value = value.to_local()
            if tuple(value.shape) != shape:
                raise ValueError(f"'{name}': the local part is {tuple(value.shape)}, its place {shape}")
            if shape == self.whole:
                self.whole = self.at = None
        elif hasattr(value, "wait") and is_torch(value):
            value = value.wait()
        self.value = value

    def size(self) -> int:
        value = self.value
        if is_torch(value):
            return int(value.numel() * value.element_size())
        return memoryview(value).nbytes if isinstance(value, memoryview) else int(value.nbytes)

    def key(self) -> tuple[str, tuple[int, ...] | None, int]:
        return self.name, self.at, self.size()

    def item(self) -> tuple[_core._Item, object]:
        if isinstance(self.value, memoryview):
            return (self.name, "U8", (len(self.value),), self.value, None, None), self.value
        (name, dtype, shape, data, _, _), kept = item_of(self.name, self.value)
        return (name, dtype, shape, data, self.whole, self.at), kept


def _share_out(everyone: list[list[tuple[str, tuple[int, ...] | None, int]]], rank: int) -> set[int]:
    """Which of its pieces this rank writes: each piece once, by one of those that have it, so that all write about as
    much. Every rank comes to the same answer."""
    holders: dict[Any, list[int]] = {}
    places: dict[Any, dict[int, int]] = {}
    for owner, keys in enumerate(everyone):
        for index, key in enumerate(keys):
            holders.setdefault(key, []).append(owner)
            places.setdefault(key, {})[owner] = index
    load = [0] * len(everyone)
    mine: set[int] = set()
    for key in sorted(holders, key=lambda k: (len(holders[k]), -k[2], k[0], k[1] or ())):
        owner = min(holders[key], key=lambda r: (load[r], r))
        load[owner] += key[2]
        if owner == rank:
            mine.add(places[key][rank])
    return mine


class CheckpointManager:
    """The checkpoints of one run, in a folder or under a URI.

    A state is a nested dict of tensors (torch, DTensor, numpy), numbers, texts, lists, and of objects that have
    `state_dict()`, such as modules and optimizers. With torch.distributed, or an MPI communicator (`comm`), all ranks
    call `save()` and `restore()`: what is cut over them is saved in pieces, what all of them have is saved once, and
    any number of ranks restores it.

    >>> import numpy, tempfile
    >>> manager = CheckpointManager(tempfile.mkdtemp(), keep=2)
    >>> for step in range(4):
    ...     manager.save(step, {"w": numpy.full(3, step), "lr": 0.1})
    >>> manager.wait()
    >>> manager.steps()
    [2, 3]
    >>> manager.restore(step=2)
    {'w': array([2, 2, 2]), 'lr': 0.1}
    """

    def __init__(
        self,
        run: Path,
        keep: int | None = None,
        *,
        rank: int | None = None,
        world: int | None = None,
        group: Any = None,
        comm: Any = None,
        digest: str = "blake3",
        settings: dict[str, str] | None = None,
    ) -> None:
        if digest not in ("blake3", "sha256"):
            raise ValueError("digest is 'blake3' or 'sha256'")
        if keep is not None and keep < 1:
            raise ValueError("keep is at least 1")
        self.run = os.fspath(run)
        self.keep = keep
        self._ranks = collective_of(rank, world, group, comm)
        self._digest = digest
        if "://" not in self.run:
            # Made for good: a store takes an empty folder that it made away again, maybe under another process.
            os.makedirs(self.run.removeprefix("file:"), exist_ok=True)
        store, key = open_place(f"{self.run.rstrip('/')}/step", create=True, beside=True, settings=settings)
        self._store = store
        self._below = key.removesuffix("step")
        self._staging: _core.Handle | None = None
        self._pinned: dict[str, Any] = {}
        self._job: _core.Handle | None = None
        self._pending: tuple[int, str] | None = None  # step and set id of what was saved last
        self._shares: tuple[bytes, set[int]] | None = None
        _open_managers.add(self)

    # ---- saving

    def _prefix(self, step: int) -> str:
        return f"{self._below}step-{step}"

    def _agree(self, pieces: list[_Piece]) -> tuple[str, set[int]]:
        """One id for the set, and which pieces are whose."""
        keys = [piece.key() for piece in pieces]
        print_ = hashlib.blake2b(repr(keys).encode(), digest_size=16).digest()
        known = self._shares is not None and self._shares[0] == print_
        if self._ranks.world == 1:
            return _core.set_id(), set(range(len(pieces)))
        first = self._ranks.gather((_core.set_id(), known))
        if len(first) == 1:  # ranks that do not talk: each writes what it has, and replicas are told by their bytes
            return "", set(range(len(pieces)))
        if not all(k for _, k in first) or self._shares is None:
            self._shares = (print_, _share_out(self._ranks.gather(keys), self._ranks.rank))
        return first[0][0], self._shares[1]

    def _to_host(self, piece: _Piece, moved: list[Any]) -> None:
        """A tensor of a device goes to memory that is kept from save to save; the copy may still be under way."""
        import torch

        value = piece.value.detach()
        host = self._pinned.get(piece.name)
        if host is None or host.shape != value.shape or host.dtype != value.dtype:
            pin = value.device.type == "cuda"
            host = torch.empty(value.shape, dtype=value.dtype, device="cpu", pin_memory=pin)
            self._pinned[piece.name] = host
        host.copy_(value, non_blocking=True)
        moved.append(value.device)
        piece.value = host

    def _stage(self, pieces: list[_Piece]) -> bool:
        """Brings what lies on devices to the host. True when nothing else has to be copied."""
        moved: list[Any] = []
        for piece in pieces:
            if is_torch(piece.value) and piece.value.device.type != "cpu":
                self._to_host(piece, moved)
        for device in set(moved):
            if device.type == "cuda":
                import torch

                torch.cuda.synchronize(device)
        return len(moved) == len(pieces) and bool(pieces)

    def save(
        self,
        step: int,
        state: Any,
        blocking: bool = False,
        *,
        epoch: int | None = None,
        metadata: dict[str, str] | None = None,
        progress: Progress = None,
    ) -> None:
        """Saves the state as this step; a committed one of the same step is replaced, in one step.

        Unless blocking, it returns as soon as the tensors may change again; `wait()` tells how it went, and so do the
        next `save()`, `close()`, and the end of the program.
        """
        self.wait()
        encoder = Encoder(self._ranks.rank)
        tree = encoder.encode(state)
        pieces = [_Piece(name, value) for name, value in encoder.tensors.items()]
        set_id, mine = self._agree(pieces)
        own = [piece for index, piece in enumerate(pieces) if index in mine]
        borrow = self._stage(own)
        both = [piece.item() for piece in own]
        items = [item for item, _ in both]
        options = self._options(step, epoch, metadata, tree, set_id)
        if blocking:
            with watched(progress, f"step {step}") as callback:
                result = _core.ckpt_save_rank(self._store, self._prefix(step), items, options, callback)
            self._pending = (step, options["set_id"])
            self._finished(result)
            return
        if self._staging is None:
            self._staging = _core.staging()
        options["borrow"] = borrow
        self._job = _core.ckpt_start_rank(self._store, self._prefix(step), items, options, self._staging)
        self._pending = (step, options["set_id"])

    def _options(
        self, step: int, epoch: int | None, metadata: dict[str, str] | None, tree: Any, set_id: str
    ) -> dict[str, Any]:
        about: dict[str, Any] = {"step": step}
        if epoch is not None:
            about["epoch"] = epoch
        if self._ranks.rank == 0:
            about["fields"] = [
                *((metadata or {}).items()),
                (_VERSION, VERSION),
                (_STATE, json.dumps(tree, separators=(",", ":"))),
            ]
        if not set_id:  # what all ranks of this step come to by themselves
            set_id = hashlib.blake2b(f"{self.run}\0{step}\0{self._ranks.world}".encode(), digest_size=16).hexdigest()
        return {
            "rank": self._ranks.rank,
            "world": self._ranks.world,
            "set_id": set_id,
            "time_ns": time.time_ns(),
            "replace": True,
            "take_over_after_ns": 1,
            "digest": self._digest,
            "about": about,
        }

    def _finished(self, result: dict[str, Any]) -> None:
        if result["committed"] and self.keep:
            _core.ckpt_prune(self._store, self._below, self.keep, 0)

    def saving(self) -> tuple[int, int] | None:
        """Bytes that were written and bytes in all, of a save that is under way; None when there is none."""
        if self._job is None:
            return None
        over, done, total = _core.job_poll(self._job)
        return None if over else (done, total)

    def cancel(self) -> None:
        """Stops a save that is under way; nothing of it is left."""
        if self._job is not None:
            _core.job_cancel(self._job)
        try:
            self.wait()
        except CancelledError:
            pass

    def wait(self, timeout: float | None = None) -> None:
        """Waits for what this rank is saving, and raises what went wrong with it. With a timeout, in seconds, also until
        the whole set is committed by all ranks: IncompleteError says how far it is."""
        job, self._job = self._job, None
        if job is not None:
            try:
                self._finished(_core.job_wait(job))
            finally:
                job.close()
        if timeout is not None and self._pending is not None:
            step, set_id = self._pending
            _core.ckpt_wait(self._store, self._prefix(step), set_id, int(timeout * 1e9))

    def close(self) -> None:
        """Waits, and gives the memory for copies back."""
        try:
            self.wait()
        finally:
            if self._staging is not None:
                self._staging.close()
            self._staging = None
            self._pinned = {}
            _open_managers.discard(self)

    def __enter__(self) -> CheckpointManager:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    # ---- what is there

    def steps(self) -> list[int]:
        """Of all checkpoints that are committed."""
        rows = _core.ckpt_list(self._store, self._below)
        return sorted(int(step) for _, state, step, *_ in rows if state == "committed" and step is not None)

    def latest(self) -> int | None:
        found = self.steps()
        return found[-1] if found else None

    def remove(self, step: int) -> None:
        _core.ckpt_remove(self._store, self._prefix(step))

    # ---- restoring

    def _choose(self, step: int | str) -> int:
        chosen = self.latest() if step == "latest" else int(step)
        if self._ranks.world > 1:
            chosen = self._ranks.gather(chosen)[0]
        if chosen is None:
            raise NotFoundError("there is no checkpoint yet", "not-found", self.run)
        return chosen

    def restore(
        self,
        template: Any = None,
        step: int | str = "latest",
        *,
        check: str = "crc",
        progress: Progress = None,
    ) -> Any:
        """The state of a step. Tensors of the template are filled where they are, a DTensor with the part that it has;
        objects with `load_state_dict()` get what was saved of them; everything else comes as it was saved. With a dict
        as the template only its keys are read. check: "crc", "digest" or "none"."""
        self.wait()
        ckpt = _core.ckpt_open(self._store, self._prefix(self._choose(step)))
        try:
            loader = _Loader(ckpt, self._ranks.rank)
            answer = loader.plan(template)
            with watched(progress, "restore") as callback:
                _core.ckpt_load(ckpt, loader.wants, check, callback)
            return loader.finish(answer)
        finally:
            ckpt.close()


class _Later:
    """A value that is there once everything was read."""

    def __init__(self, make: Any) -> None:
        self.make = make


class _Loader:
    """Plans what to read of a checkpoint, then puts the state together."""

    def __init__(self, ckpt: _core.Handle, rank: int) -> None:
        self.ckpt = ckpt
        self.rank = rank
        self.rows = {row[0]: (index, row) for index, row in enumerate(_core.ckpt_tensors(ckpt))}
        self.fields = dict(_core.ckpt_describe(ckpt)["about"]["fields"])
        self.wants: list[_core._Want] = []
        self.copies: list[tuple[Any, Any]] = []  # tensors that could not be filled in place, and their values
        self.loaded: list[tuple[Any, Any]] = []  # objects, and the state that they get

    def _tree(self) -> Any:
        if _STATE in self.fields:
            if self.fields.get(_VERSION) != VERSION:
                raise ValueError(f"a state of version {self.fields.get(_VERSION)}; this package knows {VERSION}")
            return json.loads(self.fields[_STATE])
        # Of other programs: its tensors, by name.
        return {"d": [[name, {"a": name, "k": "numpy"}] for name in self.rows]}

    def plan(self, template: Any) -> Any:
        tree = self._tree()
        decoder = _PlanDecoder(self)
        if isinstance(template, dict) and "d" in tree:
            stored = {decoder.decode(key): node for key, node in tree["d"]}
            missing = [key for key in template if key not in stored]
            if missing:
                raise KeyError(f"the checkpoint has no '{missing[0]}'")
            return {key: decoder.decode(stored[key], value) for key, value in template.items()}
        return decoder.decode(tree, template)

    def own(self, path: str) -> Any:
        name = f"{path}@{self.rank}"
        if name not in self.rows:
            name = f"{path}@0"
        index, row = self.rows[name]
        view = _core.alloc(row[3])
        _core.ckpt_load(self.ckpt, [(index, None, None, view)], "crc", None)
        return json.loads(bytes(view))

    def read(self, name: str, kind: str, target: Any) -> Any:
        if name not in self.rows:
            raise KeyError(f"the checkpoint has no tensor '{name}'")
        index, (_, dtype, shape, size) = self.rows[name]
        if target is not None and is_torch(target):
            return self._into(index, dtype, shape, target, name)
        if target is not None and hasattr(target, "__array_interface__") and target.shape == shape and target.shape:
            if target.flags.c_contiguous and target.flags.writeable and target.dtype == _types.numpy_dtype(dtype):
                self.wants.append((index, None, None, target.reshape(-1).view("u1").data))
                return target
        view = _core.alloc(size)
        self.wants.append((index, None, None, view))
        return _Later(lambda: _made(view, dtype, shape, kind))

    def _into(self, index: int, dtype: str, shape: tuple[int, ...], target: Any, name: str) -> Any:
        if tuple(target.shape) != shape:
            raise ValueError(f"'{name}' is {list(shape)} in the checkpoint, {list(target.shape)} in the template")
        at, box, local = None, None, target.detach()
        if _is_dtensor(target):
            at, box = _box_of(target)
            local = target.to_local().detach()
        if not local.numel():
            return target
        import torch

        kind = _types.torch_dtype(dtype)
        if local.device.type == "cpu" and local.is_contiguous() and local.dtype == kind:
            self.wants.append((index, at, box, local.data_ptr()))
        else:
            pin = local.device.type == "cuda"
            host = torch.empty(local.shape, dtype=kind, device="cpu", pin_memory=pin)
            self.wants.append((index, at, box, host.data_ptr()))
            self.copies.append((local, host))
        return target

    def finish(self, answer: Any) -> Any:
        if self.copies:
            import torch

            with torch.no_grad():
                for local, host in self.copies:
                    local.copy_(host)
        answer = _resolved(answer)
        for target, state in self.loaded:
            target.load_state_dict(_resolved(state))
        return answer


class _PlanDecoder(Decoder):
    """As its parent, but objects get their state once it was read."""

    def __init__(self, loader: _Loader) -> None:
        super().__init__(loader.read, loader.own)
        self.loader = loader

    def _decode_dict(self, inner: list[Any], target: Any) -> Any:
        if not is_stateful(target):
            return super()._decode_dict(inner, target)
        present = target.state_dict()
        self.loader.loaded.append((target, super()._decode_dict(inner, present if isinstance(present, dict) else None)))
        return target


def _made(view: _core.View, dtype: str, shape: tuple[int, ...], kind: str) -> Any:
    if kind == "bytes":
        return bytes(view)
    if kind == "torch":
        import torch

        if not len(view):
            return torch.empty(shape, dtype=_types.torch_dtype(dtype))
        return torch.frombuffer(view, dtype=torch.uint8).view(_types.torch_dtype(dtype)).reshape(shape)
    import numpy

    array = numpy.frombuffer(view, dtype=numpy.uint8).view(_types.numpy_dtype(dtype)).reshape(shape)
    return array[()] if kind == "scalar" else array


def _resolved(value: Any) -> Any:
    if isinstance(value, _Later):
        return value.make()
    if isinstance(value, dict):
        return {key: _resolved(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(_resolved(item) for item in value)
    return value


_open_managers: weakref.WeakSet[CheckpointManager] = weakref.WeakSet()


@atexit.register
def _finish_all() -> None:
    """What is still being saved is finished, and what failed is told."""
    for manager in list(_open_managers):
        try:
            manager.close()
        except SherdError as error:
            print(f"sherd: the last save of {manager.run} failed: {error}", file=sys.stderr)
