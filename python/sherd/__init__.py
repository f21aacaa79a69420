"""Tensors, checkpoints, rows and code graphs that are stored in pieces.

`open()` reads any file, `save()` and `convert()` write any, `CheckpointManager` keeps the checkpoints of a training;
`sherd.torch` stands in for `safetensors.torch`, `sherd.dcp` is a backend of torch.distributed.checkpoint,
`sherd.rows` streams rows of activations, `sherd.graph` keeps code graphs. Everything is done by the C library that
comes with the package; numpy, torch and the others are imported when they are used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core
from ._errors import (
    ArgumentError,
    CancelledError,
    ConflictError,
    CorruptError,
    ExistsError,
    IncompleteError,
    LimitError,
    NoMemoryError,
    NotFoundError,
    SherdError,
    StoreError,
    UnknownOutcomeError,
    UnsupportedError,
    VersionError,
)
from ._file import Difference, Differences, File, Report, convert, diff, open, save, stats, verify
from ._progress import Bar
from ._tensor import Tensor

if TYPE_CHECKING:
    from . import dcp, graph, ray, rows, torch
    from ._checkpoint import CheckpointManager, PerRank

__version__ = _core.version()
__all__ = [
    "ArgumentError",
    "Bar",
    "CancelledError",
    "CheckpointManager",
    "ConflictError",
    "CorruptError",
    "Difference",
    "Differences",
    "ExistsError",
    "File",
    "IncompleteError",
    "LimitError",
    "NoMemoryError",
    "NotFoundError",
    "PerRank",
    "Report",
    "SherdError",
    "StoreError",
    "Tensor",
    "UnknownOutcomeError",
    "UnsupportedError",
    "VersionError",
    "convert",
    "dcp",
    "diff",
    "graph",
    "open",
    "ray",
    "rows",
    "save",
    "stats",
    "torch",
    "verify",
]

_LATER = {"CheckpointManager": "_checkpoint", "PerRank": "_checkpoint"}
_MODULES = ("dcp", "graph", "ray", "rows", "torch")


def __getattr__(name: str) -> Any:
    import importlib

    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name in _LATER:
        return getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
