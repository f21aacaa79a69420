#!/usr/bin/env python3
"""Kills, stops and races of every command that writes several files, with the real command on a real file system.

kill: the process dies at a random moment. stop: it is stopped at a random moment, another one does the same with other
data, then it goes on. race: three do it at once, each with data of its own. Whatever happens, what is there afterwards
verifies and is whole, of one writer; a writer that said it succeeded has; what was there before stays unless something
whole took its place; and the next one who tries succeeds and leaves no more files than usual.

SHERD_KILLS: each once for so many fifties (50), SHERD_SEED: which moments. `--table` prints the table of docs/testing.md instead."""

import array
import json
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

COMMAND = os.environ.get("SHERD_COMMAND", "sherd")
ROUNDS = max(1, int(os.environ.get("SHERD_KILLS", "50")) // 50)
SEED = int(os.environ.get("SHERD_SEED", "1"))
VALUES = (1, 2, 3)  # what writers write; 0 is what was there before
TENSORS, ELEMENTS = 6, 4096
FINE, BAD, CONFLICT = 0, 1, 3
KILLED = -signal.SIGKILL


def start(*arguments):
    return subprocess.Popen([COMMAND, *arguments, "--quiet"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)


def finish(process):
    text = process.communicate(timeout=120)[0].decode(errors="replace")
    return process.returncode, text


def sherd(*arguments):
    return finish(start(*arguments))


def must(*arguments):
    status, text = sherd(*arguments)
    assert status == FINE, f"{' '.join(arguments)}: {status}: {text}"


# Sources: tensors that all hold the value, rows of it, nodes that are named by it.

def write_source(value):
    data, header = b"", {}
    for i in range(TENSORS):
        body = array.array("f", [value] * (ELEMENTS + i)).tobytes()
        header[f"t{i}"] = {"dtype": "F32", "shape": [ELEMENTS // 2 + i // 2, 2] if i % 2 == 0 else [ELEMENTS + i],
                           "data_offsets": [len(data), len(data) + len(body)]}
        data += body
    for i in range(0, TENSORS, 2):
        header[f"t{i}"]["shape"] = [(ELEMENTS + i) // 2, 2]
    text = json.dumps(header).encode()
    pathlib.Path(f"v{value}.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    must("convert", f"v{value}.safetensors", f"v{value}.sdc")
    must("checkpoint", "save", f"v{value}.safetensors", f"ck{value}", "--shards", "2")
    write_rows(value)
    write_nodes(value)


def write_rows(value):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (4096, 4), }"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    body = array.array("f", [value] * (4096 * 4)).tobytes()
    pathlib.Path(f"v{value}.npy").write_bytes(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() + body)


def write_nodes(value):
    nodes = [{"id": f"n{i}", "nodeType": "T", "name": str(value), "file": f"d{i % 5}/f{i % 10}.c"} for i in range(200)]
    edges = [{"src": f"n{i}", "dst": f"n{(i * 7 + 1) % 200}", "edgeType": "E"} for i in range(200)]
    mine = [n for n in nodes if n["file"] == "d1/f1.c"]
    for name, records in (("nodes", nodes), ("edges", edges), ("mine", mine)):
        pathlib.Path(f"{name}{value}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    pathlib.Path("none.jsonl").write_text("")


# What is there: the value that everything in it has, or None.

def the_one(values, where):
    assert len(set(values)) == 1, f"{where} is a mixture: {sorted(set(values))}"
    return int(values[0])


def verified(target):
    status, text = sherd("verify", target)
    assert status == FINE, f"verify {target}: {status}: {text}"


def tensors_at(target):
    status, text = sherd("convert", target, "../out.safetensors", "--replace", "--drop-graph", "--drop-metadata")
    if status in (BAD, CONFLICT):
        assert status == CONFLICT or any(word in text for word in ("incomplete", "nothing", "not there", "no ")), text
        return None
    assert status == FINE, text
    verified(target)
    raw = pathlib.Path("../out.safetensors").read_bytes()
    length = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8:8 + length])
    header.pop("__metadata__", None)
    assert len(header) == TENSORS, f"{target}: {len(header)} tensors"
    return the_one(array.array("f", raw[8 + length:]), target)


def rows_at(target, rows=4096):
    status, text = sherd("rows", "cat", target)
    if status in (BAD, CONFLICT):
        return None
    assert status == FINE, text
    verified(target)
    lines = text.split("\n")[:-1]
    assert len(lines) == rows, f"{target}: {len(lines)} rows"
    return the_one([float(x) for line in lines for x in line.split()[-4:]], target)


def appended_at(target):
    """The last value appended to rows of 0."""
    status, text = sherd("rows", "cat", target)
    assert status == FINE, text
    verified(target)
    values = [float(line.split()[-1]) for line in text.split("\n")[:-1]]
    assert len(values) % 4096 == 0 and set(values[:4096]) == {0}, f"{target}: {len(values)} rows"
    return [the_one(values[at:at + 4096], target) for at in range(0, len(values), 4096)][-1]


def names_in(target, *query):
    status, text = sherd("graph", "find", target, *query)
    assert status in (FINE, CONFLICT), text
    return None if status else [json.loads(line)["name"] for line in text.split("\n")[:-1]]


def graph_at(target):
    names = names_in(target)
    if not names:
        return None
    verified(target)
    assert len(names) == 200, f"{target}: {len(names)} nodes"
    return the_one(names, target)


def file_at(target):
    names, rest = names_in(target, "--file", "d1/f1.c"), len(names_in(target))
    verified(target)
    assert rest - len(names) == 180, f"{rest} nodes with those of other files"
    assert len(names) in (0, 20), f"{len(names)} nodes of the file"
    return the_one(names, target) if names else None


# Jobs.

class Job:
    """before: what is done once for old data. command: what is stormed. look: the value at the target. after: the value
    when it has succeeded, where that is not the writer's own. tidy: what is done before files are counted; None: their
    number depends on who came first."""

    def __init__(self, name, command, look, target="t", before=(), tidy=(), **more):
        self.name, self.command, self.look, self.target = name, command, look, target
        self.before, self.tidy, self.more = before, tidy, more

    def after(self, value):
        return self.more.get("after", value)

    def arguments(self, value):
        return [word.format(v=value, t=self.target) for word in self.command]

    def prepare(self):
        for command in self.before:
            if callable(command):
                command()
            else:
                must(*[word.format(v=0, t=self.target) for word in command])

    def count_parts(self):
        if self.tidy is None:
            return None
        for command in self.tidy:
            must(*[word.format(t=self.target) for word in command])
        return parts_below(".")

    def repeats(self):
        """May it be done again where it was done?"""
        return self.more.get("repeats", bool(self.before))

    def old(self):
        return self.more.get("old", 0 if self.before else None)

    def value(self):
        return self.look(self.target)


def pair(name, command, look, target="t", **more):
    """The same for a first time and over what is there."""
    command = command.split()
    return [Job(name, command, look, target, **more),
            Job(f"{name} --replace", command + ["--replace"], look, target, before=[command], **more)]


COMPACT, GC = "graph compact {t}".split(), "graph gc {t} --keep 1".split()
DB = [["graph", "create", "{t}", "--shards", "4"],
      ["graph", "import", "{t}", "--nodes", "../nodes{v}.jsonl", "--edges", "../edges{v}.jsonl"]]
EDITS = [["graph", "update", "{t}", "--file", "d1/f1.c", "--nodes", "../mine{v}.jsonl", "--edges", "../none.jsonl"]] * 3

SAVE = "checkpoint save ../v{v}.safetensors {t} --shards 3".split()
RANK = ["checkpoint", "save", "../v{v}.safetensors", "{t}", "--rank", "1", "--world", "2", "--split", "--set-id",
        "{v:032d}"]
PACK = "rows pack ../v{v}.npy {t} --rows-per-shard 1000".split()


def lose(name):
    return lambda: os.remove(name)


JOBS = [
    *pair("checkpoint save", " ".join(SAVE), tensors_at),
    *pair("checkpoint reshard", "checkpoint reshard ../ck{v} {t} --shards 3", tensors_at),
    Job("checkpoint save --rank", RANK, tensors_at, before=[[w.format(v=1, t="t") for w in RANK[:5]] + ["0"] +
                                                            [w.format(v=1, t="t") for w in RANK[6:]]],
        old=None, repeats=True),
    Job("checkpoint prune", "checkpoint prune . --keep 1".split(), tensors_at, "t2", after=0,
        before=[SAVE[:3] + ["t1"] + SAVE[4:], SAVE]),
    Job("checkpoint remove", "checkpoint remove {t}".split(), tensors_at, before=[SAVE], after=None,
        repeats=False),
    Job("checkpoint repair", "checkpoint repair {t}".split(), tensors_at, before=[SAVE, lose("t.metadata.json")],
        after=0, old=None, repeats=False),
    *pair("convert to an index", "convert ../v{v}.safetensors {t} --shards 3", tensors_at, "t.safetensors.index.json"),
    *pair("convert to a folder of npy", "convert ../v{v}.safetensors {t}", tensors_at, "t/"),
    *pair("convert to a folder of DCP", "convert ../v{v}.safetensors {t} --to dcp --shards 3", tensors_at),
    *pair("convert to a container in shards", "convert ../v{v}.sdc {t} --shards 3", tensors_at, "t.sdc"),
    Job("convert to SDNB in shards", "convert ../v{v}.sdc {t} --shards 3".split(), tensors_at, "t.sdnb"),
    *pair("model split", "model split ../v{v}.sdc {t} --shards 3", tensors_at),
    Job("model meta", "model meta {t} a=b".split(), tensors_at, "t.sdc", after=0,
        before=["convert ../v{v}.sdc {t} --shards 3".split()]),
    Job("rows pack", PACK, rows_at),
    Job("rows append", "rows append ../v{v}.npy {t} --rows-per-shard 1000".split(), appended_at, before=[PACK],
        tidy=None),
    Job("rows index --replace", "rows index {t} --replace".split(), rows_at, before=[PACK], after=0),
    Job("graph create and import", "convert ../both{v}.jsonl {t}".split(), graph_at, "t.rfdb", tidy=[GC]),
    Job("graph import", DB[1], graph_at, before=DB, tidy=[GC]),
    Job("graph update", EDITS[0], file_at, before=DB, tidy=[COMPACT, GC]),
    Job("graph delete-file", "graph delete-file {t} d1/f1.c".split(), file_at, before=DB, after=None, repeats=False,
        tidy=[COMPACT, GC]),
    Job("graph compact", COMPACT, graph_at, before=DB + EDITS, after=0, tidy=[GC]),
    Job("graph gc", GC, graph_at, before=DB + EDITS, after=0),
    Job("graph tag", "graph tag {t} by=w{v}".split(), graph_at, before=DB, after=0, tidy=[GC]),
    Job("graph reshard", "graph reshard ../db{v} {t} --shards 2".split(), graph_at, tidy=[GC]),
]


# Storms.

def parts_below(folder):
    """Files that hold something. Claims and temporary files of the dead go when somebody writes there again."""
    marks = (".sherd-tmp-", "graph.making", "rows.packing")
    return sum(not name.startswith(marks) and not name.endswith(".saving")
               for _, _, files in os.walk(folder) for name in files)


class Place:
    """A folder of its own for one storm, beside the sources."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="storm-", dir=pathlib.Path.cwd())
        os.chdir(self.folder)

    def close(self):
        os.chdir("..")
        shutil.rmtree(self.folder)


def pause(dice, seconds):
    time.sleep(dice.random() * seconds * 1.2)


def assert_afterwards(job, may_be):
    """may_be: the values that may be there, None for nothing. What is missing can be written, whatever was left."""
    got = job.value()
    assert got in may_be, f"there is {got}, not one of {sorted(map(str, may_be))}"
    status, text = sherd(*job.arguments(1))
    due = job.repeats() or got == job.old()
    assert status == FINE or (status == CONFLICT and not due), f"and again: {status}: {text}"
    may_be = {job.after(1)} if due else {got}
    got = job.value()
    assert got in may_be, f"then there is {got}"


def kill(job, dice, seconds):
    process = start(*job.arguments(1))
    pause(dice, seconds)
    process.kill()
    status, text = finish(process)
    assert status in (FINE, KILLED), text
    old = {job.old()}
    new = {job.after(1)}
    assert_afterwards(job, new if status == FINE else old | new)


def winners(job, ended):
    """From exit statuses by value: the values that may be there."""
    for status, text in ended.values():
        assert status in (FINE, CONFLICT), f"{status}: {text}"
    won = {v for v, (status, _) in ended.items() if status == FINE}
    assert won, "nobody succeeded: " + "; ".join(text for _, text in ended.values())
    return {job.after(value) for value in won}


def stop(job, dice, seconds):
    process = start(*job.arguments(1))
    pause(dice, seconds)
    process.send_signal(signal.SIGSTOP)
    ended = {2: sherd(*job.arguments(2))}
    process.send_signal(signal.SIGCONT)
    ended[1] = finish(process)
    assert_afterwards(job, winners(job, ended))


def race(job, dice, seconds):
    del dice, seconds
    running = {value: start(*job.arguments(value)) for value in VALUES}
    ended = {value: finish(process) for value, process in running.items()}
    assert_afterwards(job, winners(job, ended))


STORMS = {"kill": kill, "stop": stop, "race": race}


def clean_run(job):
    """How long it takes, and how many files it leaves."""
    place = Place()
    job.prepare()
    began = time.monotonic()
    must(*job.arguments(1))
    seconds = time.monotonic() - began
    assert job.value() == job.after(1), f"{job.name}: {job.value()}"
    count = job.count_parts()
    place.close()
    return seconds, count


def run_storm(job, storm, number, clean):
    place = Place()
    dice = random.Random(f"{SEED} {job.name} {storm} {number}")
    try:
        job.prepare()
        STORMS[storm](job, dice, clean[0])
        left = job.count_parts()
        assert left == clean[1], f"{left} files are left, not {clean[1]}"
    except AssertionError as e:
        print(f"{job.name}: {storm} {number} (SHERD_SEED={SEED}): {e}")
        subprocess.run(["find", ".", "-type", "f"], check=False)
        return 1
    finally:
        place.close()
    return 0


ALSO = {
    "checkpoint save": "`crash/ckpt` `crash/ckpt_kill` `crash/ckpt_race`",
    "checkpoint save --rank": "`crash/ckpt_ranks` `crash/ckpt_meddle` `crash/ckpt_race`",
    "convert to an index": "`crash/convert`", "convert to a folder of npy": "`crash/convert`",
    "convert to a folder of DCP": "`crash/convert`",
    "convert to a container in shards": "`crash/container` `crash/container_kill`",
    "convert to SDNB in shards": "`crash/model` `crash/convert`",
    "rows pack": "`crash/rows_pack`", "rows append": "`crash/rows_append`",
    "graph import": "`crash/graph` `crash/graph_kill` `contract/graph` `thread/graph_turns`",
    "graph reshard": "`crash/graph_kill`",
}
ELSEWHERE = {
    "checkpoint commit": "what the last rank does: as `checkpoint save --rank`",
    "convert to SDNB in shards --replace": "refused: its shards have fixed names and no head (`cli/convert`)",
    "convert to one file, model join, checkpoint load, report of verify": "one object, which the store commits whole: "
    "`crash/store` `contract/race`",
    "graph export": "two objects that nobody reads as one: each as one file",
}


def print_table():
    print("| command | kill | stop | race | more |\n|---|---|---|---|---|")
    for job in JOBS:
        cells = " | ".join("`crash/storm`" for storm in STORMS)
        print(f"| {job.name} | {cells} | {ALSO.get(job.name, '')} |")
    for name, why in ELSEWHERE.items():
        print(f"| {name} | {why} | | | |")


def make_sources():
    for value in (0, *VALUES):
        write_source(value)
        pathlib.Path(f"both{value}.jsonl").write_text(
            pathlib.Path(f"nodes{value}.jsonl").read_text() + pathlib.Path(f"edges{value}.jsonl").read_text())
        for command in DB:
            must(*[word.format(v=value, t=f"db{value}").removeprefix("../") for word in command])


def main():
    if sys.argv[1:] == ["--table"]:
        return print_table()
    only = sys.argv[1:]
    failed = ran = 0
    with tempfile.TemporaryDirectory(prefix="sherd-storm-") as root:
        os.chdir(root)
        make_sources()
        for job in JOBS:
            if only and job.name not in only:
                continue
            clean = clean_run(job)
            for storm in STORMS:
                for number in range(ROUNDS):
                    failed += run_storm(job, storm, number, clean)
                    ran += 1
        os.chdir("/")
    print(f"{ran - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
