#!/usr/bin/env python3
"""Folders of the real transformers: architectures with random weights, in one file and in several, as safetensors; read
here, and what is written here by from_pretrained()."""

import glob
import json
import os
import shutil

import torch
import transformers

from _sherd import info, need, raw, refused, sherd, tensors

ARCHITECTURES = [
    (transformers.LlamaConfig, transformers.LlamaForCausalLM,
     dict(hidden_size=64, intermediate_size=128, num_hidden_layers=11, num_attention_heads=4, num_key_value_heads=2,
          vocab_size=256)),
    (transformers.GPT2Config, transformers.GPT2LMHeadModel,
     dict(n_embd=64, n_layer=2, n_head=4, vocab_size=256, n_positions=64)),
    (transformers.BertConfig, transformers.BertModel,
     dict(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, vocab_size=256)),
]


def data_of(t):
    return t.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def check(folder, state):
    """Whatever is stored is what the model has; tied weights are stored once."""
    found = tensors(folder)
    need(info(folder)["format"] == "huggingface", folder, info(folder)["format"])
    need(found and set(found) <= set(state), folder, sorted(set(found) - set(state))[:5])
    for name in found:
        need(raw(folder, name) == data_of(state[name]), folder, name, "other bytes")
    sherd("verify", folder)


def same_model(model, folder, kind):
    again = kind.from_pretrained(folder)
    for (name, a), (other, b) in zip(model.state_dict().items(), again.state_dict().items(), strict=True):
        need(name == other and torch.equal(a, b), folder, name, "loaded otherwise")


def check_torch_index(state):
    """Files of torch.save() and their index, as transformers wrote them before safetensors."""
    os.makedirs("torch")
    names = sorted(state)
    halves = {"pytorch_model-00001-of-00002.bin": names[::2], "pytorch_model-00002-of-00002.bin": names[1::2]}
    for file, part in halves.items():
        torch.save({n: state[n].clone() for n in part}, f"torch/{file}")
    with open("torch/pytorch_model.bin.index.json", "w") as f:
        json.dump({"metadata": {"total_size": 1}, "weight_map": {n: f for f, part in halves.items() for n in part}}, f)
    check("torch", state)
    sherd("convert", "torch", "torch.safetensors")
    need(set(tensors("torch.safetensors")) == set(state), "torch.safetensors")
    os.remove("torch/pytorch_model-00002-of-00002.bin")
    need("pytorch_model-00002-of-00002.bin" in refused("info", "torch"), "the file that is missing is not named")
    shutil.rmtree("torch")
    os.remove("torch.safetensors")


def main():
    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()
    for config, kind, options in ARCHITECTURES:
        torch.manual_seed(15)
        model = kind(config(**options)).to(torch.bfloat16)
        state = model.state_dict()
        name = kind.__name__
        model.save_pretrained(f"{name}-one")
        model.save_pretrained(f"{name}-several", max_shard_size="100KB")
        need(len(glob.glob(f"{name}-several/*.safetensors")) > 1, name, "one file")
        check(f"{name}-one", state)
        check(f"{name}-several", state)
        # Ours, cut between layers, in their place.
        os.makedirs(f"{name}-ours")
        shutil.copy(f"{name}-one/config.json", f"{name}-ours")
        sherd("convert", f"{name}-several", f"{name}-ours/model.safetensors.index.json", "--max-shard-size", "100K")
        need(len(glob.glob(f"{name}-ours/*.safetensors")) > 1, name, "one file of ours")
        check(f"{name}-ours", state)
        same_model(model, f"{name}-ours", kind)
        # By way of a checkpoint.
        sherd("convert", f"{name}-one", f"{name}-set", "--to", "checkpoint", "--shards", "2")
        os.makedirs(f"{name}-back")
        shutil.copy(f"{name}-one/config.json", f"{name}-back")
        sherd("convert", f"{name}-set", f"{name}-back/model.safetensors")
        same_model(model, f"{name}-back", kind)
        check_torch_index(state)
        # A run of the trainer has its checkpoints beside each other.
        os.makedirs("run")
        shutil.move(f"{name}-one", "run/checkpoint-9")
        shutil.move(f"{name}-several", "run/checkpoint-10")
        need(len(info("run")["tensors"]) == len(info("run/checkpoint-10")["tensors"]), "run")
        shutil.rmtree("run")


main()
