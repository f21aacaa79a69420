"""Pairs measured in turn, and what comes of them: a table on stdout, a JSON line for each figure."""

import json
import os
import statistics
import sys
import time

PAIRS = int(os.environ.get("SHERD_BENCH_PAIRS", "7"))
SIZES = [int(float(text) * 2**30) for text in os.environ.get("SHERD_BENCH_GIB", "1").split()]


def seconds(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def forget(*paths):
    """Takes files out of the system's cache."""
    for path in paths:
        names = [path] if os.path.isfile(path) else [os.path.join(f, n) for f, _, ns in os.walk(path) for n in ns]
        for name in names:
            file = os.open(name, os.O_RDONLY)
            os.fsync(file)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(file)


def compare(what, ours, others, nbytes=0, target=None, least=True, before=None):
    """ours and each of others ({name: work}) in turn, PAIRS times. The ratio is theirs by ours: above 1 we are faster.
    before(name) is called before each, and not measured."""
    times = {"sherd": [], **{name: [] for name in others}}
    for _ in range(PAIRS):
        for name, work in (("sherd", ours), *others.items()):
            if before:
                before(name)
            times[name].append(seconds(work))
    for name in others:
        ratios = sorted(theirs / mine for theirs, mine in zip(times[name], times["sherd"]))
        tell(what, name, times, ratios, nbytes, target, least)


def tell(what, name, times, ratios, nbytes, target, least):
    mine, theirs = statistics.median(times["sherd"]), statistics.median(times[name])
    ratio = statistics.median(ratios)
    met = None if target is None else ratio >= target if least else ratio <= target
    rate = (lambda t: f"{nbytes / t / 1e9:7.2f} GB/s") if nbytes else (lambda t: f"{t * 1e3:9.2f} ms")
    verdict = "" if met is None else f"  target {'>=' if least else '<='} {target}: {'met' if met else 'MISSED'}"
    print(f"{what:44} sherd {rate(mine)}  {name:22} {rate(theirs)}  ratio {ratio:5.2f}"
          f" ({ratios[0]:.2f} to {ratios[-1]:.2f}){verdict}")
    line = {"what": what, "peer": name, "sherd_s": mine, "peer_s": theirs, "ratio": ratio, "least": ratios[0],
            "most": ratios[-1], "target": target, "met": met}
    print(json.dumps(line), file=sys.stderr, flush=True)
