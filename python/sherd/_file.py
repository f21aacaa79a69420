"""Any file: open, save, convert, verify."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, NamedTuple

from . import _core, _types
from ._errors import ArgumentError, SherdError
from ._place import Path, open_place
from ._progress import Progress, watched
from ._tensor import Tensor


class Report(NamedTuple):
    """What `verify()` found. It is true when there are no errors."""

    errors: list[SherdError]
    warnings: list[SherdError]
    checked_bytes: int

    def __bool__(self) -> bool:
        return not self.errors


class File(Mapping[str, Tensor]):
    """The tensors of an open file or set, by name, in stored order. Heads were read, tensors were not.

    Closing it while arrays borrow from its maps waits for them.
    """

    def __init__(self, store: _core.Handle, key: str, path: str) -> None:
        self._store = store
        self._key = key
        self.path = path
        self._bundle = _core.bundle_open(store, key)
        rows = _core.bundle_tensors(self._bundle)
        self._rows = {row[0]: (index, row) for index, row in enumerate(rows)}
        #: "safetensors", "checkpoint", "gguf", ...
        self.format: str = _core.bundle_format(self._bundle)

    # ---- a mapping

    def __getitem__(self, name: str) -> Tensor:
        index, row = self._rows[name]
        return Tensor(self, index, *row)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"<File {self.path!r}: {self.format}, {len(self)} tensors>"

    def __enter__(self) -> File:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._bundle.close()

    # ---- what stands beside the tensors

    @property
    def nbytes(self) -> int:
        return sum(row[3] for _, row in self._rows.values())

    @property
    def metadata(self) -> dict[str, Any]:
        """Texts, and numbers, lists and JSON where the format records types."""
        pairs: dict[str, Any] = dict(_core.bundle_pairs(self._bundle))
        for key, is_json, value in _core.bundle_values(self._bundle):
            pairs[key] = json.loads(value) if is_json else value
        pairs.pop("sherd.types", None)
        return pairs

    @property
    def about(self) -> dict[str, Any] | None:
        """What a checkpoint says of the training: step, epoch, optimizer. None for other formats."""
        return _core.bundle_about(self._bundle)

    # ---- reading

    def _load(self, wants: list[_core._Want], progress: Progress, what: str) -> None:
        with watched(progress, what) as callback:
            _core.bundle_load(self._bundle, wants, callback)

    def _map(self, index: int) -> _core.View:
        return _core.bundle_map(self._bundle, index)

    def load(self, names: Iterable[str] | None = None, *, progress: Progress = None) -> dict[str, _core.View]:
        """The raw bytes of several tensors, read by all processors at once."""
        chosen = [self._rows[name] for name in (self if names is None else names)]
        views = {row[0]: _core.alloc(row[3]) for _, row in chosen}
        self._load([(index, None, None, views[row[0]]) for index, row in chosen], progress, self.path)
        return views

    def read_into(self, targets: Mapping[str, Any], *, progress: Progress = None) -> None:
        """Fills arrays or tensors that are there, of the same types and shapes, by all processors at once."""
        from ._tensor import address_of

        wants: list[_core._Want] = []
        for name, target in targets.items():
            index, row = self._rows[name]
            address, size = address_of(target)
            if size != row[3]:
                raise ValueError(f"the target of '{name}' has {size} bytes, the tensor {row[3]}")
            wants.append((index, None, None, target if address is None else address))
        self._load(wants, progress, self.path)

    def numpy(self, names: Iterable[str] | None = None, *, progress: Progress = None) -> dict[str, Any]:
        """Several tensors as arrays of numpy."""
        import numpy

        return {
            name: numpy.frombuffer(view, dtype=numpy.uint8)
            .view(_types.numpy_dtype(self._rows[name][1][1]))
            .reshape(self._rows[name][1][2])
            for name, view in self.load(names, progress=progress).items()
        }

    def verify(self, *, quick: bool = False, progress: Progress = None) -> Report:
        """Checks everything that can be checked: structure, sizes, checksums."""
        with watched(progress, "verify") as callback:
            return Report(*_core.verify(self._store, self._key, quick, callback))


def open(path: Path, *, settings: Mapping[str, str] | None = None) -> File:
    """Opens a file, folder or set of any format that holds tensors, by its path or URI (`s3://bucket/key`).

    >>> import sherd, numpy, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
    >>> sherd.save(path, {"w": numpy.ones((2, 3), "f4")}, metadata={"who": "me"})
    >>> with sherd.open(path) as f:
    ...     print(list(f), f["w"].shape, f.metadata, bool(f.verify()))
    ['w'] (2, 3) {'who': 'me'} True
    """
    store, key = open_place(path, settings=settings)
    return File(store, key, str(path))


def verify(path: Path, *, quick: bool = False, progress: Progress = None, settings: Mapping[str, str] | None = None) -> Report:
    """Checks whatever the path names: also what cannot be opened, graphs and rows."""
    store, key = open_place(path, settings=settings)
    with watched(progress, "verify") as callback:
        return Report(*_core.verify(store, key, quick, callback))


# ---- writing


def item_of(name: str, value: Any) -> tuple[_core._Item, object]:
    """What the extension takes of a value, and what has to live until it was written."""
    if isinstance(value, Tensor):
        # Read, not mapped: a file that is cut off meanwhile must not become zeros in another one.
        if value._steps:
            return item_of(name, value.numpy().copy())
        raw = value._raw(copy=True)
        return (name, value.dtype, value.shape, raw, None, None), raw
    if hasattr(value, "data_ptr") and hasattr(value, "element_size"):
        tensor = value.detach()
        tensor = tensor if tensor.device.type == "cpu" else tensor.cpu()
        tensor = tensor.contiguous()
        dtype = _types.dtype_of_torch(tensor.dtype)
        shape = tuple(tensor.shape)
        if _types.block_of(dtype)[0] != 1 and shape:
            shape = (*shape[:-1], shape[-1] * 2)
        return (name, dtype, shape, tensor.data_ptr(), None, None), tensor
    import numpy

    array = numpy.asarray(value)
    dtype = _types.dtype_of_numpy(array.dtype)
    # Files are little-endian; ascontiguousarray() would make a scalar a vector.
    if array.dtype.byteorder == ">" or (array.dtype.byteorder == "=" and not numpy.little_endian):
        array = array.astype(array.dtype.newbyteorder("<"))
    array = numpy.require(array, requirements="C")
    flat = array.reshape(-1).view(numpy.uint8)
    return (name, dtype, tuple(array.shape), memoryview(flat), None, None), flat


def texts_of(metadata: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    return [(str(k), v if isinstance(v, str) else json.dumps(v)) for k, v in (metadata or {}).items()]


def target_of(path: Path, format: str | None, settings: Mapping[str, str] | None) -> tuple[_core.Handle, str, str]:
    """The store, the key and the format of something that is to be written."""
    import os

    text = os.fspath(path)
    named, use, ending = _core.format_by_path(text)
    if format is None:
        if named is None:
            raise ArgumentError(f"the name '{text}' tells no format: give one, such as format='safetensors'", "no-format")
        format = named
    if use == 1 and named == format:  # the head of a set: it is named by what stands before
        text = text[: -len(ending)]
    folder = any(f["name"] == format and f["folder"] for f in _core.formats())
    store, key = open_place(text, create=True, beside=folder or use != 0, settings=settings)
    return store, key, format


def save(
    path: Path,
    tensors: Mapping[str, Any],
    *,
    metadata: Mapping[str, Any] | None = None,
    format: str | None = None,
    replace: bool = True,
    shards: int = 0,
    compress: bool = False,
    progress: Progress = None,
    settings: Mapping[str, str] | None = None,
) -> None:
    """Saves arrays of numpy, tensors of torch or of open files, in any format that is written; the path's ending tells
    which, or `format`. Durable when it returns; a reader sees the old file or the new one, whole.

    >>> import sherd, numpy, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "a.npz")
    >>> sherd.save(path, {"a": numpy.zeros(3), "b": numpy.arange(2)})
    >>> sorted(sherd.open(path))
    ['a', 'b']
    """
    items, kept = [], []
    for name, value in tensors.items():
        item, keep = item_of(str(name), value)
        items.append(item)
        kept.append(keep)
    store, key, named = target_of(path, format, settings)
    options: dict[str, Any] = {"replace": replace, "shards": shards, "compress": compress}
    with watched(progress, "save") as callback:
        _core.save(items, texts_of(metadata), store, key, named, options, callback)
    del kept


def _several(value: str | Iterable[str] | None) -> list[str]:
    return [] if value is None else [value] if isinstance(value, str) else list(value)


_PREFER = {None: 0, "first": 1, "last": 2}


def convert(
    source: Path | File | Iterable[Path | File],
    target: Path,
    *,
    format: str | None = None,
    match: str | Iterable[str] | None = None,
    exclude: str | Iterable[str] | None = None,
    rename: str | Iterable[str] | None = None,
    dtype: str | None = None,
    prefer: str | None = None,
    replace: bool = False,
    shards: int = 0,
    max_shard_bytes: int = 0,
    compress: bool = False,
    drop_graph: bool = False,
    drop_metadata: bool = False,
    progress: Progress = None,
    settings: Mapping[str, str] | None = None,
) -> None:
    """From any format to any that can hold it, without having all of it in memory.

    Several sources are merged; prefer ("first" or "last") says which counts where two have a name. match and exclude
    choose tensors by patterns of their names, rename changes these (`s/A/B/`, as sed has it), dtype ("F16", "BF16",
    "F32") casts floats.

    >>> import sherd, numpy, tempfile, os
    >>> folder = tempfile.mkdtemp()
    >>> sherd.save(os.path.join(folder, "a.safetensors"), {"x.w": numpy.arange(3.0), "y": numpy.zeros(2)})
    >>> sherd.convert(os.path.join(folder, "a.safetensors"), os.path.join(folder, "a.npz"), match="x.*",
    ...               rename="s/^x/h/", dtype="F32")
    >>> {name: t.numpy() for name, t in sherd.open(os.path.join(folder, "a.npz")).items()}
    {'h.w': array([0., 1., 2.], dtype=float32)}
    """
    import os

    single = isinstance(source, (str, os.PathLike, File))
    given: list[Any] = [source] if single else list(source)  # type: ignore[arg-type]
    if prefer not in _PREFER:
        raise ValueError("prefer is 'first' or 'last'")
    files = [one if isinstance(one, File) else open(one, settings=settings) for one in given]
    wanted: dict[str, Any] = {
        "match": _several(match),
        "exclude": _several(exclude),
        "renames": _several(rename),
        "dtype": dtype,
        "prefer": _PREFER[prefer],
        "drop_graph": drop_graph,
    }
    derived = len(files) > 1 or dtype is not None or any(wanted[key] for key in ("match", "exclude", "renames"))
    options: dict[str, Any] = {
        "replace": replace,
        "shards": shards,
        "max_shard_bytes": max_shard_bytes,
        "compress": compress,
        "drop_graph": drop_graph,
        "drop_metadata": drop_metadata,
    }
    try:
        bundle = _core.derive(tuple(file._bundle for file in files), wanted) if derived else files[0]._bundle
        store, key, named = target_of(target, format, settings)
        with watched(progress, "convert") as callback:
            _core.convert(bundle, store, key, named, options, callback)
        if derived:
            bundle.close()
    finally:
        for one, file in zip(given, files):
            if file is not one:
                file.close()


class Difference(NamedTuple):
    """How the tensors of one name differ: "only-left", "only-right", "dtype", "shape", "values"; or "equal". values:
    counts, the largest difference, `relative` (dW/W) and `cosine`, where they were compared and are not the same."""

    name: str
    kind: str
    values: dict[str, Any] | None


class Differences(list[Difference]):
    """Of every tensor of either side. It is true when there are differences."""

    equal: bool

    def __bool__(self) -> bool:
        return not self.equal


def diff(
    left: Path | File,
    right: Path | File,
    *,
    heads: bool = False,
    tolerance: float = 0.0,
    relative: float = 0.0,
    any_dtype: bool = False,
    match: str | None = None,
    progress: Progress = None,
) -> Differences:
    """Compares two files or sets of any formats, tensor by tensor.

    >>> import sherd, numpy, tempfile, os
    >>> folder = tempfile.mkdtemp()
    >>> a, b = os.path.join(folder, "a.safetensors"), os.path.join(folder, "b.npz")
    >>> sherd.save(a, {"w": numpy.zeros(4), "v": numpy.ones(2)})
    >>> sherd.save(b, {"w": numpy.array([0, 0, 1.0, 0]), "v": numpy.ones(2)})
    >>> [(d.name, d.kind, d.values["first"]) for d in sherd.diff(a, b) if d.kind != "equal"]
    [('w', 'values', 2)]
    """
    sides = [side if isinstance(side, File) else open(side) for side in (left, right)]
    options: dict[str, Any] = {"heads": heads, "any_dtype": any_dtype, "match": match}
    try:
        with watched(progress, "diff") as callback:
            equal, rows = _core.diff(sides[0]._bundle, sides[1]._bundle, options, tolerance, relative, callback)
    finally:
        for given, side in zip((left, right), sides):
            if given is not side:
                side.close()
    found = Differences(Difference(*row) for row in rows)
    found.equal = equal
    return found


def stats(
    source: Path | File, names: Iterable[str] | None = None, *, progress: Progress = None
) -> dict[str, dict[str, Any]]:
    """What the values of tensors are like: counts of NaN, infinities and zeros, range, mean, deviation, norm, quantiles
    and a histogram. Everything is read once.

    >>> import sherd, numpy, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "a.safetensors")
    >>> sherd.save(path, {"w": numpy.array([0, 3, -4.0])})
    >>> found = sherd.stats(path)["w"]
    >>> found["min"], found["max"], found["zeros"], found["norm"]
    (-4.0, 3.0, 1, 5.0)
    """
    file = source if isinstance(source, File) else open(source)
    try:
        chosen = list(file if names is None else names)
        with watched(progress, "stats") as callback:
            rows = _core.stats(file._bundle, [file._rows[name][0] for name in chosen], callback)
        return dict(zip(chosen, rows))
    finally:
        if file is not source:
            file.close()
