"""What python/examples shows works."""

import os
import signal
import sys

import pytest
import ranks
import sherd
import torch

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")
sys.path.insert(0, EXAMPLES)

import autoencoder  # noqa: E402
import inspect_model  # noqa: E402
import train  # noqa: E402


def work(rank, world, run, steps):
    return train.main(run, steps)


def test_training_is_killed_and_goes_on_with_three(folder):
    straight = ranks.run(2, work, "straight", 24)[0][1]
    started = ranks.start(2, work, "run", 400)
    while (sherd.CheckpointManager("run").latest() or 0) < 8:
        assert all(process.is_alive() for process, _ in started)
    for process, _ in started:
        os.kill(process.pid, signal.SIGKILL)
        process.join()
    done = sherd.CheckpointManager("run").latest()
    answers = ranks.run(3, work, "run", max(24, done + 3))
    assert answers[0][0] == done and len(answers[0][1]) == max(24, done + 3) - done - 1
    assert answers[0][1][-1] < straight[0]


def test_activations_and_an_autoencoder(folder):
    autoencoder.dump("acts", 10)
    losses = autoencoder.train("acts", 2)
    assert losses[-1] < losses[0] / 2


def test_inspect_and_convert(folder, capsys):
    sherd.save("m.safetensors", {"w": torch.arange(6.0).reshape(2, 3)}, metadata={"who": "me"})
    inspect_model.inspect("m.safetensors")
    shown = capsys.readouterr().out
    assert "who: me" in shown and "w  F32  [2, 3]  0 to 5" in shown and "fine" in shown
