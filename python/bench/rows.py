"""Rows into torch beside numpy's memmap under a DataLoader, and MosaicML streaming and litdata where they are here."""

import os
import shutil
import sys
import tempfile

import numpy as np
import torch
from measure import SIZES, compare
from sherd.rows import Dataset, Loader, Writer
from torch.utils.data import DataLoader, Dataset as TorchDataset

WIDTH, BATCH = 1024, 1024


class Mapped(TorchDataset):
    def __init__(self, path, rows):
        self.path, self.rows, self.map = path, rows, None

    def __len__(self):
        return self.rows // BATCH

    def __getitem__(self, index):
        if self.map is None:
            self.map = np.memmap(self.path, dtype="f4", mode="r", shape=(self.rows, WIDTH))
        order = np.random.default_rng(index).integers(0, self.rows, BATCH)
        return torch.from_numpy(self.map[np.sort(order)])


def drain(batches):
    for batch in batches:
        if isinstance(batch, dict):
            batch = batch["row"]
        torch.as_tensor(batch)[0, 0].item()


def mosaic(folder, values):
    from streaming import MDSWriter, StreamingDataset

    path = os.path.join(folder, "mds")
    with MDSWriter(out=path, columns={"row": f"ndarray:float32:{WIDTH}"}) as writer:
        for row in values:
            writer.write({"row": row})
    return lambda: drain(DataLoader(StreamingDataset(local=path, shuffle=True, batch_size=BATCH), batch_size=BATCH,
                                    num_workers=2))


def main(folder):
    rows = SIZES[0] // (4 * WIDTH) // BATCH * BATCH
    values = np.random.default_rng(0).standard_normal((rows, WIDTH), dtype="f4")
    nbytes = values.nbytes
    plain, acts = os.path.join(folder, "plain"), os.path.join(folder, "acts")
    values.tofile(plain)
    with Writer(acts, WIDTH) as writer:
        writer.append(values)
    peers = {"memmap + DataLoader(2)": lambda: drain(DataLoader(Mapped(plain, rows), batch_size=None, num_workers=2)),
             "memmap + DataLoader(0)": lambda: drain(DataLoader(Mapped(plain, rows), batch_size=None))}
    try:
        peers["MosaicML streaming"] = mosaic(folder, values[: rows // 4])
        print("MosaicML streaming has a quarter of the rows")
    except ImportError:
        print("MosaicML streaming is not here; its column is left out")
    for shuffle in (False, True):
        compare(f"rows, {'shuffled' if shuffle else 'in order'}, {nbytes / 2**30:.1f} GiB",
                lambda: drain(Loader(Dataset(acts, batch=BATCH, shuffle=shuffle, to="torch"))), peers, nbytes)


if __name__ == "__main__":
    scratch = tempfile.mkdtemp(dir=sys.argv[1] if len(sys.argv) > 1 else None)
    try:
        main(scratch)
    finally:
        shutil.rmtree(scratch)
