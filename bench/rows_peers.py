"""Goes through a set of rows with numpy, when bench/rows_peers.c asks: rows_peers.py FOLDER ROWS WIDTH BATCH

Answers every line with the seconds of one pass: memmap, and astype of batch after batch."""

import glob
import os
import sys
import time

FOLDER, ROWS, WIDTH, BATCH = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])


def main():
    try:
        import numpy
    except ImportError:
        return
    print("numpy", numpy.__version__, flush=True)
    paths = sorted(glob.glob(os.path.join(FOLDER, "*.shard")))
    for _ in sys.stdin:
        start = time.monotonic()
        total = 0.0
        for path in paths:
            rows = numpy.memmap(path, dtype="<f4", mode="r", offset=32, shape=(ROWS, WIDTH))
            for first in range(0, ROWS, BATCH):
                total += rows[first : first + BATCH].astype("f8")[0, 0]
        print(f"{time.monotonic() - start:.6f}", flush=True)


if __name__ == "__main__":
    main()
