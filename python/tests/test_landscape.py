"""Landscapes of a task."""
import numpy as np
import pytest

import dijoco

SCENE = {"dijoco_model": 1, "option": {"contact": "damped", "alpha": 1.5, "timestep": 0.01},
         "bodies": [{"name": "world"}, {"name": "ball", "mass": 1, "inertia": [1, 1, 1]}],
         "joints": [{"name": "z", "type": "slide", "body": "ball", "axis": [0, 0, 1]}],
         "geoms": [{"type": "plane", "body": "world"}, {"body": "ball", "size": [0.1, 0, 0]}]}


@pytest.fixture
def design(tmp_path):
    import json
    (tmp_path / "scene.json").write_text(json.dumps(SCENE))
    task = {"scene": "scene.json", "horizon": 30, "initial": {"qpos": [0.5]},
            "loss": [{"type": "qpos", "joint": "z", "target": 0.3}], "variables": [{"name": "qpos0"}]}
    return dijoco.Design(task, folder=tmp_path)


def test_landscape(design):
    found = design.landscape("qpos0", 0, (0.3, 0.6), 21)
    assert found["values"].shape == found["loss"].shape == found["gradient"].shape == (21,)
    np.testing.assert_allclose(found["values"], np.linspace(0.3, 0.6, 21), atol=1e-15)
    loss, gradient = design.evaluate([found["values"][7]])
    assert found["loss"][7] == loss and found["gradient"][7] == gradient[0]
    assert found["range"] == found["loss"].max() - found["loss"].min()
    np.testing.assert_allclose(found["total_variation"], np.abs(np.diff(found["loss"])).sum())
    np.testing.assert_allclose(found["gradient_total_variation"],
                               np.abs(np.diff(found["gradient"])).sum())
    error = np.abs(found["reconstructed"] - found["loss"]).max()
    np.testing.assert_allclose(found["reconstruction_error"], error)
    assert error < 0.05 * found["range"] and found["missing"] == found["unconverged"] == 0


def test_refused(design):
    with pytest.raises(ValueError, match="no variable 'qvel0'"):
        design.landscape("qvel0")
    with pytest.raises(IndexError, match="has 1 entries"):
        design.landscape("qpos0", 1)
    with pytest.raises(ValueError, match="two samples"):
        design.landscape("qpos0", 0, (0, 1), 1)
