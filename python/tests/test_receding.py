"""Receding horizons: equality with the command, results, callbacks, restarts, errors."""
import copy
import json

import numpy as np
import pytest

import command
import dijoco

PUSH = {"scene": "cartpole.json", "horizon": 30, "timestep": 0.01,
        "initial": {"qpos": [0, 0.2]}, "ctrl": [0.5],
        "loss": [{"type": "qpos", "joint": "angle", "target": [0.4]},
                 {"type": "qvel", "joint": "x", "target": [1], "when": "running"},
                 {"type": "effort", "weight": 0.01}],
        "variables": [{"name": "ctrl"}],
        "optimizer": {"type": "adam", "rate": 0.3, "iterations": 6,
                      "receding": {"horizon": 12, "apply": 4}}}
PLAIN = dict(PUSH, optimizer={"type": "adam", "rate": 0.3, "iterations": 6})


@pytest.fixture
def folder(root):
    return root / "examples"


def test_equals_the_command(folder, tmp_path):
    (tmp_path / "cartpole.json").write_text((folder / "cartpole.json").read_text())
    (tmp_path / "task.json").write_text(json.dumps(PUSH))
    ours = dijoco.receding(tmp_path / "task.json")
    theirs = command.run("optimize", tmp_path / "task.json", "--json", "--out", tmp_path / "out")
    for key in ("loss_first", "loss_last", "iterations", "evaluations"):
        assert ours[key] == theirs[key], key
    assert ours["executed"] == theirs["receding"]["executed"] == 30
    final = json.loads((tmp_path / "out" / "final.json").read_text())
    np.testing.assert_array_equal(ours["ctrl"].ravel(), final["variables"][0]["value"])


def test_result(folder):
    run = dijoco.receding(PUSH, folder=folder)
    assert run["ctrl"].shape == (30, 1) and run["qpos"].shape == run["qvel"].shape == (31, 2)
    assert run["act"].shape == (31, 0) and run["window"].shape == (12,)
    assert run["loss_last"] < run["loss_first"] and run["unconverged_steps"] == 0
    assert run["loss_last"] == run["design"].evaluate(run["x"])[0]
    np.testing.assert_array_equal(run["values"]["ctrl"], run["ctrl"])
    assert [f["frame"] for f in run["frames"]] == list(range(0, 30, 4))
    for f in run["frames"]:
        assert f["loss_last"] <= f["loss_first"] and f["stop"] == "iterations"
    assert run["iterations"] == sum(f["iterations"] for f in run["frames"]) == 48
    # what is executed are steps from the start
    model = run["design"].model
    data = dijoco.Data(model)
    data.qpos[:] = [0, 0.2]
    for k, u in enumerate(run["ctrl"]):
        data.ctrl[:] = u
        data.step()
        np.testing.assert_allclose(data.qpos, run["qpos"][k + 1], rtol=0, atol=1e-9)


def test_arguments(folder):
    task = dijoco.receding(PUSH, folder=folder)
    same = dijoco.receding(PLAIN, 12, 4, folder=folder)
    np.testing.assert_array_equal(task["ctrl"], same["ctrl"])
    design = dijoco.Design(PLAIN, folder)
    given = dijoco.receding(design, horizon=12, apply=4)
    assert given["design"] is design
    np.testing.assert_array_equal(task["ctrl"], given["ctrl"])
    one = dijoco.receding(PLAIN, 12, iterations=1, type="lbfgsb", folder=folder)
    assert len(one["frames"]) == 30 and one["iterations"] <= 30


def test_candidates(folder):
    plain = dijoco.receding(PUSH, folder=folder)
    one = dijoco.receding(PUSH, candidates=1, spread=0.3, seed=5, folder=folder)
    np.testing.assert_array_equal(one["ctrl"], plain["ctrl"])
    assert all(f["candidate"] == 0 for f in plain["frames"])
    runs = [dijoco.receding(PUSH, candidates=20, spread=0.3, seed=seed, folder=folder)
            for seed in (5, 5, 6)]
    np.testing.assert_array_equal(runs[0]["ctrl"], runs[1]["ctrl"])
    assert (runs[0]["ctrl"] != runs[2]["ctrl"]).any()
    assert any(f["candidate"] > 0 for f in runs[0]["frames"])
    assert runs[0]["evaluations"] >= plain["evaluations"]
    with pytest.raises(dijoco.Error, match="spread"):
        dijoco.receding(PUSH, candidates=20, folder=folder)


def test_callback_and_restart(folder):
    whole = dijoco.receding(PUSH, folder=folder)
    seen = []

    def callback(frame, iteration, loss, x):
        seen.append((frame, iteration, loss, x))
        return (frame, iteration) != (8, 3)

    part = dijoco.receding(PUSH, callback=callback, folder=folder)
    assert [s[:2] for s in seen[:9]] == [(0, k) for k in range(7)] + [(4, 0), (4, 1)]
    assert seen[-1][:2] == (8, 3) and seen[0][3].shape == (12,)
    assert seen[0][2] == part["frames"][0]["loss_first"]
    assert part["executed"] == 8 and part["qpos"].shape == (9, 2) and len(part["frames"]) == 2
    np.testing.assert_array_equal(part["ctrl"][:8], whole["ctrl"][:8])
    task = copy.deepcopy(PUSH)
    task["ctrl"] = part["ctrl"]
    task["optimizer"]["receding"].update(frame=8, window=part["window"])
    rest = dijoco.receding(task, folder=folder)
    np.testing.assert_array_equal(rest["ctrl"], whole["ctrl"])
    np.testing.assert_array_equal(rest["qpos"], whole["qpos"])
    assert [f["frame"] for f in rest["frames"]] == list(range(8, 30, 4))


def test_errors(folder):
    with pytest.raises(ZeroDivisionError):
        dijoco.receding(PUSH, callback=lambda *_: 1 / 0, folder=folder)
    for how in ({"horizon": 31}, {"horizon": 0}, {"apply": 13}, {"apply": 0}, {"phases": 2},
                {"type": "luck"}):
        with pytest.raises(dijoco.Error, match=list(how)[0] if "type" not in how else "luck"):
            dijoco.receding(PUSH, folder=folder, **how)
    with pytest.raises(TypeError):
        dijoco.receding(PUSH, horizon=12.5, folder=folder)
    with pytest.raises(dijoco.Error, match="horizon"):   # none is given
        dijoco.receding(PLAIN, folder=folder)
    with pytest.raises(dijoco.Error, match="qpos0"):
        dijoco.receding(dict(PUSH, variables=[{"name": "qpos0"}]), folder=folder)
    with pytest.raises(ValueError, match="receding"):
        dijoco.optimize(PUSH, folder=folder)
