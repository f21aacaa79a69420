#!/usr/bin/env python3
"""The command and a reader made from the document alone must agree: samediff.py

Over the corpus, and over genuine files ($SHERD_FIXTURES/samediff, where it is) with what is known of them: dumps made
by an independent decoder, and the weights as ND4J itself stored them."""

import glob
import json
import math
import os
import struct
import subprocess
import sys

import read_samediff

HERE = os.path.dirname(os.path.abspath(__file__))
CORPUS = os.path.join(HERE, "..", "corpus")
COMMAND = os.environ["SHERD_COMMAND"]
FORMS = {"BOOL": "?", "U8": "B", "I8": "b", "U16": "H", "I16": "h", "U32": "I", "I32": "i", "U64": "Q", "I64": "q",
         "F16": "e", "F32": "f", "F64": "d"}
# A dump of 2020's layout read as today's: it shows empty texts, the file has these.
OLD_TEXTS = {"assert_equal/Assert/AssertGuard/Assert/data_4": "y (in_1/read:0) = ",
             "assert_equal/Assert/AssertGuard/Assert/data_2": "x (in_0/read:0) = ",
             "assert_equal/Assert/AssertGuard/Assert/data_1": "Condition x == y did not hold element-wise:",
             "assert_equal/Assert/AssertGuard/Assert/data_0": ""}


def sherd(*arguments):
    done = subprocess.run([COMMAND, *arguments], capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def need(holds, *what):
    if not holds:
        sys.exit(": ".join(str(w) for w in what))


def same_tensors(path, theirs):
    ours = json.loads(sherd("info", "--json", path))
    need(ours["format"] == theirs["format"], path, "format")
    need(ours["metadata"] == theirs["metadata"], path, "metadata")
    need([t["name"] for t in ours["tensors"]] == [t["name"] for t in theirs["tensors"]], path, "names")
    for a, b in zip(ours["tensors"], theirs["tensors"]):
        need((a["dtype"], a["shape"]) == (b["dtype"], b["shape"]), path, a["name"], a, b["dtype"], b["shape"])
        raw = sherd("cat", "--format", "raw", path, a["name"])
        need(raw is not None and raw.hex() == b["data"], path, a["name"], "bytes")


def same_graph(path, theirs):
    ours = json.loads(sherd("model", "graph", "--json", path))
    need(len(ours["variables"]) == len(theirs["variables"]), path, "variables")
    for a, b in zip(ours["variables"], theirs["variables"]):
        for key in ("name", "kind", "type", "shape", "id"):
            need(a.get(key) == b[key], path, a["name"], key, a.get(key), b[key])
    need(len(ours["operations"]) == len(theirs["operations"]), path, "operations")
    for a, b in zip(ours["operations"], theirs["operations"]):
        need(int(a["number"]) == b["number"], path, a["name"], "number", a["number"], b["number"])
        for key in ("id", "name", "op", "inputs", "longs", "reals", "bools", "dimensions"):
            need(a.get(key) == b[key], path, a["name"], key, a.get(key), b[key])
        need(a["typeNumber"] == b["type"], path, a["name"], "type")
        need(a.get("outputs", []) == b["outputs"], path, a["name"], "outputs")
        for p, q in zip(a.get("properties", []), b["properties"]):
            for key in ("name", "ints", "longs", "reals", "bools", "texts"):
                need(p.get(key) == q[key], path, a["name"], p.get("name"), key)
    for key in ("placeholders", "losses"):
        need(ours.get(key, []) == theirs[key], path, key)
    need(ours.get("training") == theirs["training"], path, "training")


def compare(path):
    """Both accept the file and read the same in it, or both refuse it."""
    try:
        theirs = read_samediff.read(path)
    except read_samediff.Refused as problem:
        need(sherd("info", path) is None, path, "only Python refuses it", problem)
        return False
    need(sherd("info", path) is not None, path, "only the command refuses it")
    same_tensors(path, theirs)
    if "variables" in theirs:
        same_graph(path, theirs)
    return True


def values(tensor):
    raw = bytes.fromhex(tensor["data"])
    form = FORMS[tensor["dtype"]]
    return list(struct.unpack(f"<{len(raw) // struct.calcsize(form)}{form}", raw))


def texts(tensor):
    raw = bytes.fromhex(tensor["data"])
    count = 1
    for d in tensor["shape"]:
        count *= d
    offsets = struct.unpack_from(f"<{count + 1}Q", raw)
    text = raw[8 * (count + 1):]
    return [text[a:b].decode() for a, b in zip(offsets, offsets[1:])]


def check_array(path, name, tensor, dump):
    where = f"{path}: {name}"
    need(tensor["dtype"] == read_samediff.TYPES[
        {"BOOL": 1, "HALF": 3, "FLOAT": 5, "DOUBLE": 6, "INT8": 7, "INT16": 8, "INT32": 9, "INT64": 10, "UINT8": 11,
         "UINT16": 12, "UINT32": 13, "UINT64": 14, "BFLOAT16": 17, "UTF8": 50}[dump["dtype"]]][0], where, "dtype")
    if dump["extras"] & read_samediff.EMPTY:
        need(not tensor["data"] and 0 in tensor["shape"], where, "not empty")
        return
    need(tensor["shape"] == dump["shape"], where, "shape")
    if dump["dtype"] == "UTF8":
        wanted = [OLD_TEXTS[name]] if path.endswith("scalar_float32.fb") else dump["strings"]
        need(texts(tensor) == wanted, where, texts(tensor), wanted)
        return
    got = values(tensor)
    need(len(got) == dump["count"] and got[:len(dump["first"])] == dump["first"], where, "first values")
    need(math.isclose(math.fsum(got), dump["sum"], rel_tol=1e-9, abs_tol=1e-9), where, "sum")


def check_dump(path):
    with open(path + ".dump.json", encoding="utf-8") as file:
        dump = json.load(file)
    found = read_samediff.read(path)
    tensors = {t["name"]: t for t in found["tensors"]}
    need(len(found["variables"]) == len(dump["variables"]), path, "variables")
    for ours, theirs in zip(found["variables"], dump["variables"]):
        need((ours["name"], ours["id"], ours["kind"], ours["shape"]) ==
             (theirs["name"], theirs["id"], theirs["variabletype"], theirs["shape"]), path, theirs["name"])
        need((theirs["name"] in tensors) == ("ndarray" in theirs), path, theirs["name"], "array")
        if "ndarray" in theirs:
            check_array(path, theirs["name"], tensors[theirs["name"]], theirs["ndarray"])
    need(len(found["operations"]) == len(dump["nodes"]), path, "operations")
    for ours, theirs in zip(found["operations"], dump["nodes"]):
        need((ours["id"], ours["name"], ours["op"], ours["number"], ours["outputs"], ours["input_ids"]) ==
             (theirs["id"], theirs["name"], theirs["opName"], theirs["opNum"], theirs["outputNames"],
              theirs.get("inputPaired", [])), path, theirs["name"])
    need(not found["warnings"], path, found["warnings"])
    need(sherd("verify", path) is not None, path, "verify finds errors")


def genuine(folder):
    graphs = sorted(glob.glob(os.path.join(folder, "**", "*.fb"), recursive=True))
    arrays = sorted(glob.glob(os.path.join(folder, "**", "*.bin"), recursive=True))
    arrays = [path for path in arrays if os.path.basename(os.path.dirname(path)) != "sdnb"]
    for path in graphs:
        need(compare(path), path, "refused")
        check_dump(path)
    for path in arrays:
        need(compare(path), path, "refused")
    trained = 0
    for path in glob.glob(os.path.join(folder, "*", "paramsPostTrain", "*.bin")):
        name = os.path.basename(path).removesuffix(".bin")
        model = os.path.join(os.path.dirname(path), "..", "model.fb")
        shapes = {t["name"]: (t["dtype"], t["shape"]) for t in read_samediff.read(model)["tensors"]}
        array = read_samediff.read(path)["tensors"][0]
        need((array["dtype"], array["shape"]) == shapes[name], path, "is not like the variable")
        trained += 1
    need(len(graphs) > 10 and trained > 10, folder, "holds too little")
    return len(graphs), len(arrays)


def main():
    paths = sorted(glob.glob(os.path.join(CORPUS, "samediff_graph", "*")) + glob.glob(os.path.join(CORPUS, "nd4j_array", "*")))
    accepted = sum(compare(path) for path in paths)
    need(accepted > 10 and accepted < len(paths) - 20, "the corpus", f"{accepted} of {len(paths)} accepted")
    print(f"{len(paths)} files of the corpus, {accepted} accepted")
    fixtures = os.environ.get("SHERD_FIXTURES")
    if fixtures and os.path.isdir(os.path.join(fixtures, "samediff")):
        print("%d genuine graphs, %d genuine arrays" % genuine(os.path.join(fixtures, "samediff")))
    else:
        print("no genuine files here: those were left out")


if __name__ == "__main__":
    main()
