import numpy
import sherd
from sherd import _core
from sherd._file import item_of
from sherd._safetensors import deserialize, opened, serialize


def save(tensor_dict, metadata=None):
    both = [item_of(name, value) for name, value in tensor_dict.items()]
    return serialize([item for item, _ in both], metadata)


def save_file(tensor_dict, filename, metadata=None):
    sherd.save(filename, tensor_dict, metadata=metadata, format="safetensors")


def load(data):
    with deserialize(data) as file:
        return {name: tensor.numpy() for name, tensor in file.items()}


def load_file(filename, *, backend="mmap"):
    with opened(filename) as file:
        return {name: tensor.numpy() for name, tensor in file.items()}
