"""Element types: what numpy, torch and the buffer protocol call those of the library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core

if TYPE_CHECKING:
    import numpy
    import torch

# numpy's own types, and the characters of the buffer protocol.
_NUMPY = {
    "BOOL": ("?", "?"),
    "U8": ("u1", "B"),
    "I8": ("i1", "b"),
    "U16": ("<u2", "H"),
    "I16": ("<i2", "h"),
    "U32": ("<u4", "I"),
    "I32": ("<i4", "i"),
    "U64": ("<u8", "Q"),
    "I64": ("<i8", "q"),
    "F16": ("<f2", "e"),
    "F32": ("<f4", "f"),
    "F64": ("<f8", "d"),
    "C64": ("<c8", ""),
}
# Those that the package ml_dtypes has.
_ML_DTYPES = {
    "BF16": "bfloat16",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
    "F8_E8M0": "float8_e8m0fnu",
}
_TORCH = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "U16": "uint16",
    "I16": "int16",
    "U32": "uint32",
    "I32": "int32",
    "U64": "uint64",
    "I64": "int64",
    "F16": "float16",
    "BF16": "bfloat16",
    "F32": "float32",
    "F64": "float64",
    "C64": "complex64",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
    "F8_E8M0": "float8_e8m0fnu",
    "F4": "float4_e2m1fn_x2",
}
_TORCH_NAMES = {name: dtype for dtype, name in _TORCH.items()}
_ML_NAMES = {name: dtype for dtype, name in _ML_DTYPES.items()}
_NUMPY_NAMES = {
    "bool": "BOOL",
    "uint8": "U8",
    "int8": "I8",
    "uint16": "U16",
    "int16": "I16",
    "uint32": "U32",
    "int32": "I32",
    "uint64": "U64",
    "int64": "I64",
    "float16": "F16",
    "float32": "F32",
    "float64": "F64",
    "complex64": "C64",
    **_ML_NAMES,
}
_sizes: dict[str, tuple[int, int]] = {}


def block_of(dtype: str) -> tuple[int, int]:
    """Elements and bytes of a block; bytes 0 where the shape does not tell the size."""
    if not _sizes:
        _sizes.update({name: (elements, size) for name, elements, size in _core.dtypes()})
    return _sizes.get(dtype, (1, 0))


def item_bytes(dtype: str) -> int:
    """Bytes of one element; 0 where none stands by itself."""
    elements, size = block_of(dtype)
    return size if elements == 1 else 0


def format_char(dtype: str) -> str:
    """For the buffer protocol; "" where it has none."""
    return _NUMPY.get(dtype, ("", ""))[1]


def numpy_dtype(dtype: str) -> numpy.dtype[Any]:
    import numpy

    if dtype in _NUMPY:
        return numpy.dtype(_NUMPY[dtype][0])
    if dtype not in _ML_DTYPES:
        raise TypeError(f"numpy has no type for {dtype}; raw bytes are in memoryview(tensor)")
    try:
        import ml_dtypes
    except ImportError as cause:
        raise TypeError(f"numpy has no type for {dtype} without the package ml_dtypes") from cause
    found: numpy.dtype[Any] = numpy.dtype(getattr(ml_dtypes, _ML_DTYPES[dtype]))
    return found


def torch_dtype(dtype: str) -> torch.dtype:
    import torch

    found = getattr(torch, _TORCH.get(dtype, ""), None)
    if not isinstance(found, torch.dtype):
        raise TypeError(f"this torch has no type for {dtype}")
    return found


def dtype_of_torch(dtype: torch.dtype) -> str:
    name = str(dtype).removeprefix("torch.")
    if name not in _TORCH_NAMES:
        raise TypeError(f"torch's {name} cannot be stored")
    return _TORCH_NAMES[name]


def dtype_of_numpy(dtype: numpy.dtype[Any]) -> str:
    if dtype.name not in _NUMPY_NAMES:
        raise TypeError(f"numpy's {dtype.name} cannot be stored")
    return _NUMPY_NAMES[dtype.name]
