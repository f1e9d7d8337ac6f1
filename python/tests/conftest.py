"""Tests run on the tree's package unless another one is installed."""
import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "common"))   # pages.py
if "DIJOCO_TEST_INSTALLED" not in os.environ:
    sys.path.insert(0, str(ROOT / "python"))


@pytest.fixture
def root():
    return ROOT


@pytest.fixture
def shown(tmp_path, monkeypatch):
    """Runs a block of the manual (pages.Block) alone, where only its own files are; its names."""
    for folder in ("models", "examples", "tests"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    monkeypatch.chdir(tmp_path)

    def run(block):
        scope = {"__name__": "__main__"}
        exec(compile("\n" * (block.line - 1) + block.code, block.page, "exec"), scope)
        return scope
    return run


@pytest.fixture
def cartpole():
    import dijoco
    return dijoco.Model.load(ROOT / "examples" / "cartpole.json")


@pytest.fixture
def box():
    import dijoco
    return dijoco.Model.load(ROOT / "examples" / "box.json")
