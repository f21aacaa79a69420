"""Rows of records as columns, handed out by Arrow's C stream interface: no pyarrow is needed to make them."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from typing import Any

from . import _core


class Table:
    """Columns for `pyarrow.table(t)`, `polars.from_arrow(t)`, DuckDB, and `t.pandas()`."""

    def __init__(self, columns: list[tuple[str, str, list[bytes | None]]], rows: int) -> None:
        self._columns = columns
        self.num_rows = rows
        self.column_names = [name for name, _, _ in columns]

    def __len__(self) -> int:
        return self.num_rows

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return _core.arrow_stream(self._columns, self.num_rows)

    def pandas(self) -> Any:
        """A DataFrame, by way of pyarrow."""
        import pyarrow

        return pyarrow.table(self).to_pandas()


def _texts(values: list[str]) -> list[bytes | None]:
    offsets, data, at = array("q", [0]), bytearray(), 0
    for value in values:
        raw = value.encode("utf-8", "surrogatepass")
        data += raw
        at += len(raw)
        offsets.append(at)
    return [None, offsets.tobytes(), bytes(data)]


def _flags(values: list[bool]) -> list[bytes | None]:
    bits = bytearray((len(values) + 7) // 8 or 1)
    for i, value in enumerate(values):
        if value:
            bits[i // 8] |= 1 << i % 8
    return [None, bytes(bits)]


def table(records: Iterable[Any], kinds: Mapping[str, str]) -> Table:
    """Columns of the records' attributes: "u" text, "b" truth, "id" a number of 128 bits as decimal text."""
    values: dict[str, list[Any]] = {name: [] for name in kinds}
    rows = 0
    for record in records:
        rows += 1
        for name, kind in kinds.items():
            value = getattr(record, name)
            values[name].append(str(value) if kind == "id" else value)
    columns: list[tuple[str, str, list[bytes | None]]] = [
        (name, "b", _flags(values[name])) if kind == "b" else (name, "U", _texts(values[name]))
        for name, kind in kinds.items()
    ]
    return Table(columns, rows)
