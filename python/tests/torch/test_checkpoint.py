"""CheckpointManager under torch.distributed: any world to any world, one killed in the middle, memory that stays."""

import os
import signal

import pytest
import ranks
import sherd
import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Replicate, Shard, distribute_tensor, init_device_mesh


def whole(seed=0):
    torch.manual_seed(seed)
    return {"a": torch.randn(13, 7), "b": torch.randn(5, 16, 3).bfloat16(), "c": torch.randn(3)}


def cut(tensors, world, turn):
    mesh = init_device_mesh("cpu", (world,))
    places = [Shard(0), Shard(1), Replicate()]
    out = {}
    for i, (name, value) in enumerate(tensors.items()):
        place = places[(i + turn) % 3]
        if place == Shard(1) and value.dim() < 2:
            place = Shard(0)
        out[name] = distribute_tensor(value.clone(), mesh, [place])
    return out


def save(rank, world, run, blocking):
    manager = sherd.CheckpointManager(run, keep=1)
    state = {"model": cut(whole(), world, 0), "plain": torch.arange(9), "lr": 0.5, "own": sherd.PerRank(rank)}
    manager.save(1, state, blocking)
    manager.wait(timeout=60)
    return sum(f.stat().st_size for f in os.scandir(run) if f.name.endswith(f"_{rank}.shard"))


def load(rank, world, run, turn):
    manager = sherd.CheckpointManager(run)
    zeros = {name: torch.zeros_like(value) for name, value in whole().items()}
    state = {"model": cut(zeros, world, turn), "plain": torch.zeros(9, dtype=torch.int64), "lr": None, "own": None}
    back = manager.restore(state)
    for name, value in whole().items():
        assert torch.equal(back["model"][name].full_tensor(), value), name
    assert torch.equal(back["plain"], torch.arange(9)) and back["lr"] == 0.5
    return back["own"]


@pytest.mark.parametrize("before, after, blocking", [(1, 2, True), (2, 4, False), (4, 8, True), (8, 3, False), (3, 1, False)])
def test_any_world_restores_what_another_saved(folder, before, after, blocking):
    ranks.run(before, save, "run", blocking)
    own = ranks.run(after, load, "run", before % 3)
    assert own == [rank if rank < before else 0 for rank in range(after)]
    assert sherd.open("run/step-1").verify()


def test_what_all_have_is_saved_once(folder):
    ranks.run(4, save, "run", True)
    with sherd.open("run/step-1") as file:
        stored = sum(os.path.getsize(f"run/step-1_shard_{r}.shard") for r in range(4))
        heads = 4 * 4096
        assert stored < file.nbytes + heads
        assert file.nbytes == sum(t.nbytes for t in whole().values()) + 9 * 8 + 4


def train(rank, world, run, steps):
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
    mesh = init_device_mesh("cpu", (world,))
    for layer in (model[0], model[2]):
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)

    def step(number):
        torch.manual_seed(number)
        x = torch.randn(12, 8)
        mine = x[rank * 12 // world : (rank + 1) * 12 // world]
        loss = model(mine).square().sum() * world / 12
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    step(0)  # makes the optimizer's tensors
    manager = sherd.CheckpointManager(run)
    done = manager.latest() or 0
    if done:
        manager.restore({"model": model, "optimizer": optimizer})
    for number in range(done + 1, steps + 1):
        step(number)
        manager.save(number, {"model": model, "optimizer": optimizer})
    manager.wait(timeout=60)
    return {name: value.full_tensor().detach().numpy() for name, value in model.state_dict().items()}


def test_fsdp_goes_on_with_another_number_of_ranks(folder):
    straight = ranks.run(2, train, "straight", 6)[0]
    ranks.run(2, train, "broken", 3)
    resumed = ranks.run(3, train, "broken", 6)[0]
    for name, value in straight.items():
        torch.testing.assert_close(torch.tensor(resumed[name]), torch.tensor(value), rtol=1e-4, atol=1e-5)


def save_many(rank, world, run, ready):
    manager = sherd.CheckpointManager(run, keep=2)
    state = {"w": distribute_tensor(torch.zeros(64, 1 << 15), init_device_mesh("cpu", (world,)), [Shard(0)])}
    for step in range(1000):
        with torch.no_grad():
            state["w"].to_local().fill_(step)
        manager.save(step, state)
        if rank == 1 and step == 4:
            open(ready, "w").close()


def test_one_is_killed_in_the_middle(folder):
    started = ranks.start(2, save_many, "run", "ready")
    while not os.path.exists("ready"):
        assert started[1][0].is_alive()
    os.kill(started[1][0].pid, signal.SIGKILL)
    started[0][1].recv()  # the other one is told by gloo
    for process, _ in started:
        process.kill()
        process.join()
    manager = sherd.CheckpointManager("run", keep=2)
    steps = manager.steps()
    assert steps
    for step in steps:
        assert (manager.restore(step=step)["w"] == step).all()
    manager.save(steps[-1] + 1, {"w": torch.ones(3)}, True)  # the step that was under way is taken over
    assert manager.latest() == steps[-1] + 1


def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGESIZE")


def test_200_saves_in_the_background_do_not_grow(folder):
    manager = sherd.CheckpointManager("run", keep=1)
    state = {f"w{i}": torch.zeros(1 << 18) for i in range(8)}
    for step in range(20):
        manager.save(step, state)
    manager.wait()
    before = resident()
    for step in range(20, 220):
        manager.save(step, state)
    manager.wait()
    assert resident() - before < 4 << 20, "of 8 MiB a save"
    assert manager.steps() == [219]


def test_modules_optimizers_and_generators(folder):
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.AdamW(model.parameters())
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 3)
    for _ in range(5):
        optimizer.zero_grad()
        model(torch.randn(2, 4)).sum().backward()
        optimizer.step()
        schedule.step()
    manager = sherd.CheckpointManager("run")
    state = {"model": model, "optimizer": optimizer, "schedule": schedule, "rng": sherd.PerRank(torch.get_rng_state())}
    manager.save(5, state)
    drawn = torch.rand(3)
    fresh = torch.nn.Linear(4, 4)
    again = torch.optim.AdamW(fresh.parameters())
    late = torch.optim.lr_scheduler.StepLR(again, 3)
    back = manager.restore({"model": fresh, "optimizer": again, "schedule": late, "rng": None})
    torch.set_rng_state(back["rng"])
    assert torch.equal(torch.rand(3), drawn)
    assert torch.equal(fresh.weight, model.weight) and late.last_epoch == 5
    a, b = optimizer.state_dict(), again.state_dict()
    assert a["param_groups"] == b["param_groups"]
    assert torch.equal(a["state"][1]["exp_avg_sq"], b["state"][1]["exp_avg_sq"])
