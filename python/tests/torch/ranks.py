"""Several processes with gloo, forked from this one: torch is imported once."""

import multiprocessing
import os
import socket
import traceback

import torch
import torch.distributed as dist


def _work(rank, world, port, work, arguments, pipe):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    try:
        dist.init_process_group("gloo", rank=rank, world_size=world)
        pipe.send((True, work(rank, world, *arguments)))
        dist.barrier()
        dist.destroy_process_group()
    except BaseException:
        pipe.send((False, traceback.format_exc()))
    pipe.close()


def start(world, work, *arguments):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    context = multiprocessing.get_context("fork")
    started = []
    for rank in range(world):
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(rank, world, port, work, arguments, theirs))
        process.start()
        theirs.close()
        started.append((process, ours))
    return started


def run(world, work, *arguments):
    """What every rank returned."""
    answers = []
    for process, pipe in start(world, work, *arguments):
        right, answer = pipe.recv()
        process.join()
        assert right, answer
        answers.append(answer)
    return answers
