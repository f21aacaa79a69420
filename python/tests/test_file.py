"""Any file: what is saved is what is read, in every format, and refusals say what and where."""

import io
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
import sherd

RANDOM = np.random.default_rng(7)
TENSORS = {
    "a.weight": RANDOM.standard_normal((7, 5, 3)).astype("f4"),
    "b": np.arange(11, dtype="i8"),
    "half": RANDOM.standard_normal((4, 4)).astype("f2"),
    "flags": np.array([True, False, True]),
    "empty": np.zeros((0, 3), "f4"),
    "scalar": np.array(2.5),
}
ENDINGS = ["safetensors", "npz", "safetensors.index.json", "sdc"]


def same(file, tensors=TENSORS):
    assert list(sorted(file)) == sorted(tensors)
    for name, value in tensors.items():
        read = file[name].numpy()
        assert read.dtype == value.dtype and read.shape == value.shape, name
        assert (read == value).all(), name


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_saved_is_read(folder, ending):
    sherd.save(f"model.{ending}", TENSORS)
    with sherd.open(f"model.{ending}") as file:
        same(file)
        assert file.verify()


def test_a_checkpoint_is_a_file_too(folder):
    sherd.save("step", TENSORS, format="checkpoint", shards=3)
    with sherd.open("step") as file:
        assert file.format == "checkpoint"
        same(file)


@pytest.mark.parametrize("source", ENDINGS)
@pytest.mark.parametrize("target", ENDINGS)
def test_convert_keeps_values(folder, source, target):
    sherd.save(f"a.{source}", TENSORS)
    sherd.convert(f"a.{source}", f"b.{target}", drop_graph=True, drop_metadata=True)
    same(sherd.open(f"b.{target}"))


def test_tensors_of_a_file_are_saved_without_being_read_first(folder):
    sherd.save("a.safetensors", TENSORS)
    with sherd.open("a.safetensors") as file:
        sherd.save("b.npz", {"x": file["a.weight"], "part": file["a.weight"][2:4], "odd": file["b"][::3]})
    with sherd.open("b.npz") as file:
        same(file, {"x": TENSORS["a.weight"], "part": TENSORS["a.weight"][2:4], "odd": TENSORS["b"][::3]})


SLICES = [
    np.s_[2:5],
    np.s_[-1],
    np.s_[:, 1],
    np.s_[..., 2],
    np.s_[1:6:2, ::-1],
    np.s_[3, 2, 1],
    np.s_[6:2],
    np.s_[:, :, 1:],
    np.s_[::-2, 4:1:-1, ...],
    np.s_[5:, 2:3, :2],
]


@pytest.mark.parametrize("key", SLICES, ids=str)
@pytest.mark.parametrize("kind", ["safetensors", "npz", "checkpoint"])
def test_slices_are_those_of_numpy(folder, key, kind):
    name = "m" if kind == "checkpoint" else f"m.{kind}"
    sherd.save(name, TENSORS, format=kind)
    want = TENSORS["a.weight"][key]
    with sherd.open(name) as file:
        part = file["a.weight"][key]
        assert part.shape == want.shape
        assert (part.numpy() == want).all()


def test_a_slice_of_a_slice(folder):
    sherd.save("m.safetensors", TENSORS)
    part = sherd.open("m.safetensors")["a.weight"][1:6][2][1:4]
    assert (part.numpy() == TENSORS["a.weight"][1:6][2][1:4]).all()


def test_a_slice_reads_only_that(folder):
    big = np.arange(1 << 22, dtype="u1").reshape(1 << 12, 1 << 10)
    sherd.save("m.safetensors", {"w": big})
    script = """
import sherd
f = sherd.open("m.safetensors")
def read(): return int(open("/proc/self/io").read().split("rchar: ")[1].split()[0])
before = read(); f["w"][100:102, 5:9].bytes(); after = read()
print(after - before)
"""
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(out.stdout) < 64 << 10


@pytest.mark.parametrize("shape", [(300, 700), (3, 5, 64, 33), (1, 100000), (100000, 1), (40, 1, 9000)])
def test_large_boxes_by_several_workers(folder, shape):
    value = RANDOM.integers(0, 255, shape, dtype="u2")
    sherd.save("m.safetensors", {"w": value})
    file = sherd.open("m.safetensors")
    for _ in range(6):
        key = tuple(slice(*sorted(RANDOM.integers(0, n + 1, 2))) for n in shape)
        assert (file["w"][key].numpy() == value[key]).all(), key


def test_maps_are_read_only_and_outlive_the_file(folder):
    sherd.save("m.safetensors", TENSORS)
    file = sherd.open("m.safetensors")
    array = file["a.weight"].numpy(copy=False)
    rows = file["a.weight"][2:4].numpy(copy=False)
    file.close()
    assert not array.flags.writeable
    assert (array == TENSORS["a.weight"]).all() and (rows == TENSORS["a.weight"][2:4]).all()
    with pytest.raises(ValueError):
        file["b"].numpy()
    with pytest.raises(BufferError):
        sherd.open("m.safetensors")["a.weight"][:, 1:3].numpy(copy=False)


def test_buffers(folder):
    sherd.save("m.safetensors", TENSORS)
    file = sherd.open("m.safetensors")
    view = memoryview(file["a.weight"])
    assert (view.format, view.shape) == ("f", (7, 5, 3))
    assert memoryview(file["scalar"]).shape == ()
    assert bytes(file["b"]) == TENSORS["b"].tobytes() == file["b"].bytes()
    assert (np.asarray(file["half"]) == TENSORS["half"]).all()
    assert (np.from_dlpack(file["b"]) == TENSORS["b"]).all()
    into = np.empty((7, 5, 3), "f4")
    file["a.weight"].read_into(into)
    assert (into == TENSORS["a.weight"]).all()
    targets = {name: np.empty_like(TENSORS[name]) for name in ("a.weight", "b")}
    file.read_into(targets)
    assert (targets["b"] == TENSORS["b"]).all()
    with pytest.raises(ValueError):
        file["b"].read_into(np.empty(3))


def test_types_that_numpy_lacks_are_bytes(folder):
    raw = bytes(range(24))
    head = b'{"w":{"dtype":"BF16","shape":[3,4],"data_offsets":[0,24]}}'
    (folder / "m.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + raw)
    tensor = sherd.open("m.safetensors")["w"]
    assert tensor.dtype == "BF16" and tensor.bytes() == raw
    assert tensor[1:, 2].bytes() == raw[12:14] + raw[20:22]
    try:
        import ml_dtypes

        assert tensor.numpy().dtype == ml_dtypes.bfloat16
    except ImportError:
        with pytest.raises(TypeError, match="ml_dtypes"):
            tensor.numpy()
    sherd.save("n.safetensors", {"w": tensor})
    assert sherd.open("n.safetensors")["w"].bytes() == raw


def test_metadata(folder):
    sherd.save("m.safetensors", {"b": TENSORS["b"]}, metadata={"who": "me", "text": "ü"})
    assert sherd.open("m.safetensors").metadata == {"who": "me", "text": "ü"}


def test_refusals_name_object_offset_and_reason(folder):
    with pytest.raises(sherd.NotFoundError) as missing:
        sherd.open("nothing.safetensors")
    assert isinstance(missing.value, FileNotFoundError)
    assert missing.value.reason == "not-found" and missing.value.object == "nothing.safetensors"
    sherd.save("step", TENSORS, format="checkpoint")
    with sherd.open("step") as file:
        assert file.verify()
    shard = folder / "step_shard_0.shard"
    raw = bytearray(shard.read_bytes())
    place = raw.find(TENSORS["a.weight"].tobytes())
    raw[place] ^= 1
    shard.write_bytes(raw)
    report = sherd.verify("step")
    assert not report and all(isinstance(e, sherd.CorruptError) for e in report.errors)
    with pytest.raises(sherd.CorruptError) as damaged:
        sherd.open("step")["a.weight"].numpy()
    assert damaged.value.object.endswith("step_shard_0.shard") and damaged.value.offset is not None
    assert "byte" in str(damaged.value)
    again = pickle.loads(pickle.dumps(damaged.value))
    assert (str(again), again.offset, type(again)) == (str(damaged.value), damaged.value.offset, sherd.CorruptError)


@pytest.mark.parametrize("cut", [0, 1, 8, 20, 150, 300])
def test_a_file_that_was_cut_off_is_refused(folder, cut):
    sherd.save("m.safetensors", TENSORS)
    whole = (folder / "m.safetensors").read_bytes()
    (folder / "m.safetensors").write_bytes(whole[:cut])
    with pytest.raises(sherd.SherdError) as refusal:
        sherd.open("m.safetensors")
    assert "m.safetensors" in str(refusal.value)


def test_arguments_that_make_no_sense(folder):
    with pytest.raises(sherd.ArgumentError, match="format"):
        sherd.save("name", TENSORS)
    with pytest.raises(TypeError):
        sherd.save("m.safetensors", {"x": np.array(["text"])})
    with pytest.raises(sherd.UnsupportedError):
        sherd.save("m.npy", TENSORS)
    sherd.save("m.safetensors", TENSORS)
    with pytest.raises(sherd.ExistsError):
        sherd.convert("m.safetensors", "m.safetensors")
    with pytest.raises(sherd.ExistsError):
        sherd.save("m.safetensors", TENSORS, replace=False)
    with pytest.raises(KeyError):
        sherd.open("m.safetensors")["nothing"]
    for key in (99, (0, 0, 0, 0), np.s_[..., None]):
        with pytest.raises(IndexError):
            sherd.open("m.safetensors")["a.weight"][key]
    assert os.listdir() == ["m.safetensors"]


def test_progress_is_told_and_can_cancel(folder):
    value = np.zeros(1 << 22, "f4")
    seen = []
    sherd.save("m.safetensors", {"w": value}, progress=lambda done, total: seen.append((done, total)))
    assert seen and seen[-1][0] == seen[-1][1] > 0

    class Stop(Exception):
        pass

    def stop(done, total):
        raise Stop

    with pytest.raises(Stop):
        sherd.open("m.safetensors")["w"].numpy(progress=stop)
    with pytest.raises((Stop, sherd.CancelledError)):
        sherd.save("n.safetensors", {"w": value}, progress=stop)


def test_a_bar_is_drawn_on_terminals_only():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    quiet, shown = io.StringIO(), Terminal()
    for stream in (quiet, shown):
        with sherd.Bar("load", stream) as bar:
            bar(512, 1024)
            bar(1024, 1024)
    assert quiet.getvalue() == ""
    assert "100%" in shown.getvalue() and shown.getvalue().endswith("\n")


def test_ctrl_c_cancels_and_leaves_nothing(folder):
    script = """
import os, signal, threading, numpy, sherd
value = numpy.zeros(200 << 20, "u1")
signal.signal(signal.SIGINT, signal.default_int_handler)  # who runs this in the background may ignore it
threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    for i in range(100):
        sherd.save("m.safetensors", {"w": value})
    print("never")
except KeyboardInterrupt:
    print("stopped")
"""
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert out.stdout == "stopped\n"
    assert not [name for name in os.listdir() if name != "m.safetensors"]
    if os.path.exists("m.safetensors"):
        assert sherd.open("m.safetensors")["w"].shape == (200 << 20,)


def test_threads_share_a_file(folder):
    value = RANDOM.integers(0, 255, (64, 50000), dtype="u1")
    sherd.save("m.safetensors", {"w": value})
    file = sherd.open("m.safetensors")
    wrong = []

    def read(first):
        for row in range(first, 64, 8):
            if (file["w"][row].numpy() != value[row]).any():
                wrong.append(row)

    threads = [threading.Thread(target=read, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_child_after_fork_reads_and_saves(folder):
    sherd.save("m.safetensors", {"w": np.arange(3 << 20)})
    file = sherd.open("m.safetensors")
    file["w"].numpy()  # starts the workers of this process
    child = os.fork()
    if child == 0:
        try:
            right = (file["w"].numpy() == np.arange(3 << 20)).all()
            sherd.save("n.safetensors", {"w": file["w"]})
            os._exit(0 if right and sherd.open("n.safetensors").verify() else 1)
        except BaseException:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert (file["w"].numpy()[:5] == np.arange(5)).all()


def test_importing_brings_nothing_else():
    script = "import sys, sherd; print([m for m in ('numpy', 'torch', 'jax', 'ml_dtypes', 'json.tool') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert out.stdout == "[]\n"


def test_diff_and_stats(folder):
    changed = {**TENSORS, "b": TENSORS["b"] + (np.arange(11) == 4), "new": np.zeros(1)}
    del changed["half"]
    sherd.save("a.safetensors", TENSORS)
    sherd.save("b.npz", changed)
    found = sherd.diff("a.safetensors", "b.npz")
    kinds = {d.name: d.kind for d in found}
    assert found and kinds["b"] == "values" and kinds["half"] == "only-left" and kinds["new"] == "only-right"
    assert kinds["a.weight"] == "equal" and next(d for d in found if d.name == "b").values["first"] == 4
    assert not sherd.diff("a.safetensors", "a.safetensors")
    assert not sherd.diff("a.safetensors", "b.npz", match="b", tolerance=1)
    about = sherd.stats("a.safetensors")
    weight = TENSORS["a.weight"]
    assert about["a.weight"]["count"] == weight.size and about["a.weight"]["min"] == weight.min()
    assert abs(about["a.weight"]["mean"] - weight.mean(dtype="f8")) < 1e-6
    assert list(sherd.stats("a.safetensors", ["b", "half"])) == ["b", "half"]


def test_convert_merges_chooses_renames_and_casts(folder):
    sherd.save("a.safetensors", {"x": np.arange(3.0), "y": np.zeros(2)})
    sherd.save("b.safetensors", {"y": np.ones(2), "z": np.arange(2)})
    with pytest.raises(sherd.ExistsError):
        sherd.convert(["a.safetensors", "b.safetensors"], "c.npz")
    sherd.convert(["a.safetensors", "b.safetensors"], "c.npz", prefer="last", exclude="z", rename="s/^/m./", dtype="F16")
    same(sherd.open("c.npz"), {"m.x": np.arange(3, dtype="f2"), "m.y": np.ones(2, "f2")})
    assert not os.path.exists("c.npz.tmp")
