"""Tensors of a file that were not read yet."""

from __future__ import annotations

from types import EllipsisType
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex

from . import _core, _types
from ._progress import Progress, watched

if TYPE_CHECKING:
    import numpy as numpy_module
    import torch as torch_module

_Key = SupportsIndex | slice | EllipsisType | None
Shape = tuple[int, ...]


class Source(Protocol):
    """Who has the bytes of a tensor: an open file, or an open checkpoint."""

    def _load(self, wants: list[_core._Want], progress: Progress, what: str) -> None: ...
    def _map(self, index: int) -> _core.View: ...


def count_bytes(dtype: str, shape: Shape) -> int:
    elements, size = _types.block_of(dtype)
    total = 1
    for length in shape:
        total *= length
    return total // elements * size


class Tensor(_core.Exporter):
    """A tensor of an open file, or a slice of one. Nothing is read before its values are asked for.

    `numpy()`, `torch()`, `jax()`, `memoryview(tensor)` and `numpy.asarray(tensor)` read it; slicing gives another
    `Tensor`, which reads only what it shows.

    >>> import sherd, numpy, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "a.safetensors")
    >>> sherd.save(path, {"w": numpy.arange(12, dtype="f4").reshape(3, 4)})
    >>> with sherd.open(path) as f:
    ...     f["w"], f["w"][1:, 2].numpy()
    (<Tensor 'w' F32 [3, 4]>, array([ 6., 10.], dtype=float32))
    """

    __slots__ = ("_source", "_index", "name", "dtype", "full_shape", "_at", "_box", "_steps", "_kept", "_bytes")

    name: str
    #: As the file calls it: "F32", "BF16", "F8_E4M3", "Q4_K".
    dtype: str
    #: Of the whole tensor in the file.
    full_shape: Shape

    def __init__(self, source: Source, index: int, name: str, dtype: str, shape: Shape, nbytes: int) -> None:
        self._source = source
        self._index = index
        self.name = name
        self.dtype = dtype
        self.full_shape = shape
        self._at: Shape | None = None  # None: the whole tensor
        self._box = shape
        self._steps: tuple[tuple[int, bool], ...] | None = None  # of each dimension; and whether it is turned round
        self._kept = tuple(True for _ in shape)  # False: an integer took the dimension away
        self._bytes = nbytes

    # ---- what it is

    @property
    def shape(self) -> Shape:
        lengths = self._box
        if self._steps:
            lengths = tuple(-(-n // step) for n, (step, _) in zip(self._box, self._steps))
        return tuple(n for n, kept in zip(lengths, self._kept) if kept)

    @property
    def ndim(self) -> int:
        return sum(self._kept)

    @property
    def size(self) -> int:
        total = 1
        for length in self.shape:
            total *= length
        return total

    @property
    def nbytes(self) -> int:
        """Of the values that it shows."""
        if self._at is None and not self._steps:
            return self._bytes
        return count_bytes(self.dtype, self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a scalar has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<Tensor {self.name!r} {self.dtype} {list(self.shape)}>"

    # ---- slices

    def __getitem__(self, key: _Key | tuple[_Key, ...]) -> Tensor:
        """Numbers, slices and `...`, as numpy takes them; only what is shown will be read."""
        if self._steps:
            raise IndexError("a slice with steps is not sliced again: read it first")
        keys = self._spread(key if isinstance(key, tuple) else (key,))
        at, box, steps, kept = [], [], [], []
        shown = iter(keys)
        for dim, length in enumerate(self._box):
            begin = self._at[dim] if self._at else 0
            if not self._kept[dim]:
                at.append(begin)
                box.append(1)
                steps.append((1, False))
                kept.append(False)
                continue
            first, count, step, turned, stays = self._cut(next(shown), length, dim)
            at.append(begin + first)
            box.append(count)
            steps.append((step, turned))
            kept.append(stays)
        part = Tensor(self._source, self._index, self.name, self.dtype, self.full_shape, self._bytes)
        part._at, part._box, part._kept = tuple(at), tuple(box), tuple(kept)
        part._steps = tuple(steps) if any(s != (1, False) for s in steps) else None
        if part._box == self.full_shape and not part._steps:
            part._at = None
        return part

    def _spread(self, keys: tuple[_Key, ...]) -> list[SupportsIndex | slice]:
        out: list[SupportsIndex | slice] = []
        given = sum(key is not Ellipsis for key in keys)
        if given > self.ndim:
            raise IndexError(f"{given} indices for {self.ndim} dimensions of '{self.name}'")
        for key in keys:
            if key is None:
                raise IndexError("new dimensions are made after reading")
            if isinstance(key, EllipsisType):
                if len(out) + given - sum(k is not Ellipsis for k in keys[: keys.index(key)]) > self.ndim:
                    raise IndexError("one '...' at most")
                out.extend([slice(None)] * (self.ndim - given))
            else:
                out.append(key)
        out.extend([slice(None)] * (self.ndim - len(out)))
        return out

    def _cut(self, key: SupportsIndex | slice, length: int, dim: int) -> tuple[int, int, int, bool, bool]:
        """First element, how many are read, step, turned round, and whether the dimension stays."""
        if not isinstance(key, slice):
            index = key.__index__()
            if not -length <= index < length:
                raise IndexError(f"index {index} is out of {length} in dimension {dim} of '{self.name}'")
            return index % length, 1, 1, False, False
        start, stop, step = key.indices(length)
        count = len(range(start, stop, step))
        if count == 0:
            return 0, 0, 1, False, True
        last = start + (count - 1) * step
        return min(start, last), abs(last - start) + 1, abs(step), step < 0, True

    # ---- values

    def _read(self, memory: _core._Memory, progress: Progress = None) -> None:
        box = None if self._at is None else self._box
        self._source._load([(self._index, self._at, box, memory)], progress, self.name)

    def _raw(self, copy: bool, progress: Progress = None) -> _core.View | memoryview:
        """The bytes of the box, as they are stored."""
        if copy:
            view = _core.alloc(self._bytes if self._at is None else count_bytes(self.dtype, self._box))
            self._read(view, progress)
            return view
        whole = self._source._map(self._index)
        if self._at is None:
            return whole
        begin, size = 0, count_bytes(self.dtype, self._box)
        elements, each = _types.block_of(self.dtype)
        steps, inner = [], each
        for length in reversed(self.full_shape):
            steps.append(inner)
            inner *= length if len(steps) > 1 else length // elements
        # One run: everything after the first dimension that is longer than one is whole.
        run = True
        for dim, (first, length) in enumerate(zip(self._at, self._box)):
            begin += first * steps[-1 - dim]
            if any(n != 1 for n in self._box[:dim]) and length != self.full_shape[dim]:
                run = False
        if not run or elements != 1:
            raise BufferError(f"a slice of '{self.name}' that is no single run of bytes needs a copy")
        return memoryview(whole)[begin : begin + size]

    def bytes(self) -> bytes:
        """A copy of the values as they are stored: C order, little-endian."""
        return bytes(memoryview(self))

    def _export(self) -> memoryview:
        if self._steps:
            return memoryview(self.numpy())
        view: Any = memoryview(self._raw(copy=True))
        char = _types.format_char(self.dtype)
        made: memoryview = view.cast(char, self.shape) if char and self.nbytes else view
        return made

    def numpy(self, *, copy: bool = True, progress: Progress = None) -> numpy_module.ndarray[Any, Any]:
        """The values as an array of its own memory. `copy=False`: a read-only view of the mapped file, or BufferError
        where the file cannot show it so; such an array must not be used once the file was cut off."""
        import numpy

        dtype = _types.numpy_dtype(self.dtype)
        raw = self._raw(copy, progress)
        array = numpy.frombuffer(raw, dtype=numpy.uint8).view(dtype).reshape(self._box)
        shown: numpy_module.ndarray[Any, Any] = array[self._picks()]
        return shown

    def _picks(self) -> tuple[Any, ...]:
        steps = self._steps or tuple((1, False) for _ in self._box)
        return tuple(
            slice(None, None, -step if turned else step) if kept else 0
            for kept, (step, turned) in zip(self._kept, steps)
        )

    def torch(
        self, device: str | int | torch_module.device | None = None, *, copy: bool = True, progress: Progress = None
    ) -> torch_module.Tensor:
        """The values as a tensor of torch; bfloat16 and the 8-bit floats too. `copy` as in `numpy()`."""
        import torch

        dtype = _types.torch_dtype(self.dtype)
        raw = self._raw(copy, progress)
        if len(raw):
            import warnings

            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # what is mapped cannot be written to
                tensor = torch.frombuffer(raw, dtype=torch.uint8).view(dtype)
        else:
            tensor = torch.empty(0, dtype=dtype)
        packed = _types.block_of(self.dtype)[0]
        shape = self._box if packed == 1 else (*self._box[:-1], self._box[-1] // packed)
        tensor = tensor.reshape(shape)
        if self._steps:
            for dim, (step, turned) in enumerate(self._steps):
                tensor = tensor.narrow(dim, 0, self._box[dim])[(slice(None),) * dim + (slice(None, None, step),)]
                tensor = tensor.flip(dim) if turned else tensor
            tensor = tensor.contiguous()
        tensor = tensor.reshape(self.shape if packed == 1 else shape)
        return tensor if device is None else tensor.to(device)

    def jax(self) -> Any:
        """The values as an array of JAX."""
        import jax.numpy

        return jax.numpy.from_dlpack(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy_module.ndarray[Any, Any]:
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def __dlpack__(self, *, stream: object = None, **others: object) -> object:
        if self._steps:
            return self.numpy().copy().__dlpack__()
        return _core.dlpack(self._raw(copy=True), self.dtype, self.shape)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def read_into(self, target: Any, *, progress: Progress = None) -> None:
        """Fills memory that is there: a contiguous array or tensor of the same type and shape, or a writable buffer of
        as many bytes."""
        address, size = address_of(target)
        if self._steps:
            raise BufferError("a slice with steps cannot be read in place")
        if size != self.nbytes:
            raise ValueError(f"the target has {size} bytes, '{self.name}' {self.nbytes}")
        self._read(address if address is not None else target, progress)


def address_of(target: Any) -> tuple[int | None, int]:
    """Of a contiguous tensor of torch its address, of what has a buffer None; and its bytes."""
    if hasattr(target, "data_ptr") and hasattr(target, "element_size"):
        if not target.is_contiguous() or target.device.type != "cpu":
            raise BufferError("the target is not contiguous memory of the host")
        return target.data_ptr(), target.numel() * target.element_size()
    return None, memoryview(target).nbytes
