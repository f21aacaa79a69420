#!/usr/bin/env python3
"""Sherd against ND4J itself, on files that each of them wrote: check.py WORK JAVA...

WORK is a folder with what Old.java made, <version>/ and <version>.json for each of SHERD_OLD_VERSIONS; JAVA is the
command that runs Models.java. Called by tools/interop-nd4j, which sets those, SHERD_COMMAND, SHERD_EXAMPLES and, where
genuine files lie beside the checkout, SHERD_FIXTURES."""

import glob
import json
import math
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import read_samediff  # the reader that was written from the document alone

COMMAND = os.environ["SHERD_COMMAND"]
# On the way from ND4J's file to ours: the formats between, by their extensions. Those that came after M2.1 tell more
# shapes and lack places for some arrays, so that only ND4J judges them, by these models.
WAYS = [[], [".sdc"]]
LATER, NETWORKS = [".sdnb", ".sdz"], ["fresh.fb", "trained.fb", "weights.fb", "operations.fb"]
TYPES = {"DOUBLE": "F64", "FLOAT": "F32", "HALF": "F16", "BFLOAT16": "BF16", "LONG": "I64", "INT": "I32", "SHORT": "I16",
         "BYTE": "I8", "UBYTE": "U8", "UINT16": "U16", "UINT32": "U32", "UINT64": "U64", "BOOL": "BOOL", "UTF8": "UTF8"}
FORMS = {"F64": "d", "F32": "f", "F16": "e", "I64": "q", "I32": "i", "I16": "h", "I8": "b", "U8": "B", "U16": "H",
         "U32": "I", "U64": "Q", "BOOL": "?"}
checked = 0


def need(holds, *what):
    global checked
    checked += 1
    if not holds:
        sys.exit("interop-nd4j: " + ": ".join(str(w) for w in what))


def sherd(*arguments):
    done = subprocess.run([COMMAND, *arguments], capture_output=True, check=False)
    need(done.returncode == 0, "sherd", *arguments, done.stderr.decode())
    return done.stdout


def java(command, *arguments, folder):
    done = subprocess.run([*command, *arguments], capture_output=True, check=False, cwd=folder)
    need(done.returncode == 0, "java", *arguments, done.stderr.decode()[-2000:])


def decode(dtype, shape, raw):
    count = math.prod(shape)
    if dtype == "UTF8":
        offsets = struct.unpack_from(f"<{count + 1}q", raw)
        text = raw[8 * (count + 1):]
        return [text[a:b].decode() for a, b in zip(offsets, offsets[1:])]
    if dtype == "BF16":
        return [struct.unpack("<f", b"\0\0" + raw[i:i + 2])[0] for i in range(0, len(raw), 2)]
    return list(struct.unpack(f"<{count}{FORMS[dtype]}", raw))


def same_values(ours, theirs):
    """Java tells reals as texts, so that NaN and the sign of zero are told."""
    if len(ours) != len(theirs):
        return False
    return all(repr(float(a)) == repr(float(b)) if isinstance(a, float) else a == (float(b) != 0) if isinstance(a, bool)
               else a == b for a, b in zip(ours, theirs))


def same_array(path, tensors, name, told):
    tensor = tensors.get(name)
    need(tensor, path, name, "is not there")
    shape = told["shape"]
    if told["empty"] and 0 not in shape:  # a scalar of nothing
        shape = [0]
    need(tensor["dtype"] == TYPES[told["dtype"]], path, name, tensor["dtype"], told["dtype"])
    need(tensor["shape"] == shape, path, name, tensor["shape"], shape)
    values = decode(tensor["dtype"], shape, sherd("cat", "--format", "raw", path, name)) if not told["empty"] else []
    need(same_values(values, told["values"]), path, name, values, told["values"])


def read_as_java_told(path, told):
    """What our command reads from a file of ND4J's is what ND4J said before it wrote it."""
    tensors = {t["name"]: t for t in json.loads(sherd("info", "--json", path))["tensors"]}
    graph = {v["name"]: v for v in json.loads(sherd("model", "graph", "--json", path))["variables"]}
    need(set(graph) == set(told["variables"]), path, "variables", set(graph) ^ set(told["variables"]))
    for name, variable in told["variables"].items():
        need(graph[name]["kind"] == variable["kind"], path, name, graph[name]["kind"], variable["kind"])
        need(graph[name].get("shape") == variable["shape"], path, name, graph[name].get("shape"), variable["shape"])
        if variable["array"]:
            same_array(path, tensors, name, variable["array"])
    for name, arrays in told["sequences"].items():
        for k, array in enumerate(arrays):
            same_array(path, tensors, f"@sequence/{name}/{k}", array)
    for name, state in (told.get("updater") or {}).items():
        same_array(path, tensors, "@updater/" + name, state)


def independently(path):
    """Graph and elements as a reader sees them that was written from the document alone."""
    with open(path, "rb") as file:
        return read_samediff.read_graph(path, file.read())


def convert(path, way, out):
    """Through the formats between to a legacy file."""
    last = path
    for extension in way:
        sherd("convert", "--quiet", last, out + extension)
        last = out + extension
    sherd("convert", "--quiet", last, out)


def write_again(path, way, out):
    """Every array has the same bytes then, and the graph is the same."""
    convert(path, way, out)
    need(sherd("model", "graph", "--json", path) == sherd("model", "graph", "--json", out), out, "the graph differs")
    was, now = (json.loads(sherd("info", "--json", p))["tensors"] for p in (path, out))
    need(was == now, out, "the arrays differ", was, now)
    need(independently(path) == independently(out), out, "another reader sees a difference")


def show(command, folder, files):
    out = os.path.join(folder, "show.json")
    java(command, "show", out, *files, folder=folder)
    with open(out, encoding="utf-8") as file:
        return json.load(file)


def same_to_java(folder, name, theirs, ours):
    """What ND4J sees in our file is what it sees in its own; but texts as they were stored before 2020, which M2.1
    reads as empty ones, it sees in ours as they are."""
    for key in sorted(set(theirs) | set(ours)):
        one, other = theirs.get(key), ours.get(key)
        if key == "variables" and one and other:
            for variable in sorted(set(one) | set(other)):
                was, now = one.get(variable), other.get(variable)
                if was != now and was and now and was["dtype"] == "UTF8":
                    need(not any(was["array"]["values"]), folder, name, variable, was, now)
                    raw = sherd("cat", "--format", "raw", os.path.join(folder, name), variable)
                    need(now["array"]["values"] == decode("UTF8", now["array"]["shape"], raw), name, variable, now)
                else:
                    need(was == now, folder, name, variable, "ND4J sees a difference", was, now)
        else:
            need(one == other, folder, name, key, "ND4J sees a difference", one, other)


def softmax_of(rows, w, b):
    for row in rows:
        sums = [sum(x * w[i][j] for i, x in enumerate(row)) + b[j] for j in range(len(b))]
        total = sum(math.exp(s) for s in sums)
        yield [math.exp(s) / total for s in sums]


def numbers(seed, count):
    """As Models.java makes them."""
    for _ in range(count):
        seed = (seed * 1664525 + 1013904223) & 0xFFFFFFFF
        yield (seed >> 8) / (1 << 24) - 0.5


def check_made(told):
    """What examples/make_graph.c made computes what it should."""
    need(set(told["variables"]) == {"in", "w", "b", "product", "sum", "out"}, "made.fb", told)
    w, b = ([float(v) for v in told["variables"][n]["array"]["values"]] for n in ("w", "b"))
    n = list(numbers(21, 20))
    wanted = softmax_of([n[i:i + 4] for i in range(0, 20, 4)], [w[i:i + 3] for i in range(0, 12, 3)], b)
    got = [float(v) for v in told["out"]["values"]]
    need(all(math.isclose(a, b, rel_tol=1e-5) for a, b in zip(sum(wanted, []), got)), "made.fb", got)


def same_arrays(path, told):
    tensors = {t["name"]: t for t in json.loads(sherd("info", "--json", path))["tensors"]}
    need(set(tensors) == set(told), path, "arrays", set(tensors) ^ set(told))
    for name, array in told.items():
        same_array(path, tensors, name, array)


def read_as_old_java_told(path, told):
    """Of beta2 and beta3: every array, a graph in which nothing is missing, and the same by another reader."""
    same_arrays(path, told)
    report = json.loads(sherd("verify", "--json", path))
    need([w["code"] for w in report["warnings"]] == ["no-checksum"], path, report["warnings"])
    for tensor in read_samediff.read(path)["tensors"]:
        need(bytes.fromhex(tensor["data"]) == sherd("cat", "--format", "raw", path, tensor["name"]), path, tensor["name"])


def kinds_of(graph):
    return {v["name"]: v["kind"] for v in graph["variables"]}


def load_in_the_last_release(folder, ours, made, command):
    """What has no operations that were given up can be written for M2.1, which loads it."""
    for kind in ("arrays", "custom"):
        sherd("convert", "--quiet", os.path.join(folder, kind + "-float.fb"), os.path.join(ours, kind + ".fb"))
    seen = show(command, ours, ["arrays.fb", "custom.fb"])
    for name, array in made["arrays-float.fb"].items():
        got = seen["arrays.fb"]["variables"][name]["array"]
        need((got["shape"], got["values"]) == (array["shape"], array["values"]), ours, name, got, array)
    if folder.endswith("beta3"):  # beta2 does not tell the names of operations, which M2.1 goes by
        need(seen["custom.fb"]["operations"] == ["out:concat:[product, product]:[out]", "product:matmul:[w, b]:[product]"],
             ours, seen["custom.fb"])


def check_old(work, version, command):
    """Returns how many files there were."""
    folder, ours = os.path.join(work, version), os.path.join(work, version + ".ours")
    os.mkdir(ours)
    with open(folder + ".json", encoding="utf-8") as file:
        made = json.load(file)
    for name, told in made.items():
        read_as_old_java_told(os.path.join(folder, name), told)
    fresh, run = (json.loads(sherd("model", "graph", "--json", os.path.join(folder, n)))
                  for n in ("fresh-float.fb", "run-float.fb"))
    need(kinds_of(fresh) == kinds_of(run), version, "a graph that was run differs", kinds_of(fresh), kinds_of(run))
    need({v for v, kind in kinds_of(run).items() if kind == "VARIABLE"} == {"w", "b"}, version, kinds_of(run))
    for name in (n for n in made if n.endswith(".fb")):
        path, target = os.path.join(folder, name), os.path.join(ours, name + ".sdc")
        sherd("convert", "--quiet", path, target)
        same_arrays(target, made[name])
        was, now = (dict(json.loads(sherd("model", "graph", "--json", p)), format=None) for p in (path, target))
        need(was == now, target, "the graph differs")
    load_in_the_last_release(folder, ours, made, command)
    return len(made)


def main():
    work, command = sys.argv[1], sys.argv[2:]
    theirs, folders = os.path.join(work, "theirs"), []
    os.mkdir(theirs)
    java(command, "make", theirs, os.path.join(work, "made.json"), folder=work)
    with open(os.path.join(work, "made.json"), encoding="utf-8") as file:
        made = json.load(file)
    for name, told in made.items():
        read_as_java_told(os.path.join(theirs, name), told)
    for path in glob.glob(os.path.join(os.environ.get("SHERD_FIXTURES") or "/nowhere", "samediff", "**", "*.fb"),
                          recursive=True):
        name = os.path.relpath(path, os.environ["SHERD_FIXTURES"]).replace("/", "-")
        with open(path, "rb") as file, open(os.path.join(theirs, name), "wb") as copy:
            copy.write(file.read())
    files = sorted(os.listdir(theirs))
    for way in WAYS:
        folders.append(os.path.join(work, "ours" + "".join(way)))
        os.mkdir(folders[-1])
        for name in files:
            write_again(os.path.join(theirs, name), way, os.path.join(folders[-1], name))
    wanted = show(command, theirs, files)
    need(sum("refused" not in told for told in wanted.values()) > 4, "ND4J loads hardly any of its own files", wanted)
    for folder in folders:
        got = show(command, folder, files)
        for name in files:
            same_to_java(folder, name, wanted[name], got[name])
    for extension in LATER:
        folders.append(os.path.join(work, "ours" + extension))
        os.mkdir(folders[-1])
        for name in NETWORKS:
            convert(os.path.join(theirs, name), [extension], os.path.join(folders[-1], name))
        got = show(command, folders[-1], NETWORKS)
        for name in NETWORKS:
            same_to_java(folders[-1], name, wanted[name], got[name])
    need(wanted["trained.fb"]["moved"] == made["trained.fb"]["moved"], "trained.fb", "training went on differently")
    subprocess.run([os.path.join(os.environ["SHERD_EXAMPLES"], "make_graph"), work], check=True)
    check_made(show(command, work, ["made.fb"])["made.fb"])
    old = sum(check_old(work, version, command) for version in os.environ["SHERD_OLD_VERSIONS"].split())
    refused = [name for name in files if "refused" in wanted[name]]
    print(f"interop-nd4j: {len(files)} models, {old} files of beta2 and beta3, {checked} checks passed; ND4J itself refuses {', '.join(refused)}")


main()
