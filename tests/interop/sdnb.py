#!/usr/bin/env python3
"""The command and a reader made from the document alone must agree on SDNB and SDZ: sdnb.py

Over the corpus, over what the command makes of other models, and over archives that Python's zipfile made."""

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

import read_sdnb

HERE = os.path.dirname(os.path.abspath(__file__))
CORPUS = os.path.join(HERE, "..", "corpus")
COMMAND = os.environ["SHERD_COMMAND"]


def sherd(*arguments):
    done = subprocess.run([COMMAND, *arguments], capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def need(holds, *what):
    if not holds:
        sys.exit(": ".join(str(w) for w in what))


def compare(path):
    """Both accept the file and read the same in it, or both refuse it."""
    try:
        theirs = read_sdnb.read(path)
    except read_sdnb.Refused as problem:
        need(sherd("info", path) is None, path, "only Python refuses it", problem)
        return False
    ours = sherd("info", "--json", path)
    need(ours is not None, path, "only the command refuses it")
    ours = json.loads(ours)
    need(ours["format"] == theirs["format"], path, "format")
    need(ours["metadata"] == theirs["metadata"], path, "metadata")
    tensors = {t["name"]: t for t in ours["tensors"] if not t["name"].startswith("@")}
    need(set(tensors) == set(theirs["tensors"]), path, "names", set(tensors) ^ set(theirs["tensors"]))
    for name, array in theirs["tensors"].items():
        need((tensors[name]["dtype"], tensors[name]["shape"]) == (array["dtype"], array["shape"]), path, name)
        raw = sherd("cat", "--format", "raw", path, name)
        need(raw is not None and raw.hex() == array["data"], path, name, "bytes")
    return True


def make(folder, model):
    """A model as everything that the command writes, and as archives that it does not write."""
    def place(name):
        return os.path.join(folder, name)

    shutil.copy(model, place("m.fb"))
    need(sherd("convert", place("m.fb"), place("m.sdnb")) is not None, model, "sdnb")
    need(sherd("convert", place("m.fb"), place("m.sdz")) is not None, model, "sdz")
    need(sherd("convert", place("m.fb"), place("s.sdz"), "--shards", "3") is not None, model, "shards")
    need(sherd("convert", place("m.fb"), place("s.sdnb"), "--shards", "4") is not None, model, "shards")
    for name in ("m.sdz", "s.sdz"):
        need(zipfile.ZipFile(place(name)).testzip() is None, name, "zipfile finds an error")
    with zipfile.ZipFile(place("deflated.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(place("m.sdnb"), "model.sdnb")
    with zipfile.ZipFile(place("set.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(4):
            archive.write(place(f"s.shard{i}-of-4.sdnb"), f"model.shard{i}-of-4")
    with zipfile.ZipFile(place("other.zip"), "w") as archive:
        archive.writestr("readme.txt", "what this is")
        archive.write(place("m.sdnb"), "anything")
    names = ("m.sdnb", "m.sdz", "s.sdz", "s.shard0-of-4.sdnb", "s.shard2-of-4.sdnb", "deflated.zip", "set.zip",
             "other.zip")
    for name in names:
        need(compare(place(name)), name, "refused")
        need(sherd("verify", place(name)) is not None, name, "verify finds errors")
    return len(names)


def main():
    paths = sorted(glob.glob(os.path.join(CORPUS, "sdnb", "*")))
    accepted = sum(compare(path) for path in paths)
    need(4 < accepted < len(paths) - 20, "the corpus", f"{accepted} of {len(paths)} accepted")
    print(f"{len(paths)} files of the corpus, {accepted} accepted")
    models = [os.path.join(CORPUS, "samediff_graph", "y_small.fb")]
    fixtures = os.environ.get("SHERD_FIXTURES")
    if fixtures and os.path.isdir(os.path.join(fixtures, "samediff")):
        models += sorted(glob.glob(os.path.join(fixtures, "samediff", "*", "model.fb")))
        for path in glob.glob(os.path.join(fixtures, "samediff", "sdnb", "synthetic*")):
            need(compare(path), path, "refused")
    made = 0
    for model in models:
        with tempfile.TemporaryDirectory() as folder:
            made += make(folder, model)
    print(f"{made} files made of {len(models)} models")


if __name__ == "__main__":
    main()
