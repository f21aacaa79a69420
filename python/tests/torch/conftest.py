import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder that is the current one, too."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
