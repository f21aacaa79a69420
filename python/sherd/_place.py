"""Paths and URIs."""

from __future__ import annotations

import os
from collections.abc import Mapping

from . import _core

Path = str | os.PathLike[str]


def open_place(
    path: Path, *, create: bool = False, beside: bool = False, settings: Mapping[str, str] | None = None
) -> tuple[_core.Handle, str]:
    """The store that holds what the path names, and its key there."""
    own = [(str(key), str(value)) for key, value in (settings or {}).items()]
    return _core.place(os.fspath(path), create, beside, own)
