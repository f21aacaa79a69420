"""Examples in docstrings and in README.md are run."""

import doctest
import importlib
import os

import pytest

MODULES = ["sherd", "sherd._file", "sherd._tensor", "sherd._progress"]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name, folder):
    module = importlib.import_module(name)
    failed, tried = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert failed == 0
    assert tried or name == "sherd"
