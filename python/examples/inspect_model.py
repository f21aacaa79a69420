"""Look at a model, and convert it.

    python inspect_model.py model.safetensors model.npz
"""

import sys

import sherd


def inspect(path):
    with sherd.open(path) as file:
        print(f"{path}: {file.format}, {len(file)} tensors, {file.nbytes / 2**20:.1f} MiB")
        for key, value in file.metadata.items():
            print(f"  {key}: {value}")
        report = file.verify()
        print("  fine" if report else "\n".join(f"  {error}" for error in report.errors))
        for name, about in sherd.stats(file).items():
            tensor = file[name]
            shown = f"{about['min']:.3g} to {about['max']:.3g}" if about["known"] else "no numbers"
            print(f"  {name}  {tensor.dtype}  {list(tensor.shape)}  {shown}")


if __name__ == "__main__":
    inspect(sys.argv[1])
    if len(sys.argv) > 2:
        sherd.convert(sys.argv[1], sys.argv[2], replace=True)
        print("the same" if not sherd.diff(sys.argv[1], sys.argv[2], any_dtype=True) else "not the same")
