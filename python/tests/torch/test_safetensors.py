"""sherd.torch beside the real safetensors: each reads what the other wrote."""

import pytest
import safetensors.torch as theirs
import sherd
import sherd.torch as ours
import torch

KINDS = [
    torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.int16, torch.uint16,
    torch.int32, torch.uint32, torch.int64, torch.uint64, torch.bool, torch.complex64, torch.float8_e4m3fn,
    torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz, torch.float8_e8m0fnu,
]  # fmt: skip


def raw(tensor):
    return tensor.contiguous().reshape(-1).view(torch.uint8)


def tensors():
    torch.manual_seed(3)
    made = {str(kind): torch.randint(0, 2, (3, 5)).to(torch.float32).to(kind) for kind in KINDS}
    made["scalar"] = torch.tensor(2.5)
    made["empty"] = torch.zeros(0, 4)
    return made


def same(a, b):
    assert sorted(a) == sorted(b)
    for name in a:
        assert a[name].dtype == b[name].dtype and a[name].shape == b[name].shape, name
        assert torch.equal(raw(a[name]), raw(b[name])), name


def test_each_reads_what_the_other_wrote(folder):
    ours.save_file(tensors(), "a.safetensors", {"k": "v"})
    theirs.save_file(tensors(), "b.safetensors", {"k": "v"})
    assert open("a.safetensors", "rb").read() == open("b.safetensors", "rb").read()
    same(theirs.load_file("a.safetensors"), tensors())
    same(ours.load_file("b.safetensors"), tensors())
    same(ours.load(ours.save(tensors())), tensors())
    assert ours.save(tensors()) == theirs.save(tensors())


def test_what_is_loaded_can_be_written_to(folder):
    ours.save_file(tensors(), "a.safetensors")
    loaded = ours.load_file("a.safetensors")
    loaded["torch.float32"].add_(1)
    same(ours.load_file("a.safetensors"), tensors())


def test_shards_verification_and_targets(folder):
    ours.save_file(tensors(), "m.safetensors.index.json", shards=3)
    assert len(list(folder.glob("m-*.safetensors"))) == 3
    same(ours.load_file("m.safetensors.index.json", verify=True), tensors())
    into = {"torch.float32": torch.zeros(3, 5), "torch.bfloat16": torch.zeros(3, 5, dtype=torch.float64)}
    ours.load_file("m.safetensors.index.json", into=into)
    assert torch.equal(into["torch.float32"], tensors()["torch.float32"])
    assert torch.equal(into["torch.bfloat16"], tensors()["torch.bfloat16"].double())
    with pytest.raises(ValueError, match="target"):
        ours.load_file("m.safetensors.index.json", into={"torch.float32": torch.zeros(2)})


def test_checkpoints_and_other_formats_load_too(folder):
    sherd.save("step", {"w": torch.arange(6.0).reshape(2, 3)}, format="checkpoint", shards=2)
    sherd.save("w.npz", {"w": torch.arange(6.0).reshape(2, 3)})
    for name in ("step", "w.npz"):
        assert torch.equal(ours.load_file(name, verify=True)["w"], torch.arange(6.0).reshape(2, 3))


def test_lazy_tensors_of_every_type(folder):
    ours.save_file(tensors(), "a.safetensors")
    with sherd.open("a.safetensors") as file:
        for name, value in tensors().items():
            assert torch.equal(raw(file[name].torch()), raw(value)), name
            assert torch.equal(raw(file[name].torch(copy=False)), raw(value)), name
            if value.dim() and value.numel():
                assert torch.equal(raw(file[name][1:, ::2].torch()), raw(value[1:, ::2])), name
        exported = torch.from_dlpack(file["torch.bfloat16"])
        assert torch.equal(raw(exported), raw(tensors()["torch.bfloat16"]))


def test_damage_is_told(folder):
    ours.save_file(tensors(), "a.safetensors")
    data = open("a.safetensors", "rb").read()
    open("a.safetensors", "wb").write(data[:-1])
    with pytest.raises(ours.SafetensorError, match="a.safetensors"):
        ours.load_file("a.safetensors")


@pytest.mark.parametrize("framework", ["pt", "np"])
def test_safe_open_is_as_theirs(folder, framework):
    value = torch.randn(6, 4)
    ours.save_file({"w": value, "v": value * 2}, "a.safetensors", {"k": "v"})
    with theirs.safe_open("a.safetensors", framework) as a, ours.safe_open("a.safetensors", framework) as b:
        assert list(a.keys()) == list(b.keys()) and a.metadata() == b.metadata()
        assert list(a.offset_keys()) == list(b.offset_keys())
        for key in (slice(1, 3), (slice(None), 2), (3, slice(1, 4)), (slice(0, 6, 2), slice(None))):
            assert (a.get_slice("w")[key] == b.get_slice("w")[key]).all()
        assert a.get_slice("w").get_shape() == b.get_slice("w").get_shape()
        assert a.get_slice("w").get_dtype() == b.get_slice("w").get_dtype()
