"""Examples in docstrings and in README.md are run."""

import doctest
import importlib
import os
import re

import pytest

MODULES = ["sherd", "sherd._file", "sherd._tensor", "sherd._progress", "sherd._checkpoint", "sherd.rows", "sherd.graph"]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name, folder):
    module = importlib.import_module(name)
    failed, tried = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert failed == 0
    assert tried or name == "sherd"


def test_readme(folder):
    """The lines that need no more than numpy; those of torch are tried by python/tests/torch."""
    path = os.path.join(os.environ.get("SHERD_SOURCE", os.path.join(os.path.dirname(__file__), "..", "..")), "python", "README.md")
    blocks = re.findall(r"```python\n(.*?)```", open(path).read(), re.S)
    first = next(block for block in blocks if "sherd.save(" in block)
    exec(compile(first, "README.md", "exec"), {})
    assert os.path.exists("model.npz")
