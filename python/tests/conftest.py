"""Tests run on the tree's package unless another one is installed."""
import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
if "DIJOCO_TEST_INSTALLED" not in os.environ:
    sys.path.insert(0, str(ROOT / "python"))


@pytest.fixture
def root():
    return ROOT


@pytest.fixture
def cartpole():
    import dijoco
    return dijoco.Model.load(ROOT / "examples" / "cartpole.json")


@pytest.fixture
def box():
    import dijoco
    return dijoco.Model.load(ROOT / "examples" / "box.json")
