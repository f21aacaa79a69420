"""How long a save in the background holds the training up, beside memcpy by as many threads into touched memory."""

import os
import shutil
import sys
import tempfile
import threading

import sherd
import torch
from files import tensors
from measure import SIZES, compare


def main(folder):
    for size in SIZES:
        state = tensors(size)
        nbytes = sum(t.numel() * 4 for t in state.values())
        copies = {name: torch.zeros_like(t) for name, t in state.items()}
        workers = len(os.sched_getaffinity(0))
        torch.set_num_threads(1)
        names = list(state)

        def part(first):
            for name in names[first::workers]:
                copies[name].copy_(state[name])

        def memcpy():
            threads = [threading.Thread(target=part, args=(i,)) for i in range(workers)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        manager = sherd.CheckpointManager(folder, keep=1)
        manager.save(0, state)
        manager.wait()
        step = [0]

        def save():
            step[0] += 1
            manager.save(step[0], state)

        compare(f"stall of a save in the background, {size / 2**30:g} GiB", save, {f"memcpy, {workers} threads": memcpy},
                nbytes, 1 / 1.2, before=lambda name: manager.wait())
        manager.close()


if __name__ == "__main__":
    scratch = tempfile.mkdtemp(dir=sys.argv[1] if len(sys.argv) > 1 else None)
    try:
        main(scratch)
    finally:
        shutil.rmtree(scratch)
