"""`safe_open` with the names, the behaviour and the messages of safetensors, over any file of ours."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any

from . import _core, _types
from ._errors import NotFoundError, SherdError
from ._file import File, open as open_file
from ._tensor import Tensor


class SafetensorError(Exception):
    """As safetensors raises it; `__cause__` has the object and the byte."""


def opened(path: str | os.PathLike[str]) -> File:
    try:
        return open_file(path)
    except NotFoundError as error:
        raise FileNotFoundError(f"No such file or directory: {os.fspath(path)}") from error
    except SherdError as error:
        raise SafetensorError(f"Error while deserializing header: {error}") from error


def _spelled(keys: tuple[Any, ...]) -> str:
    def one(key: Any) -> str:
        if not isinstance(key, slice):
            return str(key)
        start = "" if key.start is None else key.start
        stop = "" if key.stop is None else key.stop
        return f"{start}:{stop}" + (f":{key.step}" if key.step is not None else "")

    return "[" + ", ".join(one(key) for key in keys) + "]"


class Slice:
    """What `safe_open().get_slice()` gives: indexing it reads."""

    def __init__(self, tensor: Tensor, read: Any) -> None:
        self._tensor = tensor
        self._read = read

    def get_shape(self) -> list[int]:
        return list(self._tensor.shape)

    def get_dtype(self) -> str:
        return self._tensor.dtype

    def __getitem__(self, key: Any) -> Any:
        shape = self._tensor.shape
        if isinstance(key, list):
            if key:
                raise SafetensorError("Non empty lists are not implemented")
            key = slice(0, 0)
        keys = key if isinstance(key, tuple) else (key,)
        if any(key is Ellipsis for key in keys):
            at = next(i for i, key in enumerate(keys) if key is Ellipsis)
            keys = (*keys[:at], *[slice(None)] * (len(shape) - len(keys) + 1), *keys[at + 1 :])
        where = f"Error during slicing {_spelled(keys)} with shape {list(shape)}: "
        if len(keys) > len(shape):
            raise SafetensorError(f"{where}more slicing indexes than dimensions in tensor")
        for dim, (index, size) in enumerate(zip(keys, shape)):
            if isinstance(index, slice):
                if index.step is not None and index.step < 1:
                    raise SafetensorError(f"{where}slices with a step below 1 are not implemented")
                if index.stop is not None and index.stop > size:
                    raise SafetensorError(
                        f"{where}index {index.stop - 1} out of bounds for tensor dimension #{dim} of size {size}"
                    )
            elif index < -size:
                raise SafetensorError(f"Invalid index {index} for dimension {dim} of size {size}")
            elif index >= size:
                raise SafetensorError(f"{where}index {index} out of bounds for tensor dimension #{dim} of size {size}")
        return self._read(self._tensor[keys])


_TORCH = ("pt", "torch", "pytorch")
_NUMPY = ("np", "numpy")


class safe_open:
    """Opens a file, or a set of several, and reads tensors when they are asked for.

    `filename` may also be an index of shards, a checkpoint or any other file that `sherd.open()` takes.
    `backend` is accepted as safetensors has it; everything is read, nothing stays mapped.
    """

    def __init__(
        self,
        filename: str | os.PathLike[str],
        framework: str,
        device: Any = "cpu",
        *,
        backend: str = "mmap",
    ) -> None:
        if framework not in (*_TORCH, *_NUMPY, "jax", "flax"):
            raise SafetensorError(f"framework {framework} is invalid")
        if backend not in ("mmap", "pread"):
            raise SafetensorError(f"backend {backend} is invalid")
        self._framework = framework
        self._device = device
        self._file: File | None = opened(filename)

    def _open(self) -> File:
        if self._file is None:
            raise SafetensorError("File is closed")
        return self._file

    def __enter__(self) -> safe_open:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._file is not None:
            self._file.close()
        self._file = None

    def _read(self, tensor: Tensor) -> Any:
        try:
            if self._framework in _TORCH:
                return tensor.torch(None if self._device == "cpu" else self._device)
            return tensor.numpy() if self._framework in _NUMPY else tensor.jax()
        except SherdError as error:
            raise SafetensorError(str(error)) from error

    def _tensor(self, name: str) -> Tensor:
        file = self._open()
        if name not in file:
            raise SafetensorError(f"File does not contain tensor {name}")
        return file[name]

    def keys(self) -> list[str]:
        return sorted(self._open())

    def offset_keys(self) -> list[str]:
        return list(self._open())

    def metadata(self) -> dict[str, str] | None:
        return self._open().metadata or None

    def get_tensor(self, name: str) -> Any:
        return self._read(self._tensor(name))

    def get_slice(self, name: str) -> Slice:
        return Slice(self._tensor(name), self._read)

    def get_tensors(self) -> dict[str, Any]:
        file = self._open()
        if self._framework not in _TORCH:
            return {name: self.get_tensor(name) for name in file}
        from .torch import load_open

        return load_open(file, self._device)


def serialize(items: list[_core._Item], metadata: dict[str, str] | None) -> bytes:
    """A safetensors file in memory."""
    store, key = _core.place("mem://file", False, False, [])
    _core.save(items, list((metadata or {}).items()), store, key, "safetensors", {}, None)
    return _core.store_get(store, key)


def deserialize(data: Any) -> File:
    """Opens a safetensors file that lies in memory."""
    store, key = _core.place("mem://file", False, False, [])
    _core.store_put(store, key, data)
    try:
        return File(store, key, "bytes")
    except SherdError as error:
        raise SafetensorError(f"Error while deserializing header: {error}") from error


def element_bytes(dtype: str) -> int:
    return _types.item_bytes(dtype)
