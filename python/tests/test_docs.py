"""The code of docs/python.md runs, in one interpreter, from the tree's root."""
import re

import pytest

from mj import mujoco


def test_tour(root, monkeypatch, capsys):
    if not hasattr(mujoco, "__version__"):
        pytest.skip("the package mujoco is not installed")
    monkeypatch.chdir(root)
    blocks = re.findall(r"```python\n(.*?)```", (root / "docs" / "python.md").read_text(), re.S)
    assert len(blocks) == 5
    scope = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), scope)
    out = capsys.readouterr().out
    assert "True" in out and "nan" not in out
    assert scope["best"]["loss_last"] < scope["best"]["loss_first"]
