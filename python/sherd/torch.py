"""Tensors of torch in files: the names and the behaviour of `safetensors.torch`, and what it lacks.

`load_file`, `save_file`, `load`, `save`, `load_model`, `save_model` and `safe_open` stand in for those of safetensors.
Beyond them: a file is read by all processors at once; `load_file` takes sets of several shards, checkpoints and every
other format, checks them (`verify=True`) and fills tensors that are there (`into=`); `save_file` writes shards
(`shards=4`), and what it wrote is durable, whole or not there at all.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import torch

from . import _core, _types
from ._errors import SherdError
from ._file import File, item_of, target_of, texts_of
from ._progress import Progress, watched
from ._safetensors import SafetensorError, deserialize, opened, safe_open, serialize

__all__ = [
    "SafetensorError",
    "load",
    "load_file",
    "load_model",
    "safe_open",
    "save",
    "save_file",
    "save_model",
]

Device = str | int | torch.device


def _shaped(dtype: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """As torch sees it: it counts bytes where two elements are in one."""
    packed = _types.block_of(dtype)[0]
    return shape if packed == 1 or not shape else (*shape[:-1], shape[-1] // packed)


def _tensor_of(view: _core.View, dtype: str, shape: tuple[int, ...]) -> torch.Tensor:
    kind, size = _types.torch_dtype(dtype), _shaped(dtype, shape)
    if not len(view):
        return torch.empty(size, dtype=kind, device="cpu")
    return torch.frombuffer(view, dtype=torch.uint8).view(kind).reshape(size)


def load_open(file: File, device: Device = "cpu", progress: Progress = None) -> dict[str, torch.Tensor]:
    """Every tensor of an open file, read at once; on its way to a device through memory that this copies from by
    itself."""
    on_host = torch.device(device).type == "cpu" if not isinstance(device, int) else False
    if on_host:
        views = file.load(progress=progress)
        return {name: _tensor_of(view, file[name].dtype, file[name].full_shape) for name, view in views.items()}
    pin = torch.cuda.is_available()
    hosts = {
        name: torch.empty(_shaped(t.dtype, t.full_shape), dtype=_types.torch_dtype(t.dtype), device="cpu", pin_memory=pin)
        for name, t in file.items()
    }
    file.read_into(hosts, progress=progress)
    moved = {name: tensor.to(device, non_blocking=pin) for name, tensor in hosts.items()}
    if pin:
        torch.cuda.synchronize(device)
    return moved


def _fill(file: File, into: Mapping[str, torch.Tensor], progress: Progress) -> dict[str, torch.Tensor]:
    direct: dict[str, torch.Tensor] = {}
    for name, target in into.items():
        if name not in file:
            raise KeyError(f"{file.path} has no tensor '{name}'")
        stored = file[name]
        shape = _shaped(stored.dtype, stored.full_shape)
        if tuple(target.shape) != shape:
            raise ValueError(f"'{name}' is {list(shape)} in {file.path}, the target {list(target.shape)}")
        same = target.dtype == _types.torch_dtype(stored.dtype)
        if same and target.device.type == "cpu" and target.is_contiguous():
            direct[name] = target
    file.read_into(direct, progress=progress)
    with torch.no_grad():
        for name, target in into.items():
            if name not in direct:
                target.copy_(file[name].torch())
    return dict(into)


def load_file(
    filename: str | os.PathLike[str],
    device: Device = "cpu",
    *,
    backend: str = "mmap",
    into: Mapping[str, torch.Tensor] | None = None,
    verify: bool = False,
    progress: Progress = None,
) -> dict[str, torch.Tensor]:
    """The tensors of a file, or of a set of several.

    into: tensors to be filled instead of new ones, such as a model's `state_dict()`; only they are read.
    verify: everything that the format records of itself is checked first.
    """
    with opened(filename) as file:
        try:
            if verify and not (report := file.verify(progress=progress)):
                raise report.errors[0]
            return load_open(file, device, progress) if into is None else _fill(file, into, progress)
        except SherdError as error:
            raise SafetensorError(str(error)) from error


def load(data: Any) -> dict[str, torch.Tensor]:
    """The tensors of a safetensors file that lies in memory."""
    with deserialize(data) as file:
        return load_open(file)


def _storage(tensor: torch.Tensor) -> tuple[int, int]:
    storage = tensor.untyped_storage()
    return storage.data_ptr(), storage.nbytes()


def _end(tensor: torch.Tensor) -> int:
    if not tensor.nelement():
        return tensor.data_ptr()
    last = sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride()))
    return tensor.data_ptr() + (last + 1) * tensor.element_size()


def shared_tensors(tensors: Mapping[str, torch.Tensor]) -> list[set[str]]:
    """Names of tensors whose memory overlaps, those that overlap with none by themselves."""
    by_storage: dict[tuple[torch.device, int, int], list[str]] = {}
    for name, tensor in tensors.items():
        if tensor.device.type == "meta":
            continue
        pointer, size = _storage(tensor)
        if pointer and size:
            by_storage.setdefault((tensor.device, pointer, size), []).append(name)
    groups: list[set[str]] = []
    for names in by_storage.values():
        areas = sorted((tensors[name].data_ptr(), _end(tensors[name]), name) for name in names)
        stop = -1
        for begin, end, name in areas:
            if begin >= stop:
                groups.append({name})
            else:
                groups[-1].add(name)
            stop = max(stop, end)
    return groups


def _checked(tensors: Any) -> None:
    if not isinstance(tensors, dict):
        raise ValueError(f"Expected a dict of [str, torch.Tensor] but received {type(tensors)}")
    for name, tensor in tensors.items():
        if not isinstance(tensor, torch.Tensor):
            raise ValueError(f"Key `{name}` is invalid, expected torch.Tensor but received {type(tensor)}")
    sparse = [name for name, tensor in tensors.items() if tensor.layout != torch.strided]
    if sparse:
        raise ValueError(
            f"You are trying to save a sparse tensors: `{sparse}` which this library does not support."
            " You can make it a dense tensor before saving with `.to_dense()` but be aware this might"
            " make a much larger file than needed."
        )
    shared = [names for names in shared_tensors(tensors) if len(names) > 1]
    if shared:
        raise RuntimeError(
            f"Some tensors share memory, which a file would hold twice, and apart once it is loaded: {shared}."
            " save_model() keeps one of each."
        )
    for name, tensor in tensors.items():
        if not tensor.is_contiguous():
            raise ValueError(
                f"You are trying to save a non contiguous tensor: `{name}` which is not allowed. It either means you are"
                " trying to save tensors which are reference of each other in which case it's recommended to save only"
                " the full tensors, and reslice at load time, or simply call `.contiguous()` on your tensor to pack it"
                " before saving."
            )


def _items(tensors: Mapping[str, torch.Tensor]) -> tuple[list[_core._Item], list[object]]:
    both = [item_of(name, tensor) for name, tensor in tensors.items()]
    return [item for item, _ in both], [kept for _, kept in both]


def save(tensors: dict[str, torch.Tensor], metadata: dict[str, str] | None = None) -> bytes:
    """A safetensors file in memory."""
    _checked(tensors)
    items, kept = _items(tensors)
    data = serialize(items, metadata)
    del kept
    return data


def save_file(
    tensors: dict[str, torch.Tensor],
    filename: str | os.PathLike[str],
    metadata: dict[str, str] | None = None,
    *,
    shards: int = 0,
    progress: Progress = None,
) -> None:
    """Saves tensors, durably; who reads meanwhile sees the file of before or the new one, whole.

    shards: as many files, and the index that names them; `filename` is then `model.safetensors.index.json`, or the
    name that stands before that.
    """
    _checked(tensors)
    items, kept = _items(tensors)
    name = os.fspath(filename)
    kind = "safetensors-index" if shards > 1 or name.endswith(".index.json") else "safetensors"
    store, key, _ = target_of(name, kind, None)
    with watched(progress, "save") as callback:
        _core.save(items, texts_of(metadata), store, key, kind, {"replace": True, "shards": shards}, callback)
    del kept


def _duplicates(tensors: Mapping[str, torch.Tensor], preferred: Iterable[str] = ()) -> dict[str, list[str]]:
    """Of tensors that share their memory: which name stays, and which go."""
    preferred = set(preferred)
    found: dict[str, list[str]] = {}
    for names in shared_tensors(tensors):
        whole = {
            name
            for name in names
            if (tensors[name].data_ptr(), tensors[name].nelement() * tensors[name].element_size())
            == _storage(tensors[name])
        }
        if not whole:
            raise RuntimeError(
                "Error while trying to find names to remove to save state dict, but found no suitable name to keep"
                f" for saving amongst: {names}. None is covering the entire storage."
            )
        keep = min(preferred & whole or whole)
        if len(names) > 1:
            found[keep] = sorted(names - {keep})
    return found


def save_model(
    model: torch.nn.Module,
    filename: str | os.PathLike[str],
    metadata: dict[str, str] | None = None,
    force_contiguous: bool = True,
) -> None:
    """Saves a module. Of tensors that share their memory one is saved; the metadata names the others."""
    state = dict(model.state_dict())
    metadata = dict(metadata or {})
    for kept, dropped in _duplicates(state).items():
        for name in dropped:
            metadata.setdefault(name, kept)
            del state[name]
    if force_contiguous:
        state = {name: tensor.contiguous() for name, tensor in state.items()}
    try:
        save_file(state, filename, metadata or None)
    except ValueError as error:
        hint = " Or use save_model(..., force_contiguous=True), read the docs for potential caveats."
        raise ValueError(str(error) + hint) from error


def load_model(
    model: torch.nn.Module,
    filename: str | os.PathLike[str],
    strict: bool = True,
    device: Device = "cpu",
    *,
    backend: str = "mmap",
) -> tuple[set[str], list[str]]:
    """Loads a module; returns the names that the file lacks, and those that the module lacks."""
    state = load_file(filename, device, backend=backend)
    dropped = _duplicates(dict(model.state_dict()), preferred=state)
    absent, unexpected = model.load_state_dict(state, strict=False)
    missing = set(absent)
    for names in dropped.values():
        for name in names:
            if name in missing:
                missing.remove(name)
            else:
                unexpected.append(name)
    if strict and (missing or unexpected):
        text = f"Error(s) in loading state_dict for {model.__class__.__name__}:"
        if missing:
            text += "\n    Missing key(s) in state_dict: " + ", ".join(f'"{name}"' for name in sorted(missing))
        if unexpected:
            text += "\n    Unexpected key(s) in state_dict: " + ", ".join(f'"{name}"' for name in sorted(unexpected))
        raise RuntimeError(text)
    return missing, unexpected
