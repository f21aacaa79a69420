"""Nested states as a tree of plain values and named tensors; docs/formats/python-state.md fixes the text.

Nothing is pickled: what is no dict, list, number, text or tensor is refused when it is saved, and nothing that is read
is ever executed.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping
from typing import Any

VERSION = "1"
_LARGE = 4096  # bytes from which on they are a tensor


class PerRank:
    """A value of which every rank has its own, such as the state of a random generator.

    It comes back on the same rank; ranks that had none when it was saved get rank 0's.
    """

    def __init__(self, value: Any) -> None:
        self.value = value


def is_torch(value: Any) -> bool:
    return hasattr(value, "data_ptr") and hasattr(value, "element_size")


def is_array(value: Any) -> bool:
    return hasattr(value, "__array_interface__") and hasattr(value, "dtype") and not is_torch(value)


def is_stateful(value: Any) -> bool:
    return hasattr(value, "state_dict") and hasattr(value, "load_state_dict") and not is_torch(value)


def _plain_key(key: Any) -> bool:
    return isinstance(key, (str, int, bool, float)) or key is None


class Encoder:
    """Turns a state into a tree, and collects its tensors by name."""

    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.tensors: dict[str, Any] = {}

    def _name(self, path: str) -> str:
        name, again = path, 1
        while name in self.tensors:
            name, again = f"{path}~{again}", again + 1
        return name

    def _leaf(self, path: str, value: Any, kind: str) -> dict[str, Any]:
        name = self._name(path)
        self.tensors[name] = value
        return {"a": name, "k": kind}

    def encode(self, value: Any, path: str = "") -> Any:
        if value is None or isinstance(value, (bool, str)):
            return value
        if is_torch(value):
            return self._leaf(path, value, "torch")
        if is_array(value):
            return self._leaf(path, value, "numpy" if hasattr(value, "__setitem__") and value.shape != () else "scalar")
        if isinstance(value, int):
            return int(value) if -(2**63) <= value < 2**63 else {"i": str(value)}
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else {"f": repr(float(value))}
        if isinstance(value, complex):
            return {"c": [repr(value.real), repr(value.imag)]}
        if isinstance(value, (bytes, bytearray)):
            if len(value) >= _LARGE:
                return self._leaf(path, memoryview(bytes(value)), "bytes")
            return {"b": base64.b64encode(value).decode()}
        return self._encode_more(value, path)

    def _encode_more(self, value: Any, path: str) -> Any:
        if isinstance(value, PerRank):
            return self._encode_own(value, path)
        if isinstance(value, Mapping):
            for key in value:
                if not _plain_key(key):
                    raise TypeError(f"'{path}': a key of type {type(key).__name__} cannot be saved")
            return {"d": [[self.encode(k), self.encode(v, f"{path}.{k}" if path else str(k))] for k, v in value.items()]}
        if isinstance(value, (list, tuple)):
            tag = "l" if isinstance(value, list) else "t"
            return {tag: [self.encode(v, f"{path}.{i}" if path else str(i)) for i, v in enumerate(value)]}
        if isinstance(value, (set, frozenset)):
            return {"s": [self.encode(v, f"{path}.{i}") for i, v in enumerate(sorted(value))]}
        if is_stateful(value):
            return self.encode(value.state_dict(), path)
        if type(value).__module__ == "torch" and type(value).__name__ in ("dtype", "device"):
            return {"torch": [type(value).__name__, str(value).removeprefix("torch.")]}
        raise TypeError(f"'{path}': a {type(value).__name__} cannot be saved; give numbers, texts, tensors, or state_dict()")

    def _encode_own(self, value: PerRank, path: str) -> Any:
        import json

        own = f"{path}@{self.rank}"
        if own in self.tensors:
            raise ValueError(f"'{path}': a tensor has the name '{own}' already")
        self.tensors[own] = memoryview(b"")  # the name is taken before those inside of it
        text = json.dumps(self.encode(value.value, own))
        self.tensors[own] = memoryview(text.encode())
        return {"r": path}


class Decoder:
    """Turns a tree back into a state. `read(name, kind, target)` gives tensors, `own(path)` the text of this rank."""

    def __init__(self, read: Callable[[str, str, Any], Any], own: Callable[[str], Any]) -> None:
        self.read = read
        self.own = own

    def decode(self, node: Any, target: Any = None) -> Any:
        if not isinstance(node, dict):
            return node
        tag, inner = next(iter(node.items()))
        if tag == "a":
            return self.read(inner, node["k"], target)
        if tag == "d":
            return self._decode_dict(inner, target)
        if tag in "lts" and len(tag) == 1:
            same = isinstance(target, (list, tuple)) and len(target) == len(inner)
            items = [self.decode(n, target[i] if same else None) for i, n in enumerate(inner)]
            return items if tag == "l" else tuple(items) if tag == "t" else set(items)
        if tag == "r":
            return self.decode(self.own(inner), target.value if isinstance(target, PerRank) else target)
        return _decode_value(tag, inner)

    def _decode_dict(self, inner: list[Any], target: Any) -> Any:
        if is_stateful(target):
            present = target.state_dict()
            state = self._decode_dict(inner, present if isinstance(present, Mapping) else None)
            target.load_state_dict(state)
            return target
        targets = target if isinstance(target, Mapping) else {}
        return {key: self.decode(n, targets.get(key)) for key, n in ((self.decode(k), n) for k, n in inner)}


def _decode_value(tag: str, inner: Any) -> Any:
    if tag == "i":
        return int(inner)
    if tag == "f":
        return float(inner)
    if tag == "c":
        return complex(float(inner[0]), float(inner[1]))
    if tag == "b":
        return base64.b64decode(inner)
    if tag == "torch":
        import torch

        kind, text = inner
        return torch.device(text) if kind == "device" else getattr(torch, text)
    raise ValueError(f"a state of a newer version: '{tag}'")
