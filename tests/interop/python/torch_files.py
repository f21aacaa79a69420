#!/usr/bin/env python3
"""Files of the real torch.save(), zip and legacy: every type, views, nested dictionaries, optimizers, whole modules,
architectures of transformers; read here, every value, and written
here for torch.load(weights_only=True)."""

import argparse
import collections
import ctypes
import warnings

import torch

from _sherd import info, need, raw, refused, sherd, tensors

warnings.filterwarnings("ignore")

TYPES = {
    "bool": "BOOL", "uint8": "U8", "int8": "I8", "uint16": "U16", "int16": "I16", "uint32": "U32", "int32": "I32",
    "uint64": "U64", "int64": "I64", "float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64",
    "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2", "float8_e4m3fnuz": "F8_E4M3FNUZ",
    "float8_e5m2fnuz": "F8_E5M2FNUZ", "float8_e8m0fnu": "F8_E8M0", "float4_e2m1fn_x2": "F4", "complex64": "C64",
    "complex128": "complex128", "complex32": "complex32",
}


def of_type(name, shape=(3, 4)):
    dtype = getattr(torch, name)
    bits = torch.randint(0, 2 if name == "bool" else 256, (*shape, dtype.itemsize), dtype=torch.uint8)
    return bits.view(dtype).squeeze(-1)


def data(tensor):
    """As it is in C order, little-endian."""
    plain = tensor.detach().resolve_conj().resolve_neg().contiguous().clone()
    storage = plain.untyped_storage()
    return ctypes.string_at(storage.data_ptr(), storage.nbytes())


def check(path, wanted, format):
    """Names, shapes and values of tensors are these."""
    found = tensors(path)
    need(info(path)["format"] == format, path, info(path)["format"])
    need(list(found) == list(wanted), path, "other names", list(found), list(wanted))
    for name, tensor in wanted.items():
        t = found[name]
        dtype = str(tensor.dtype).removeprefix("torch.")
        shape = list(tensor.shape)
        if dtype == "float4_e2m1fn_x2":
            shape[-1] *= 2
        need(t["dtype"] == TYPES[dtype] and t["shape"] == shape, path, name, t)
        need(raw(path, name) == data(tensor), path, name, "other values")
    sherd("verify", path)


def check_ours(path, wanted):
    """Written again here, torch loads it: as it is, and mapped."""
    sherd("convert", path, "ours.pt", "--replace")
    sherd("verify", "ours.pt")
    for mmap in (False, True):
        loaded = torch.load("ours.pt", weights_only=True, mmap=mmap)
        need(list(loaded) == list(wanted), path, "torch has other names")
        for name, tensor in wanted.items():
            t = loaded[name]
            need(t.dtype == tensor.dtype and t.shape == tensor.shape, path, name, t.dtype, t.shape)
            need(data(t) == data(tensor), path, name, "torch has other values")
    return loaded


def save(value, wanted, name="theirs"):
    """Both formats of the same."""
    torch.save(value, f"{name}.pt")
    check(f"{name}.pt", wanted, "torch")
    torch.save(value, f"{name}-legacy.pt", _use_new_zipfile_serialization=False)
    check(f"{name}-legacy.pt", wanted, "torch-legacy")
    check_ours(f"{name}-legacy.pt", wanted)
    return check_ours(f"{name}.pt", wanted)


def dtypes():
    state = collections.OrderedDict((name, of_type(name)) for name in TYPES)
    save(state, state)


def views():
    x = torch.arange(60.0).reshape(5, 12)
    z = (torch.arange(4) * 1j + 1).to(torch.complex64)
    v = {"x": x, "t": x.t(), "step": x[:, ::2], "rows": x[1:3], "expanded": x[:1].expand(7, 12), "zero": x[:0],
         "scalar": torch.tensor(3), "diagonal": x[:5, :5].diagonal(), "parameter": torch.nn.Parameter(x),
         "overlapping": x.flatten().unfold(0, 4, 2), "conj": z.conj(), "neg": z.clone().conj().imag, "real": z.clone().real,
         "permuted": torch.arange(120).reshape(2, 3, 4, 5).permute(3, 1, 0, 2)}
    save(v, v)
    # Through windows and in pieces: larger than what is read at once.
    big = torch.arange(3 << 20, dtype=torch.int32).reshape(1536, 2048)
    v = {"t": big.t(), "columns": big[:, 100:200], "odd": big.t()[1::2, ::3], "flip": big.reshape(3, 512, 2048).permute(1, 2, 0)}
    save(v, v, "big")


def nested():
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.randn(2, 3)).sum().backward()
    optimizer.step()
    value = {"epoch": 3, "loss": 0.25, "name": "run", "model": model.state_dict(), "optimizer": optimizer.state_dict(),
             "args": argparse.Namespace(lr=1), "shape": torch.Size([2, 3]), "dtype": torch.bfloat16,
             "device": torch.device("cuda:1"), "none": None, "list": [1, 2]}
    wanted = {f"model.{k}": t for k, t in model.state_dict().items()}
    for i, parts in optimizer.state_dict()["state"].items():
        wanted.update({f"optimizer.state.{i}.{k}": t for k, t in parts.items()})
    save(value, wanted)
    metadata = info("theirs.pt")["metadata"]
    for key, text in {"epoch": "3", "loss": "0.25", "name": "run", "shape": "[2, 3]", "dtype": "torch.bfloat16",
                      "device": "cuda:1", "none": "null", "list": "[1, 2]", "optimizer.param_groups.0.lr": "0.001",
                      "args": '{"$object": "argparse.Namespace", "state": {"lr": 1}}'}.items():
        need(metadata[key] == text, key, metadata[key])
    save(model, model.state_dict(), "module")
    torch.jit.save(torch.jit.script(model), "script.pt")
    check("script.pt", model.state_dict(), "torch")


def others():
    one = torch.arange(6)
    torch.save(one, "one.pt")
    check("one.pt", {"one": one}, "torch")
    torch.save([one, {"a": one.t()}], "list.pt")
    check("list.pt", {"0": one, "1.a": one}, "torch")
    sparse = torch.eye(3).to_sparse().coalesce()
    torch.save({"s": sparse}, "sparse.pt")
    check("sparse.pt", {"s.indices": sparse.indices(), "s.values": sparse.values()}, "torch")
    torch.serialization.set_crc32_options(False)
    torch.save({"one": one}, "unchecked.pt")
    torch.serialization.set_crc32_options(True)
    check("unchecked.pt", {"one": one}, "torch")
    need(b"no-checksum" in sherd("verify", "--json", "unchecked.pt"), "nothing said of checksums")
    with open("one.pt", "rb") as file:
        bytes_ = bytearray(file.read())
    at = bytes_.find(data(one))
    bytes_[at + 8] ^= 1
    with open("damaged.pt", "wb") as file:
        file.write(bytes_)
    need("data/0" in refused("verify", "damaged.pt"), "damage is not told")
    need("data/0" in refused("cat", "damaged.pt", "damaged"), "damage is handed out")


def architectures():
    from transformers import BertConfig, BertModel, LlamaConfig, LlamaForCausalLM

    small = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
             "vocab_size": 100}
    llama = LlamaForCausalLM(LlamaConfig(**small, tie_word_embeddings=True)).to(torch.bfloat16)
    bert = BertModel(BertConfig(**small))
    for name, model in {"llama": llama, "bert": bert}.items():
        loaded = save(model.state_dict(), model.state_dict(), name)
        if name == "llama":
            need(loaded["lm_head.weight"].data_ptr() == loaded["model.embed_tokens.weight"].data_ptr(), "untied")


for part in (dtypes, views, nested, others, architectures):
    part()
