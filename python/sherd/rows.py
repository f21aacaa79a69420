"""Rows of numbers, streamed out of core: activations, embeddings.

>>> import numpy, tempfile, os
>>> path = os.path.join(tempfile.mkdtemp(), "acts")
>>> with Writer(path, width=4, dtype="F16") as writer:
...     writer.append(numpy.arange(40, dtype="f4").reshape(10, 4))
>>> [batch.shape for batch in Dataset(path, batch=4, shuffle=True)]
[(4, 4), (4, 4), (2, 4)]
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _core, _types
from ._place import Path, open_place

if TYPE_CHECKING:
    import numpy

__all__ = ["Batch", "Dataset", "Loader", "Writer"]

_VERSION = 1


class Batch(NamedTuple):
    """Rows, their ids in the set, and whether they were delivered before to make all ranks equal (`tail="pad"`)."""

    rows: Any
    ids: Any
    padding: bool


class Writer:
    """Writes rows into a folder, as many as come. What was flushed is there for readers and stays, whatever happens; as
    a context it commits at the end, and takes back what was not flushed when an exception comes."""

    def __init__(
        self,
        path: Path,
        width: int = 0,
        dtype: str | None = None,
        *,
        append: bool = False,
        rows_per_shard: int = 0,
        settings: dict[str, str] | None = None,
    ) -> None:
        if not width and not append:
            raise ValueError("a new set needs a width")
        if dtype is not None and dtype not in ("F32", "F16", "BF16"):
            raise ValueError("rows are stored as F32, F16 or BF16")
        store, folder = open_place(path, create=True, beside=not os.path.isdir(os.fspath(path)), settings=settings)
        options = {"append": append, "dtype": dtype, "rows_per_shard": rows_per_shard}
        self._writer = _core.rows_writer(store, folder, width, options)

    def append(self, rows: Any) -> None:
        """Rows of float32, float64, float16 or bfloat16: an array or tensor whose last dimension is the width."""
        from ._file import item_of

        (_, dtype, shape, data, _, _), kept = item_of("rows", rows)
        if not shape:
            raise ValueError("a number is no row")
        count = 1
        for length in shape[:-1]:
            count *= length
        if dtype not in ("F32", "F64", "F16", "BF16"):
            raise TypeError(f"rows of {dtype} cannot be appended")
        import ctypes

        memory: Any = data
        if isinstance(data, int):  # an address: its length is told
            size = count * shape[-1] * _types.item_bytes(dtype)
            memory = (ctypes.c_char * size).from_address(data) if size else b""
        _core.rows_append(self._writer, dtype, memory, count)
        del kept

    def flush(self) -> None:
        """Makes everything so far durable and visible, in one step."""
        _core.rows_flush(self._writer)

    def close(self) -> int:
        """Flushes and ends; returns how many finite values were too large for the type, and are infinities now."""
        return _core.rows_commit(self._writer)

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            if not self._writer.closed:
                self.close()
        else:
            self._writer.close()


def _workers() -> tuple[int, int]:
    """This process's number among the workers of a DataLoader, and how many there are."""
    if "torch" in sys.modules:
        import torch.utils.data

        info = torch.utils.data.get_worker_info()
        if info is not None:
            return info.id, info.num_workers
    return 0, 1


def _ranks(rank: int | None, world: int | None) -> tuple[int, int]:
    if world is None and "torch" in sys.modules:
        import torch.distributed as dist

        if dist.is_available() and dist.is_initialized():
            return dist.get_rank(), dist.get_world_size()
    return rank or 0, world or 1


class Dataset:
    """The batches of one rank, in an order that seed and epoch give, whatever the number of ranks and of workers.

    An IterableDataset where torch is imported: `DataLoader(dataset, batch_size=None, num_workers=4)`. Each pass is the
    next epoch; with workers call `set_epoch()` before it, as for a DistributedSampler.

    `state_dict()` between two batches says where all ranks stand that have had as many; any other world goes on from
    there, and any number of workers. Workers run ahead of who takes their batches: there, count what you have had, and
    ask `state_after(batches)`; torchdata's StatefulDataLoader asks each worker, and resumes with as many.

    to: "numpy", "torch" or "jax"; "torch" when a device is given. tail: what a last round does that has fewer batches
    than ranks: "keep", "drop", "pad". dtype: of the values ("F32", "F64", "F16", "BF16"; default: as stored).
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Dataset:
        if cls is Dataset and "torch" in sys.modules:
            return object.__new__(_torch_class())
        return object.__new__(cls)

    def __init__(
        self,
        path: Path,
        batch: int = 1024,
        shuffle: bool = False,
        epoch: int = 0,
        rank: int | None = None,
        world: int | None = None,
        device: Any = None,
        *,
        seed: int = 0,
        shuffle_window: int = 0,
        dtype: str | None = None,
        tail: str = "keep",
        fraction: float | None = None,
        verify: bool = False,
        access: str = "auto",
        to: str | None = None,
        ids: bool = False,
        settings: dict[str, str] | None = None,
    ) -> None:
        if to not in (None, "numpy", "torch", "jax"):
            raise ValueError("to is 'numpy', 'torch' or 'jax'")
        if tail not in ("keep", "drop", "pad"):
            raise ValueError("tail is 'keep', 'drop' or 'pad'")
        self.path = os.fspath(path)
        self.rank, self.world = _ranks(rank, world)
        self.epoch = epoch
        self.device = device
        self._to = to or ("torch" if device is not None else "numpy")
        self._ids = ids
        self._settings = settings
        self._options: dict[str, Any] = {
            "batch": batch,
            "shuffle": shuffle,
            "seed": seed,
            "shuffle_window": shuffle_window,
            "tail": tail,
            "fraction": fraction,
            "verify": verify,
            "access": access,
        }
        self._base: str | None = None  # where this pass began, when not at the start of its epoch
        self._taken = 0  # batches of this process since then
        self._rows: _core.Handle | None = None
        self._pid = 0
        about = _core.rows_describe(self._open())
        self.rows: int = about["rows"]
        self.width: int = about["width"]
        self.stored: str = about["dtype"]
        self._options["dtype"] = dtype or self.stored

    # ---- processes and pickles

    def _open(self) -> _core.Handle:
        if self._rows is None or self._pid != os.getpid():
            store, key = open_place(self.path, settings=self._settings)
            self._rows = _core.rows_open(store, key, False)
            self._pid = os.getpid()
        return self._rows

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_rows": None, "_pid": 0}

    def __len__(self) -> int:
        """Batches that this rank has in an epoch; they are counted, not read."""
        return _core.rows_skip(self._cursor(None), 2**63)

    # ---- reading

    def _cursor(self, resume: str | None) -> _core.Handle:
        options = {**self._options, "rank": self.rank, "world": self.world}
        if resume is None:
            options["epoch"] = self.epoch
        else:
            options["resume"] = resume
        return _core.rows_cursor(self._open(), options)

    def _made(self, view: Any, rows: int) -> Any:
        dtype = self._options["dtype"]
        if self._to == "torch":
            import torch

            tensor = torch.frombuffer(view, dtype=torch.uint8).view(_types.torch_dtype(dtype)).reshape(rows, self.width)
            return tensor if self.device is None else tensor.to(self.device, non_blocking=True)
        import numpy

        array: Any = numpy.frombuffer(view, dtype=numpy.uint8).view(_types.numpy_dtype(dtype)).reshape(rows, self.width)
        if self._to == "jax":
            import jax.numpy

            return jax.numpy.asarray(array)
        return array

    def _ids_of(self, ids: bytes | None, first: int, rows: int) -> Any:
        import numpy

        made = numpy.arange(first, first + rows, dtype="u8") if ids is None else numpy.frombuffer(ids, dtype="u8")
        if self._to == "torch":
            import torch

            return torch.from_numpy(made.astype("i8"))
        return made

    def __iter__(self) -> Iterator[Any]:
        worker, workers = _workers()
        cursor = self._cursor(self._base)
        self._workers = workers
        _core.rows_skip(cursor, worker + self._taken * workers)
        while True:
            batch = _core.rows_next(cursor, None)
            if batch is None:
                break
            view, rows, ids, first, _, padding, _ = batch
            self._taken += 1
            made = self._made(view, rows)
            yield Batch(made, self._ids_of(ids, first, rows), padding) if self._ids else made
            _core.rows_skip(cursor, workers - 1)
        self.set_epoch(self._epoch_of(cursor) + 1)

    def _epoch_of(self, cursor: _core.Handle) -> int:
        return int(_core.rows_tell(cursor).split(":")[1])

    def set_epoch(self, epoch: int) -> None:
        """The next pass is this epoch, from its start."""
        self.epoch, self._base, self._taken = epoch, None, 0

    # ---- states

    def state_dict(self) -> dict[str, Any]:
        worker, workers = _workers()
        if workers > 1:
            return {
                "version": _VERSION,
                "cursor": self._base,
                "epoch": self.epoch,
                "taken": self._taken,
                "worker": [worker, workers],
            }
        return self.state_after(0)

    def state_after(self, batches: int) -> dict[str, Any]:
        """Where a rank stands that has had so many batches since this pass began, whoever brought them."""
        cursor = self._cursor(self._base)
        _core.rows_skip(cursor, self._taken + batches)
        return {"version": _VERSION, "cursor": _core.rows_tell(cursor)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from there, with the ranks and the workers that there are now."""
        if state.get("version") != _VERSION:
            raise ValueError(f"a state of version {state.get('version')}; this package knows {_VERSION}")
        if "worker" in state:
            if state["worker"] != list(_workers()):
                raise ValueError("the state is of one worker among others; for another number take state_after()")
            self.epoch, self._base, self._taken = state["epoch"], state["cursor"], state["taken"]
            return
        self._base, self._taken = state["cursor"], 0
        self.epoch = self._epoch_of(self._cursor(self._base))

    def gather(self, ids: Any) -> Any:
        """Rows by their ids, in the order given."""
        import numpy

        wanted = numpy.ascontiguousarray(ids, dtype="u8")
        view = _core.alloc(wanted.size * self.width * _types.item_bytes(self._options["dtype"]))
        _core.rows_gather(self._cursor(None), wanted.data, view)
        return self._made(view, wanted.size)


_made_class: list[type[Dataset]] = []


def _torch_class() -> type[Dataset]:
    """Dataset as an IterableDataset of torch, which is imported already."""
    if not _made_class:
        from torch.utils.data import IterableDataset

        class TorchDataset(Dataset, IterableDataset):  # type: ignore[type-arg]
            __doc__ = Dataset.__doc__

            def __reduce__(self) -> Any:
                return (_again, (self.__getstate__(),))

        # DataLoader warns of iterable datasets that know their length and deliver another: workers share it here.
        TorchDataset.__name__ = TorchDataset.__qualname__ = "Dataset"
        _made_class.append(TorchDataset)
    return _made_class[0]


def _again(state: dict[str, Any]) -> Dataset:
    import torch.utils.data  # noqa: F401

    dataset = object.__new__(_torch_class())
    dataset.__dict__.update(state)
    return dataset


class Loader:
    """Batches of a dataset, read ahead by a thread of this process. Its state is that of the batch that was taken last.

    >>> import numpy, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "acts")
    >>> with Writer(path, width=2) as writer:
    ...     writer.append(numpy.zeros((6, 2), "f4"))
    >>> loader = Loader(Dataset(path, batch=2))
    >>> len(list(loader))
    3
    """

    def __init__(self, dataset: Dataset, ahead: int = 4) -> None:
        if ahead < 1:
            raise ValueError("ahead is at least 1")
        self.dataset = dataset
        self.ahead = ahead
        self._state = dataset.state_dict()

    def __len__(self) -> int:
        return len(self.dataset)

    def __iter__(self) -> Iterator[Any]:
        made: queue.Queue[tuple[str, Any, Any]] = queue.Queue(self.ahead)
        stop = threading.Event()

        def put(item: tuple[str, Any, Any]) -> bool:
            while not stop.is_set():
                try:
                    made.put(item, timeout=0.1)
                    return True
                except queue.Full:
                    continue
            return False

        def work() -> None:
            try:
                for batch in self.dataset:
                    if not put(("batch", batch, self.dataset.state_dict())):
                        return
                put(("end", None, self.dataset.state_dict()))
            except BaseException as error:  # noqa: BLE001 - it is raised where the batches are taken
                put(("error", error, None))

        self.dataset.load_state_dict(self._state)
        thread = threading.Thread(target=work, daemon=True, name="sherd-rows")
        thread.start()
        try:
            while True:
                what, value, state = made.get()
                if what == "error":
                    raise value
                self._state = state
                if what == "end":
                    return
                yield value
        finally:
            stop.set()
            thread.join()

    def state_dict(self) -> dict[str, Any]:
        return self._state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._state = state
        self.dataset.load_state_dict(state)
