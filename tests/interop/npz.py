#!/usr/bin/env python3
"""The command and readers and writers of .npz that are not ours must agree: npz.py

By Python's zipfile and a reader of arrays made from docs/formats/npy.md; where NumPy is there, by NumPy too."""

import ast
import io
import json
import os
import struct
import subprocess
import sys
import tempfile
import zipfile

try:
    import numpy
except ImportError:
    numpy = None

COMMAND = os.environ["SHERD_COMMAND"]

# name, descr, shape, bytes
ARRAYS = [
    ("w", "<f4", (2, 3), struct.pack("<6f", *range(6))),
    ("encoder/layer:0", "<i8", (5,), struct.pack("<5q", *range(-2, 3))),
    ("gr\u00fc\u00dfe", "|u1", (300,), bytes(range(256)) + bytes(44)),
    ("scalar", "<f8", (), struct.pack("<d", 2.5)),
    ("none", "<i2", (0, 7), b""),
    ("zeros", "<f4", (512, 1024), bytes(512 * 1024 * 4)),
]
DTYPES = {"<f4": "F32", "<i8": "I64", "|u1": "U8", "<f8": "F64", "<i2": "I16"}


def sherd(*arguments):
    return subprocess.run([COMMAND, *arguments], capture_output=True, check=True).stdout


def need(holds, *what):
    if not holds:
        sys.exit(": ".join(str(w) for w in what))


def encode(descr, shape, data):
    text = str({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text + data


def decode(raw):
    need(raw[:8] == b"\x93NUMPY\1\0", "no array")
    end = 10 + struct.unpack("<H", raw[8:10])[0]
    head = ast.literal_eval(raw[10:end].decode())
    need(not head["fortran_order"], "an order that is never written")
    return head["descr"], head["shape"], raw[end:]


class Unseekable(io.RawIOBase):
    """A pipe: sizes and checksums stand after the bytes."""

    def __init__(self, path):
        self.file = open(path, "wb")

    def writable(self):
        return True

    def write(self, data):
        return self.file.write(data)

    def close(self):
        self.file.close()


def write(path, method, pipe):
    """As numpy.savez() and numpy.savez_compressed() do."""
    with zipfile.ZipFile(Unseekable(path) if pipe else path, "w", method) as archive:
        for name, descr, shape, data in ARRAYS:
            with archive.open(name + ".npy", "w", force_zip64=True) as member:
                member.write(encode(descr, shape, data))


def check_command(path):
    """The command reads what is there."""
    found = {t["name"]: t for t in json.loads(sherd("info", "--json", path))["tensors"]}
    need(list(found) == [a[0] for a in ARRAYS], path, "other names", list(found))
    for name, descr, shape, data in ARRAYS:
        need(found[name]["dtype"] == DTYPES[descr] and tuple(found[name]["shape"]) == shape, path, name)
        need(sherd("cat", path, name, "--format", "raw") == data, path, name, "other bytes")
    sherd("verify", path)


def check_python(path, method):
    """Python reads what the command wrote."""
    with zipfile.ZipFile(path) as archive:
        need(archive.testzip() is None, path, "bad CRC")
        need(archive.namelist() == [a[0] + ".npy" for a in ARRAYS], path, archive.namelist())
        for (_, descr, shape, data), member in zip(ARRAYS, archive.infolist()):
            need(member.compress_type == method, path, member.filename, "compressed otherwise")
            need(decode(archive.read(member)) == (descr, shape, data), path, member.filename)


def check_numpy(path):
    with numpy.load(path) as loaded:
        need(list(loaded) == [a[0] for a in ARRAYS], path, "NumPy has other names")
        for name, descr, shape, data in ARRAYS:
            array = loaded[name]
            need(array.dtype.str == descr and array.shape == shape and array.tobytes() == data, path, name)


def main():
    os.chdir(tempfile.mkdtemp(dir=os.environ.get("TMPDIR")))
    for method, how in ((zipfile.ZIP_STORED, "none"), (zipfile.ZIP_DEFLATED, "deflate"), (zipfile.ZIP_DEFLATED, "deflate:9")):
        for pipe in (False, True):
            write("theirs.npz", method, pipe)
            check_command("theirs.npz")
        sherd("convert", "theirs.npz", "ours.npz", "--compress", how, "--replace")
        check_command("ours.npz")
        check_python("ours.npz", method)
        if how != "none":
            need(os.path.getsize("ours.npz") < 50000, "zeros were not compressed")
        sherd("convert", "ours.npz", "middle.safetensors", "--replace")
        if numpy:
            check_numpy("ours.npz")
            arrays = {n: numpy.frombuffer(d, t).reshape(s) for n, t, s, d in ARRAYS}
            (numpy.savez if how == "none" else numpy.savez_compressed)("numpy.npz", **arrays)
            check_command("numpy.npz")
    if numpy:
        square = numpy.arange(12, dtype=">i4").reshape(3, 4)
        numpy.savez("order.npz", fortran=numpy.asfortranarray(square), big=square)
        for name in ("fortran", "big"):
            need(sherd("cat", "order.npz", name, "--format", "raw") == square.astype("<i4").tobytes(), name)
    print("with NumPy" if numpy else "without NumPy, which is not there")


main()
