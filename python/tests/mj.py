"""MuJoCo for tests: the package mujoco, or what its core bindings have where only these are
installed. Skips the test module where there is none."""
import importlib
import types

import pytest

mujoco = pytest.importorskip("mujoco")
if not hasattr(mujoco, "MjModel"):
    _all = {}
    for _part in ("_structs", "_functions", "_enums", "_constants", "_callbacks", "_specs"):
        try:
            _all.update(vars(importlib.import_module("mujoco." + _part)))
        except ImportError:
            pytest.skip("MuJoCo's bindings are not installed", allow_module_level=True)
    mujoco = types.SimpleNamespace(**{k: v for k, v in _all.items() if not k.startswith("_")})
