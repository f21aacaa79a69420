"""CheckpointManager without torch: nested states, keeping, failures that are told, ranks that do not talk."""

import os
import random
import subprocess
import sys
import threading

import numpy as np
import pytest
import sherd


def same(a, b):
    if isinstance(a, sherd.PerRank):
        a = a.value
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and bool((a == b).all())
    return type(a) is type(b) and (a == b or a != a)


def state_of(seed=0):
    generator = np.random.default_rng(seed)
    return {
        "w": generator.random((20, 30)),
        "optimizer": {
            "state": {0: {"exp": np.zeros(3, "f4"), "step": 7}, 1: {}},
            "groups": [{"lr": 1e-3, "betas": (0.9, 0.999), "nesterov": False}],
        },
        "random": random.Random(seed).getstate(),
        "numpy": np.random.RandomState(seed).get_state(),
        "text": "ü\n",
        "none": None,
        "large": 2**70,
        "odd": [float("inf"), float("nan"), -0.0, 3 + 4j, b"abc", b"x" * 5000, {1, 2}],
        "scalar": np.float32(1.5),
        "own": sherd.PerRank({"seed": [1, 2], "t": np.arange(3)}),
        "a": {"b": np.ones(1)},
        "a.b": np.zeros(2),
    }


@pytest.mark.parametrize("blocking", [True, False])
def test_a_nested_state_comes_back(folder, blocking):
    manager = sherd.CheckpointManager("run")
    state = state_of()
    manager.save(5, state, blocking, epoch=2, metadata={"who": "me"})
    manager.wait(timeout=10)
    back = manager.restore()
    assert same(state, back)
    with sherd.open("run/step-5") as file:
        assert file.about["step"] == 5 and file.about["epoch"] == 2 and file.metadata["who"] == "me"
        assert file.verify()


def test_a_template_is_filled_in_place_and_chooses(folder):
    manager = sherd.CheckpointManager("run")
    state = state_of()
    manager.save(1, state)
    target = np.zeros((20, 30))
    back = manager.restore({"w": target, "text": None})
    assert back["w"] is target and (target == state["w"]).all() and list(back) == ["w", "text"]
    with pytest.raises(KeyError, match="nothing"):
        manager.restore({"nothing": None})


def test_what_is_kept(folder):
    manager = sherd.CheckpointManager("run", keep=2)
    for step in range(6):
        manager.save(step, {"step": step, "w": np.full(10, step)})
    manager.wait()
    assert manager.steps() == [4, 5] and manager.latest() == 5
    assert manager.restore(step=4)["step"] == 4
    assert sorted(os.listdir("run")) == [f"step-{s}{e}" for s in (4, 5) for e in (".metadata.json", "_shard_0.shard")]
    manager.remove(4)
    assert manager.steps() == [5]


def test_the_same_step_is_replaced(folder):
    manager = sherd.CheckpointManager("run")
    for value in (1, 2):
        manager.save(3, {"v": value, "w": np.full(4, value)})
    manager.wait()
    assert manager.steps() == [3] and manager.restore()["v"] == 2


def test_tensors_may_change_once_save_returned(folder):
    manager = sherd.CheckpointManager("run")
    value = np.zeros(4 << 20, "u1")
    for step in range(5):
        value[:] = step
        manager.save(step, {"w": value})
        value[:] = 99
    manager.wait()
    for step in range(5):
        assert (manager.restore(step=step)["w"] == step).all()


def test_a_failed_save_in_the_background_is_told(folder):
    manager = sherd.CheckpointManager("run")
    manager.save(1, {"w": np.zeros(10)}, True)
    os.rename("run", "away")
    os.symlink("nowhere", "run")
    open("away/step-2.saving", "w").write("not a claim")
    os.mkdir("away/step-2_shard_0.shard")
    manager.save(2, {"w": np.zeros(10)})
    with pytest.raises(sherd.SherdError):
        manager.save(3, {"w": np.zeros(10)})


def test_a_failed_save_is_told_at_the_end_of_the_program(folder):
    script = """
import os, numpy, sherd
manager = sherd.CheckpointManager("run")
os.makedirs("run/step-2_shard_0.shard/x")
manager.save(2, {"w": numpy.zeros(10)})
"""
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "sherd: the last save of run failed" in out.stderr


def test_a_save_can_be_cancelled(folder):
    manager = sherd.CheckpointManager("run")
    manager.save(1, {"w": np.zeros(64 << 20, "u1")})
    manager.cancel()
    manager.wait()
    assert manager.steps() in ([], [1])


def test_what_cannot_be_saved_is_named(folder):
    manager = sherd.CheckpointManager("run")
    with pytest.raises(TypeError, match="'a.fn'"):
        manager.save(1, {"a": {"fn": print}})
    with pytest.raises(sherd.NotFoundError):
        manager.restore()
    with pytest.raises(ValueError):
        sherd.CheckpointManager("run", keep=0)
    with pytest.raises(ValueError):
        sherd.CheckpointManager("run", rank=2, world=2)


def test_ranks_that_do_not_talk(folder):
    parts = np.arange(12.0).reshape(3, 4)
    managers = [sherd.CheckpointManager("run", rank=r, world=3) for r in range(3)]

    def save(rank):
        managers[rank].save(1, {"w": parts, "own": sherd.PerRank(rank)}, True)

    threads = [threading.Thread(target=save, args=(r,)) for r in (2, 0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert managers[0].steps() == []
    with pytest.raises(sherd.IncompleteError):
        managers[0].wait(timeout=0.01)
    save(1)
    managers[0].wait(timeout=10)
    for rank, manager in enumerate(managers):
        back = manager.restore()
        assert (back["w"] == parts).all() and back["own"] == rank


def test_objects_get_their_state(folder):
    class Counter:
        def __init__(self, n):
            self.n = n

        def state_dict(self):
            return {"n": self.n}

        def load_state_dict(self, state):
            self.n = state["n"]

    manager = sherd.CheckpointManager("run")
    manager.save(1, {"counter": Counter(7)})
    back = manager.restore({"counter": Counter(0)})
    assert back["counter"].n == 7


def test_a_damaged_checkpoint_is_not_restored(folder):
    manager = sherd.CheckpointManager("run")
    manager.save(1, {"w": np.arange(1000.0)}, True)
    path = "run/step-1_shard_0.shard"
    raw = bytearray(open(path, "rb").read())
    raw[raw.find(np.arange(1000.0).tobytes()) + 100] ^= 4
    open(path, "wb").write(raw)
    with pytest.raises(sherd.CorruptError) as damage:
        manager.restore()
    assert damage.value.object == path and damage.value.offset is not None
