"""What the scripts here share: the command, and a sentence for what does not hold."""

import json
import os
import subprocess
import sys

COMMAND = os.environ["SHERD_COMMAND"]


def sherd(*arguments):
    """Standard output of the command, which must succeed."""
    done = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True)
    if done.returncode:
        sys.exit(f"sherd {' '.join(map(str, arguments))}: status {done.returncode}: {done.stderr.decode()}")
    return done.stdout


def refused(*arguments):
    """Standard error of the command, which must fail, and not by a signal."""
    done = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True)
    if not 0 < done.returncode < 128:
        sys.exit(f"sherd {' '.join(map(str, arguments))}: status {done.returncode}, and it should be refused")
    return done.stderr.decode()


def info(path):
    return json.loads(sherd("info", "--json", path))


def tensors(path):
    """By name: what info tells of each."""
    return {t["name"]: t for t in info(path)["tensors"]}


def raw(path, name):
    """Bytes of a tensor."""
    return sherd("cat", path, name, "--format", "raw")


def need(holds, *what):
    if not holds:
        sys.exit(": ".join(str(w) for w in what))
