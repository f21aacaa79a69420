"""safetensors as the tests of safetensors see it, made of sherd: put this folder before the real one."""

import ctypes

from sherd import _core, _types
from sherd._safetensors import SafetensorError, deserialize as _open, safe_open, serialize as _serialize

__version__ = "0.8.0"
_NAMES = {**{v: k for k, v in _types._TORCH.items()}, **{k: k for k in _types._TORCH}}


class TensorSpec:
    def __init__(self, *, dtype, shape, data_ptr, data_len):
        if dtype not in _NAMES:
            raise SafetensorError(f"dtype {dtype} is invalid")
        self.dtype, self.data_ptr, self.data_len = _NAMES[dtype], data_ptr, data_len
        self.shape = list(shape)
        if self.dtype == "F4" and self.shape:
            self.shape[-1] *= 2


def serialize(tensor_dict, metadata=None):
    items = []
    for name, spec in tensor_dict.items():
        if not isinstance(spec, TensorSpec):
            raise TypeError("a TensorSpec is needed")
        data = (ctypes.c_char * spec.data_len).from_address(spec.data_ptr) if spec.data_len else b""
        items.append((name, spec.dtype, tuple(spec.shape), data, None, None))
    return _serialize(items, metadata)


def serialize_file(tensor_dict, filename, metadata=None):
    with open(filename, "wb") as file:
        file.write(serialize(tensor_dict, metadata))


def deserialize(data):
    with _open(data) as file:
        return [(n, {"shape": list(t.shape), "dtype": t.dtype, "data": bytearray(t.bytes())}) for n, t in file.items()]
