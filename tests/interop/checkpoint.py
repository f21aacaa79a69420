#!/usr/bin/env python3
"""The library and a reader and a writer made from the document alone must agree: checkpoint.py PROGRAM

PROGRAM is tests/interop/checkpoint.c, built."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

import read_checkpoint

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "..", "golden", "checkpoint")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def is_refused(prefix):
    try:
        read_checkpoint.read_set(prefix)
    except (read_checkpoint.Refused, UnicodeDecodeError):
        return True
    return False


def by_name(tensors):
    return {t["name"]: t for t in tensors}


def compare(what, ours, theirs):
    if by_name(ours) != by_name(theirs) or len(ours) != len(theirs):
        sys.exit(f"{what}: the tensors differ")


def library_reads_what_python_wrote(program, folder):
    written = json.loads(run(sys.executable, os.path.join(HERE, "write_checkpoint.py"), folder))
    for prefix, tensors in written.items():
        path = os.path.join(folder, prefix)
        compare(f"{prefix}, by the library", json.loads(run(program, "check", path))["tensors"], tensors)
        compare(f"{prefix}, by Python", read_checkpoint.read_set(path)["tensors"], tensors)


def python_reads_what_the_library_wrote(program, folder):
    run(program, "save", folder)
    for prefix, warnings in (("plain", 0), ("cut", 0), ("tree", 0), ("csharp", 1), ("types", 0)):
        path = os.path.join(folder, prefix)
        found = read_checkpoint.read_set(path)
        if len(found["warnings"]) != warnings:
            sys.exit(f"{prefix}: warnings {found['warnings']}")
        compare(prefix, json.loads(run(program, "print", path))["tensors"], found["tensors"])


def both_read_the_golden_sets(program):
    for prefix, count in (("small", 11), ("tree", 11), ("parts", 11), ("replaced", 3), ("csharp", 4), ("types", 5)):
        path = os.path.join(GOLDEN, prefix)
        found = read_checkpoint.read_set(path)["tensors"]
        if len(found) != count:
            sys.exit(f"{prefix}: {len(found)} tensors")
        compare(prefix, json.loads(run(program, "print", path))["tensors"], found)
    alone = read_checkpoint.read_alone(os.path.join(GOLDEN, "small_shard_1.shard"))
    if alone["rank"] != 1 or len(alone["tensors"]) != 6 or alone["warnings"]:
        sys.exit("a shard alone: " + str(alone)[:200])


def python_notices_damage(folder):
    """One byte in every 41 of each file of the golden set, so that a lax reader does not pass for a right one."""
    tried = 0
    for name in ("small.metadata.json", "small_shard_0.shard", "small_shard_1.shard", "tree_shard_0.shard"):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(GOLDEN, folder)
        path = os.path.join(folder, name)
        with open(path, "rb") as file:
            right = file.read()
        for at in range(0, len(right), 41):
            with open(path, "wb") as file:
                file.write(right[:at] + bytes([right[at] ^ 4]) + right[at + 1:])
            if not is_refused(os.path.join(folder, name[:name.index("_" if "_" in name else ".")])):
                sys.exit(f"{name}: byte {at} may change")
            tried += 1
    if tried < 90:
        sys.exit(f"only {tried} damages tried")


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        library_reads_what_python_wrote(program, os.path.join(folder, "python"))
        python_reads_what_the_library_wrote(program, os.path.join(folder, "library"))
        python_notices_damage(os.path.join(folder, "damaged"))
    both_read_the_golden_sets(program)
    return 0


if __name__ == "__main__":
    sys.exit(main())
