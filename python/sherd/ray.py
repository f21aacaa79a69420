"""Rows and tensors as a data source of Ray: `ray.data.read_datasource(sherd.ray.Rows("acts"))`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ray.data import Datasource, ReadTask
from ray.data.block import BlockMetadata

from . import _types
from .rows import Dataset

__all__ = ["Rows"]


class Rows(Datasource):  # type: ignore[misc]
    """The rows of a set, in its order: a column of vectors, and their ids."""

    def __init__(self, path: str, batch: int = 4096, dtype: str = "F32") -> None:
        super().__init__()
        self.path = path
        self.batch = batch
        self.dtype = dtype
        about = Dataset(path, batch=batch, dtype=dtype)
        self.rows, self.width = about.rows, about.width

    def estimate_inmemory_data_size(self) -> int:
        return self.rows * (self.width * _types.item_bytes(self.dtype) + 8)

    def get_read_tasks(self, parallelism: int, *args: Any, **kwargs: Any) -> list[ReadTask]:
        tasks = []
        parts = max(1, min(parallelism, -(-self.rows // self.batch)))
        for part in range(parts):
            first, last = self.rows * part // parts, self.rows * (part + 1) // parts
            size = (last - first) * (self.width * _types.item_bytes(self.dtype) + 8)
            metadata = BlockMetadata(num_rows=last - first, size_bytes=size, input_files=None, exec_stats=None)
            tasks.append(ReadTask(_Read(self.path, self.batch, self.dtype, first, last), metadata))
        return tasks


class _Read:
    """Reads a range of rows where Ray runs it."""

    def __init__(self, path: str, batch: int, dtype: str, first: int, last: int) -> None:
        self.path, self.batch, self.dtype, self.first, self.last = path, batch, dtype, first, last

    def __call__(self) -> Iterable[Any]:
        import numpy
        import pyarrow

        dataset = Dataset(self.path, batch=self.batch, dtype=self.dtype, to="numpy")
        for begin in range(self.first, self.last, self.batch):
            ids = numpy.arange(begin, min(begin + self.batch, self.last), dtype="u8")
            rows = dataset.gather(ids)
            flat = pyarrow.array(rows.reshape(-1))
            vectors = pyarrow.FixedSizeListArray.from_arrays(flat, dataset.width)
            yield pyarrow.table({"id": pyarrow.array(ids), "row": vectors})
