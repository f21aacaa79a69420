"""Rows under torch's DataLoader, its workers, and torchdata's StatefulDataLoader."""

import numpy as np
import pytest
import torch
from sherd.rows import Dataset, Loader, Writer
from torch.utils.data import DataLoader, IterableDataset

WIDTH = 4


@pytest.fixture
def acts(folder):
    with Writer("acts", WIDTH, "BF16", rows_per_shard=37) as writer:
        writer.append(torch.arange(101 * WIDTH, dtype=torch.float32).reshape(101, WIDTH).bfloat16())
    return "acts"


def make(**options):
    return Dataset("acts", batch=5, shuffle=True, seed=3, to="torch", ids=True, **options)


def ids(batches):
    return [int(i) for batch in batches for i in batch.ids]


def load(dataset, workers):
    return DataLoader(dataset, batch_size=None, num_workers=workers, collate_fn=None)


def test_it_is_an_iterable_dataset_of_torch(acts):
    dataset = make()
    assert isinstance(dataset, IterableDataset)
    batch = next(iter(dataset))
    assert batch.rows.dtype == torch.bfloat16 and batch.rows.shape == (5, WIDTH)


@pytest.mark.parametrize("tail", ["keep", "drop", "pad"])
@pytest.mark.parametrize("world", [1, 3])
def test_workers_change_nothing(acts, tail, world):
    for rank in range(world):
        alone = ids(make(rank=rank, world=world, tail=tail))
        for workers in (1, 2, 4):
            assert ids(load(make(rank=rank, world=world, tail=tail), workers)) == alone, (rank, workers)


@pytest.mark.parametrize("before, after", [(0, 3), (2, 0), (3, 2)])
def test_another_number_of_workers_goes_on(acts, before, after):
    whole = ids(make())
    dataset = make()
    taken = [batch for _, batch in zip(range(7), load(dataset, before))]
    state = dataset.state_dict() if before == 0 else dataset.state_after(len(taken))
    again = make()
    again.load_state_dict(state)
    assert ids(taken) + ids(load(again, after)) == whole


@pytest.mark.parametrize("workers", [0, 2])
def test_torchdata_resumes(acts, workers):
    stateful = pytest.importorskip("torchdata.stateful_dataloader")
    whole = ids(make())
    loader = stateful.StatefulDataLoader(make(), batch_size=None, num_workers=workers)
    taken = [batch for _, batch in zip(range(6), loader)]
    state = loader.state_dict()
    again = stateful.StatefulDataLoader(make(), batch_size=None, num_workers=workers)
    again.load_state_dict(state)
    assert ids(taken) + ids(again) == whole


def test_the_loader_reads_ahead_of_a_state(acts):
    whole = ids(make())
    loader = Loader(make(), ahead=3)
    taken = [batch for _, batch in zip(range(4), loader)]
    again = Loader(make())
    again.load_state_dict(loader.state_dict())
    assert ids(taken) + ids(again) == whole
