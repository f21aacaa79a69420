"""torch.distributed.checkpoint with our writer and reader."""

import os

import pytest
import ranks
import sherd
import sherd.dcp
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.tensor import Replicate, Shard, distribute_tensor, init_device_mesh

FULL = torch.arange(91.0).reshape(13, 7)


def state_of(world, value, turn=0):
    mesh = init_device_mesh("cpu", (world,))
    places = [Shard(0), Shard(1), Replicate()]
    sharded = {f"w{i}": distribute_tensor(value + i, mesh, [places[(i + turn) % 3]]) for i in range(3)}
    return {"model": sharded, "plain": value[0].clone(), "n": 5 if value.any() else 0, "list": [{"t": value * 2}, "x"]}


def check(state):
    for i in range(3):
        assert torch.equal(state["model"][f"w{i}"].full_tensor(), FULL + i)
    assert torch.equal(state["plain"], FULL[0]) and state["n"] == 5
    assert torch.equal(state["list"][0]["t"], FULL * 2) and state["list"][1] == "x"


def save(rank, world, path):
    dcp.save(state_of(world, FULL), storage_writer=sherd.dcp.Writer(path))


def save_async(rank, world, path):
    state = state_of(world, FULL)
    future = dcp.async_save(state, storage_writer=sherd.dcp.Writer(path))
    future.result()


def save_twice(rank, world, path):
    planner = dcp.DefaultSavePlanner(enable_plan_caching=True)
    writer = sherd.dcp.Writer(path)
    for value in (FULL - 1, FULL):
        dcp.save(state_of(world, value), storage_writer=writer, planner=planner)


def load(rank, world, path, turn):
    state = state_of(world, torch.zeros_like(FULL), turn)
    for i in range(3):
        state["model"][f"w{i}"].to_local().zero_()
    dcp.load(state, storage_reader=sherd.dcp.Reader(path))
    check(state)


@pytest.mark.parametrize(
    "how, before, after", [(save, 1, 2), (save, 4, 3), (save, 2, 8), (save_async, 2, 1), (save_twice, 2, 3)]
)
def test_save_with_some_load_with_others(folder, how, before, after):
    ranks.run(before, how, "run/step-1")
    ranks.run(after, load, "run/step-1", before % 3)
    report = sherd.verify("run/step-1")
    assert report and not any("pickle" in str(w) for w in report.warnings)


def test_the_tensors_are_open_to_everybody(folder):
    ranks.run(2, save, "run/step-1")
    with sherd.open("run/step-1") as file:
        assert torch.equal(file["model.w1"].torch(), FULL + 1)
    sherd.convert("run/step-1", "model.safetensors")


def test_without_ranks(folder):
    state = {"w": FULL.clone(), "n": 3}
    dcp.save(state, checkpoint_id="ckpt", storage_writer=sherd.dcp.Writer(), no_dist=True)
    back = {"w": torch.zeros(13, 7), "n": 0}
    dcp.load(back, checkpoint_id="ckpt", storage_reader=sherd.dcp.Reader(), no_dist=True)
    assert torch.equal(back["w"], FULL) and back["n"] == 3


def test_checkpoints_of_others_of_ours_load(folder):
    sherd.save("step", {"w": FULL}, format="checkpoint", shards=2)
    back = {"w": torch.zeros(13, 7)}
    dcp.load(back, storage_reader=sherd.dcp.Reader("step"), no_dist=True)
    assert torch.equal(back["w"], FULL)


def test_damage_is_told(folder):
    dcp.save({"w": FULL.clone()}, storage_writer=sherd.dcp.Writer("ckpt"), no_dist=True)
    raw = bytearray(open("ckpt_shard_1.shard", "rb").read())
    raw[raw.find(FULL.numpy().tobytes()) + 9] ^= 1
    open("ckpt_shard_1.shard", "wb").write(raw)
    with pytest.raises(dcp.CheckpointException) as damage:
        dcp.load({"w": torch.zeros(13, 7)}, storage_reader=sherd.dcp.Reader("ckpt"), no_dist=True)
    assert "ckpt_shard_1.shard: byte" in str(damage.value.failures[0])


def test_a_save_that_does_not_finish_is_no_checkpoint(folder, monkeypatch):
    dcp.save({"w": FULL.clone()}, storage_writer=sherd.dcp.Writer("ckpt"), no_dist=True)
    monkeypatch.setattr(sherd.dcp.Writer, "finish", lambda self, metadata, results: os._exit)
    dcp.save({"w": FULL + 1}, storage_writer=sherd.dcp.Writer("ckpt"), no_dist=True)
    back = {"w": torch.zeros(13, 7)}
    dcp.load(back, storage_reader=sherd.dcp.Reader("ckpt"), no_dist=True)
    assert torch.equal(back["w"], FULL)


def several(rank, world, path):
    from torch.distributed._shard import sharded_tensor
    from torch.distributed._shard.sharding_spec import ChunkShardingSpec

    owners = ["rank:0", "rank:1", "rank:1", "rank:0"]
    value = sharded_tensor.zeros(ChunkShardingSpec(dim=0, placements=owners), 13, 7)
    for shard in value.local_shards():
        first, count = shard.metadata.shard_offsets[0], shard.metadata.shard_sizes[0]
        shard.tensor.copy_(FULL[first : first + count])
    dcp.save({"w": value, "n": 5}, storage_writer=sherd.dcp.Writer(path))
    plain = {"w": torch.zeros(13, 7), "n": 0}
    dcp.load(plain, storage_reader=sherd.dcp.Reader(path))
    assert torch.equal(plain["w"], FULL) and plain["n"] == 5
    cut = {"w": distribute_tensor(torch.zeros(13, 7), init_device_mesh("cpu", (world,)), [Shard(1)])}
    dcp.load(cut, storage_reader=sherd.dcp.Reader(path))
    assert torch.equal(cut["w"].full_tensor(), FULL)


def test_a_rank_with_several_pieces_of_a_tensor(folder):
    ranks.run(2, several, "run/step-1")
