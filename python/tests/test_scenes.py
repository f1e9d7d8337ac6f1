"""Tasks with several scenes: sums of the scenes' own losses, by any number of threads, as the
command has them."""
import copy
import json

import numpy as np
import pytest

import command
import dijoco
from test_task import SWING, same

SCENES = [{"name": "first"},
          {"name": "late", "initial": {"qpos": [0, 0.2]}, "set": {"joint/angle/damping": [0.3]},
           "weight": 0.5},
          {"name": "short", "loss": [{"type": "qpos", "joint": "x", "target": [0.1]}]}]
TASK = dict(SWING, scenes=SCENES,
            variables=[{"name": "ctrl"}, {"name": "body/cart/mass", "min": 0.1}])


@pytest.fixture
def folder(root, tmp_path):
    (tmp_path / "cartpole.json").write_text((root / "examples" / "cartpole.json").read_text())
    (tmp_path / "task.json").write_text(json.dumps(TASK))
    return tmp_path


def alone(k):
    """The task of one scene."""
    task = copy.deepcopy(TASK)
    scene = task.pop("scenes")[k]
    own = {key: value for key, value in scene.items() if key not in ("name", "weight")}
    return dict(task, **own)


def test_grad_is_the_commands(folder):
    ours = dijoco.grad(folder / "task.json", check=True)
    same(ours, command.run("grad", folder / "task.json", "--json", "--check"))
    assert ours["status"] == "ok" and all(c["passed"] for c in ours["certificate"])
    assert [t["scene"] for t in ours["terms"]] == ["first"] * 3 + ["late"] * 3 + ["short"]
    assert [s["weight"] for s in ours["scenes"]] == [1, 0.5, 1] and ours["steps"] == 90


def test_sum(folder):
    design = dijoco.Design(TASK, folder)
    assert design.scenes == ["first", "late", "short"] and len(design.models) == 3
    x = design.x0 * 1.1
    loss, gradient = design.evaluate(x)
    each = [dijoco.Design(alone(k), folder).evaluate(x) for k in range(3)]
    np.testing.assert_array_equal(design.scene_losses(), [e[0] for e in each])
    assert loss == pytest.approx(each[0][0] + 0.5 * each[1][0] + each[2][0], rel=1e-14)
    np.testing.assert_allclose(gradient, each[0][1] + 0.5 * each[1][1] + each[2][1], rtol=1e-12)
    for threads in (1, 2, 3):
        other = dijoco.Design(TASK, folder, threads=threads)
        assert other.evaluate(x)[0] == loss
        np.testing.assert_array_equal(other.evaluate(x)[1], gradient)
    one = dijoco.Design(alone(0), folder)
    assert one.scenes == [] and one.scene_losses().shape == (1,)
    assert (design.spread(4) == 0).all()   # at rest
    moving = dijoco.Design(dict(TASK, initial={"qpos": [0, 0.2], "qvel": [1, 0.5]}), folder)
    assert (moving.spread(4) > 0).all()


def test_each_scene(folder):
    """Losses and gradients of each, which the sum weighs."""
    design = dijoco.Design(TASK, folder, threads=2)
    x = design.x0 * 1.1
    losses, gradients = design.evaluate_scenes(x)
    for k in range(3):
        loss, gradient = dijoco.Design(alone(k), folder).evaluate(x)
        assert losses[k] == loss
        np.testing.assert_array_equal(gradients[k], gradient)
    np.testing.assert_array_equal(design.weights, [1, 0.5, 1])
    same_losses, none = design.evaluate_scenes(x, gradient=False)
    np.testing.assert_array_equal(same_losses, losses)
    assert none is None


def test_models(folder):
    """Scenes may be models, their own or the task's."""
    model = dijoco.Model.load(folder / "cartpole.json")
    task = dict(TASK, scene=model, scenes=[dict(TASK["scenes"][0]), TASK["scenes"][1],
                                           dict(TASK["scenes"][2], scene=model)])
    assert dijoco.Design(task).evaluate(dijoco.Design(TASK, folder).x0)[0] == \
        dijoco.Design(TASK, folder).evaluate(dijoco.Design(TASK, folder).x0)[0]


@pytest.mark.parametrize("kind", ["adam", "lbfgsb"])
def test_optimize(folder, kind):
    runs = [dijoco.optimize(TASK, folder=folder, type=kind, iterations=4, threads=k)
            for k in (1, 2, 3)]
    for run in runs[1:]:
        np.testing.assert_array_equal(run["x"], runs[0]["x"])
    assert runs[0]["loss_last"] < runs[0]["loss_first"]
    theirs = command.run("optimize", folder / "task.json", "--json", "--out", folder / "out",
                         "--optimizer", kind, "--iterations", "4")
    for key in ("loss_first", "loss_last", "iterations", "evaluations", "stop"):
        assert runs[0][key] == theirs[key], key
    again = dijoco.Design(folder / "out" / "task.json")
    assert again.evaluate(again.x0)[0] == runs[0]["loss_last"]


@pytest.mark.parametrize("scene, text", [
    ({"colour": 1}, "scenes.1.: unknown key 'colour'"),
    ({"name": "first"}, "scenes.1.: name: 'first' is that of scenes.0., too"),
    ({"horizon": 20}, "scenes.1. '1': variable 'ctrl' has another size"),
    ({"set": {"body/cart/mass": [9]}}, "'1': variable 'body/cart/mass' begins with other"),
    ({"loss": [{"type": "qpos", "joint": "knee", "target": 1}]},
     "scenes.1. '1': loss.0.: there is no joint 'knee'")])
def test_errors(folder, scene, text):
    with pytest.raises(dijoco.Error, match=text):
        dijoco.Design(dict(TASK, scenes=[{"name": "first"}, scene]), folder)
