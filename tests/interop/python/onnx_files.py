#!/usr/bin/env python3
"""Models of the real onnx package: initialisers of every type, raw and as numbers, and in files beside the model; and what
torch exports. Read here, every value."""

import os
import warnings

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

from _sherd import info, need, raw, refused, sherd, tensors

warnings.filterwarnings("ignore")

TYPES = {"FLOAT": "F32", "UINT8": "U8", "INT8": "I8", "UINT16": "U16", "INT16": "I16", "INT32": "I32", "INT64": "I64",
         "BOOL": "BOOL", "FLOAT16": "F16", "DOUBLE": "F64", "UINT32": "U32", "UINT64": "U64", "COMPLEX64": "C64",
         "COMPLEX128": "complex128", "BFLOAT16": "BF16", "FLOAT8E4M3FN": "F8_E4M3", "FLOAT8E4M3FNUZ": "F8_E4M3FNUZ",
         "FLOAT8E5M2": "F8_E5M2", "FLOAT8E5M2FNUZ": "F8_E5M2FNUZ", "FLOAT8E8M0": "F8_E8M0"}


def model(initializers):
    value = helper.make_tensor_value_info
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", [value("x", TensorProto.FLOAT, [1])],
                              [value("y", TensorProto.FLOAT, [1])], initializer=initializers)
    made = helper.make_model(graph, producer_name="interop")
    entry = made.metadata_props.add()
    entry.key, entry.value = "author", "me"
    return made


def data(tensor, folder="."):
    return numpy_helper.to_array(tensor, folder).tobytes()


def check(path, wanted):
    found = tensors(path)
    need(info(path)["format"] == "onnx", path)
    need(list(found) == list(wanted), path, list(found))
    for name, (dtype, shape, values) in wanted.items():
        need(found[name]["dtype"] == dtype and found[name]["shape"] == shape, path, name, found[name])
        need(raw(path, name) == values, path, name, "other values")
    sherd("verify", path)


def types():
    wanted, initializers = {}, []
    for name, ours in TYPES.items():
        kind = getattr(TensorProto, name)
        array = numpy.array([0, 1, 1, 0]).reshape(2, 2).astype(helper.tensor_dtype_to_np_dtype(kind))
        for way in ("raw", "numbers"):
            if way == "raw":
                tensor = helper.make_tensor(f"{name}.raw", kind, [2, 2], array.tobytes(), raw=True)
            else:
                tensor = helper.make_tensor(f"{name}.numbers", kind, [2, 2], array.flatten().tolist())
            initializers.append(tensor)
            wanted[tensor.name] = (ours, [2, 2], data(tensor))
    onnx.save(model(initializers), "types.onnx")
    check("types.onnx", wanted)
    need(info("types.onnx")["metadata"]["author"] == "me", "no metadata_props")


def external():
    arrays = {f"w{i}": numpy.arange(i * 1000, dtype=numpy.float32).reshape(-1, 10) for i in range(1, 5)}
    wanted = {name: ("F32", list(a.shape), a.tobytes()) for name, a in arrays.items()}
    for one in (True, False):
        path = "one.onnx" if one else "many.onnx"
        made = model([numpy_helper.from_array(a, name) for name, a in arrays.items()])
        onnx.save(made, path, save_as_external_data=True, all_tensors_to_one_file=one, location="data.bin" if one else None,
                  size_threshold=0)
        check(path, wanted)
        sherd("convert", path, path + ".safetensors")
    os.remove("data.bin")
    need("data.bin" in refused("info", "one.onnx"), "a missing file is not named")


def exported():
    import torch

    network = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    try:
        torch.onnx.export(network, torch.randn(1, 4), "net.onnx", dynamo=False)
    except Exception as reason:  # the exporter needs packages that are not pinned here
        print("torch.onnx.export() is not tried:", str(reason).split("\n")[0])
        return
    state = network.state_dict()
    found = tensors("net.onnx")
    for name, tensor in state.items():
        need(name in found and raw("net.onnx", name) == tensor.numpy().tobytes(), name, list(found))


for part in (types, external, exported):
    part()
