"""Rows: what is appended is streamed, and goes on exactly, whatever the ranks."""

import numpy as np
import pytest
import sherd
from sherd.rows import Batch, Dataset, Loader, Writer

WIDTH = 6


def make(path, rows=103, dtype=None, rows_per_shard=40):
    values = np.arange(rows * WIDTH, dtype="f4").reshape(rows, WIDTH)
    with Writer(path, WIDTH, dtype, rows_per_shard=rows_per_shard) as writer:
        writer.append(values[:50])
        writer.append(values[50:].astype("f8"))
    return values


def ids(batches):
    return [int(row[0]) // WIDTH for batch in batches for row in batch]


def test_what_is_written_is_streamed(folder):
    values = make("acts")
    dataset = Dataset("acts", batch=10)
    assert (dataset.rows, dataset.width, dataset.stored) == (103, WIDTH, "F32")
    batches = list(dataset)
    assert (np.concatenate(batches) == values).all()
    assert len(Dataset("acts", batch=10)) == len(batches)
    assert sherd.verify("acts")


@pytest.mark.parametrize("dtype", ["F16", "F32"])
@pytest.mark.parametrize("out", ["F16", "F32", "F64"])
def test_types(folder, dtype, out):
    values = make("acts", dtype=dtype)
    got = np.concatenate(list(Dataset("acts", batch=16, dtype=out)))
    assert got.dtype == {"F16": "f2", "F32": "f4", "F64": "f8"}[out]
    assert (got == values.astype("f2" if dtype == "F16" or out == "F16" else "f4")).all()


def test_shuffles_are_permutations_that_seed_and_epoch_give(folder):
    make("acts")
    passes = Dataset("acts", batch=10, shuffle=True, seed=5)
    first, second = ids(passes), ids(passes)
    assert sorted(first) == sorted(second) == list(range(103)) and first != second
    assert ids(Dataset("acts", batch=10, shuffle=True, seed=5)) == first
    assert ids(Dataset("acts", batch=10, shuffle=True, seed=5, epoch=1)) == second
    assert ids(Dataset("acts", batch=10, shuffle=True, seed=6)) != first


def test_ids_and_gather(folder):
    values = make("acts")
    for batch in Dataset("acts", batch=9, shuffle=True, ids=True):
        assert isinstance(batch, Batch) and (values[batch.ids] == batch.rows).all() and not batch.padding
    got = Dataset("acts").gather([7, 100, 7])
    assert (got == values[[7, 100, 7]]).all()


@pytest.mark.parametrize("tail", ["keep", "drop", "pad"])
@pytest.mark.parametrize("shuffle", [False, True])
def test_another_world_goes_on(folder, tail, shuffle):
    make("acts")
    options = dict(batch=4, shuffle=shuffle, tail="keep", seed=1)
    whole = ids(Dataset("acts", **options))
    had, states = [[], [], []], []
    for rank in range(3):
        dataset = Dataset("acts", rank=rank, world=3, **options)
        for _, batch in zip(range(5), dataset):
            had[rank].append(batch)
        states.append(dataset.state_dict())
    assert states[0] == states[1] == states[2]
    before = ids(had[i % 3][i // 3] for i in range(15))
    rest = []
    for rank in range(2):
        dataset = Dataset("acts", rank=rank, world=2, **{**options, "tail": tail})
        dataset.load_state_dict(states[0])
        rest.append(list(dataset))
    # Batch 15 comes next, which is rank 1's of two.
    after = ids(rest[(15 + i) % 2][i // 2] for i in range(sum(map(len, rest))))
    if tail == "keep":
        assert before + after == whole
    elif tail == "drop":
        assert len(rest[0]) == len(rest[1]) and (before + after) == whole[: len(before + after)]
    else:
        assert len(rest[0]) == len(rest[1]) and (before + after)[: len(whole)] == whole


def test_a_state_in_the_middle_of_a_later_epoch(folder):
    make("acts")
    dataset = Dataset("acts", batch=10, shuffle=True)
    list(dataset)
    taken = [batch for _, batch in zip(range(4), dataset)]
    state = dataset.state_dict()
    again = Dataset("acts", batch=10, shuffle=True)
    again.load_state_dict(state)
    assert again.epoch == 1
    assert ids(taken) + ids(again) == ids(Dataset("acts", batch=10, shuffle=True, epoch=1))
    assert again.epoch == 2
    assert dataset.state_after(0) == state


def test_the_loader_has_the_state_of_what_was_taken(folder):
    make("acts")
    whole = ids(Dataset("acts", batch=7, shuffle=True))
    loader = Loader(Dataset("acts", batch=7, shuffle=True), ahead=5)
    taken = [batch for _, batch in zip(range(3), loader)]
    other = Loader(Dataset("acts", batch=7, shuffle=True), ahead=2)
    other.load_state_dict(loader.state_dict())
    assert ids(taken) + ids(other) == whole
    assert ids(other) == ids(Dataset("acts", batch=7, shuffle=True, epoch=1))


def test_a_loader_tells_failures(folder):
    make("acts")
    raw = bytearray((folder / "acts" / "part-00001.shard").read_bytes())
    raw[100] ^= 1
    (folder / "acts" / "part-00001.shard").write_bytes(raw)
    with pytest.raises(sherd.CorruptError, match="part-00001"):
        list(Loader(Dataset("acts", batch=7, verify=True)))


def test_appending_and_resuming_over_it(folder):
    make("acts", rows=40)
    dataset = Dataset("acts", batch=10)
    next(iter(dataset))
    state = dataset.state_dict()
    with Writer("acts", append=True) as writer:
        writer.append(np.zeros((5, WIDTH), "f2"))
    again = Dataset("acts", batch=10)
    assert again.rows == 45
    again.load_state_dict(state)
    assert ids(again) == list(range(10, 40))


def test_what_was_not_flushed_is_taken_back(folder):
    with pytest.raises(RuntimeError):
        with Writer("acts", WIDTH) as writer:
            writer.append(np.ones((3, WIDTH), "f4"))
            writer.flush()
            writer.append(np.ones((9, WIDTH), "f4"))
            raise RuntimeError
    assert Dataset("acts").rows == 3


def test_refusals(folder):
    make("acts")
    with pytest.raises(sherd.ExistsError):
        Writer("acts", WIDTH)
    with pytest.raises(sherd.NotFoundError):
        Dataset("nothing")
    with pytest.raises(ValueError):
        Writer("new")
    with Writer("other", WIDTH) as writer:
        writer.append(np.ones(WIDTH, "f4"))
        for bad, kind in ((np.ones((2, 3), "f4"), ValueError), (np.ones((2, WIDTH), "i4"), TypeError), (1.5, ValueError)):
            with pytest.raises(kind):
                writer.append(bad)
    state = Dataset("acts", batch=10).state_dict()
    with pytest.raises(sherd.ArgumentError):
        Dataset("other", batch=10).load_state_dict(state)
    for option in (dict(tail="x"), dict(to="x")):
        with pytest.raises(ValueError):
            Dataset("acts", **option)
