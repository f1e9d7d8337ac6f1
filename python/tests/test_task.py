"""Tasks: equality with the command, designs, optimisation, errors."""
import concurrent.futures
import copy
import json
import multiprocessing

import numpy as np
import pytest

import command
import dijoco

SWING = {"scene": "cartpole.json", "horizon": 30, "timestep": 0.01,
         "initial": {"qpos": [0, 0.2]}, "ctrl": [0.5],
         "loss": [{"type": "qpos", "joint": "angle", "target": [0.4]},
                  {"type": "qvel", "joint": "x", "target": [1], "when": "running"},
                  {"type": "effort", "weight": 0.01}],
         "variables": [{"name": "ctrl"}, {"name": "qpos0"}, {"name": "body/cart/mass"},
                       {"name": "option/gravity", "index": [2, 0]}]}


@pytest.fixture
def task(root, tmp_path):
    """SWING in a file beside its scene."""
    (tmp_path / "cartpole.json").write_text((root / "examples" / "cartpole.json").read_text())
    path = tmp_path / "task.json"
    path.write_text(json.dumps(SWING))
    return path


def same(ours, theirs, where=""):
    """Equal to the last bit; arrays may be shaped."""
    if isinstance(theirs, dict):
        for key in theirs:
            if key not in ("time", "threads", "gravity_ramp"):
                same(ours[key], theirs[key], where + "/" + key)
    elif isinstance(ours, np.ndarray):
        np.testing.assert_array_equal(ours.ravel(), theirs, where)
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs), where
        for i, (x, y) in enumerate(zip(ours, theirs)):
            same(x, y, "%s[%d]" % (where, i))
    else:
        assert ours == theirs, where


@pytest.mark.parametrize("check", [False, True])
def test_grad_is_the_commands(task, check):
    ours = dijoco.grad(task, check=check)
    theirs = command.run("grad", task, "--json", *(["--check"] if check else []))
    same(ours, theirs)
    assert set(theirs) == set(ours) and ours["status"] == "ok"
    assert ours["variables"][0]["gradient"].shape == (30, 1)
    assert ours["variables"][3]["gradient"].shape == (2,)
    if check:
        assert [c["name"] for c in ours["certificate"]] == ["ctrl", "qpos0", "body/cart/mass",
                                                            "option/gravity"]
        assert ours["certificate"][1]["analytic"] != 0


def test_seed_of_the_check(task):
    ours = dijoco.grad(task, check=True, seed=5)
    same(ours, command.run("grad", task, "--json", "--check", "--check-seed", 5))
    other = dijoco.grad(task, check=True)
    assert ours["certificate"][1]["analytic"] != other["certificate"][1]["analytic"]


def test_a_dict_is_a_task(task, root, cartpole):
    from_file = dijoco.grad(task)
    from_dict = dijoco.grad(SWING, folder=root / "examples")
    same(from_dict["variables"], json_like(from_file["variables"]))
    from_model = dijoco.grad(dict(SWING, scene=cartpole, ctrl=np.array([0.5])))
    same(from_model["variables"], json_like(from_file["variables"]))
    assert cartpole.option["timestep"] == 0.01
    with pytest.raises(dijoco.Error, match="cartpole.json"):
        dijoco.grad(SWING, folder=root / "models")
    with pytest.raises(TypeError, match="cannot hold a set"):
        dijoco.grad(dict(SWING, ctrl={1}))


def json_like(value):
    return json.loads(json.dumps(value, default=lambda a: a.ravel().tolist()))


@pytest.mark.parametrize("change, text", [
    ({"horizon": 0}, "horizon"), ({"horizons": 1}, "horizons"),
    ({"loss": [{"type": "speed"}]}, "speed"),
    ({"variables": [{"name": "body/none/mass"}]}, "none"),
    ({"initial": {"qpos": [0, 0, 0]}}, "qpos"), ({"integrator": "leapfrog"}, "integrator"),
    ({"scene": "none.json"}, "none.json")])
def test_bad_tasks(root, change, text):
    with pytest.raises(dijoco.Error, match=text):
        dijoco.grad(dict(SWING, **change), folder=root / "examples")


def test_design(root):
    design = dijoco.Design(SWING, folder=root / "examples")
    n = 30 + 2 + 1 + 2
    assert design.n == n and design.x0.shape == design.lower.shape == (n,)
    assert design.names == ["ctrl", "qpos0", "body/cart/mass", "option/gravity"]
    assert design.slice("body/cart/mass") == slice(32, 33)
    loss, gradient = design.evaluate(design.x0)
    rng = np.random.default_rng(6)
    x = design.x0 + 0.1 * rng.normal(size=n)
    _, gradient = design.evaluate(x)
    direction, h = rng.normal(size=n), 1e-5
    ends = [design.evaluate(x + s * h * direction, gradient=False) for s in (1, -1)]
    assert ends[0][1] is None
    difference = (ends[0][0] - ends[1][0]) / (2 * h)
    assert gradient @ direction == pytest.approx(difference, rel=1e-7)
    assert abs(gradient @ direction) > 1e-3
    assert design.evaluate(design.x0)[0] == loss
    values = design.values(x)
    assert values["ctrl"].shape == (30, 1) and values["body/cart/mass"][0] == x[32]
    np.testing.assert_array_equal(values["option/gravity"], x[33:])
    assert design.values()["body/cart/mass"] == [1]
    assert "35" in repr(design)


def test_model_at(root):
    """The design's model with its maps: a run of it has the design's loss."""
    design = dijoco.Design(root / "models" / "hammer" / "task.json")
    rng = np.random.default_rng(3)
    x = design.x0 + 0.003 * rng.normal(size=design.n)
    x = np.clip(x, design.lower, design.upper)
    model, values = design.model_at(x), design.values(x)
    data = dijoco.Data(model)
    data.reset("start")
    run = dijoco.rollout(model, values["ctrl"], data=data, gradient=False)
    off = run.qpos[-1, 1:4] - [0.7, 0.9, 0.04]
    assert off @ off == pytest.approx(design.evaluate(x, gradient=False)[0], rel=1e-6)
    assert model.param("body/head/pos")[0] == pytest.approx(values["length"][0])
    assert model.param("body/head/pos")[0] != design.model.param("body/head/pos")[0]
    assert (design.model_at().param("mesh/head/vert") == design.model.param("mesh/head/vert")).all()
    with pytest.raises(ValueError, match="x: expected shape"):
        design.model_at(x[1:])


def test_design_errors(root):
    design = dijoco.Design(SWING, folder=root / "examples")
    with pytest.raises(ValueError, match=r"x: expected shape \(35,\)"):
        design.evaluate(np.zeros(3))
    x = np.array(design.x0)
    x[32] = -1
    with pytest.raises(dijoco.Error, match="mass"):
        design.evaluate(x)
    assert np.isfinite(design.evaluate(design.x0)[0])  # the next call mends it
    with pytest.raises(ValueError, match="no variable 'qvel0'"):
        design.slice("qvel0")
    with pytest.raises(ValueError, match="no variable 'qvel0'"):
        design.certify("qvel0", 0, design.x0)
    with pytest.raises(ValueError, match="read-only"):
        design.x0[0] = 1


def test_a_wrong_gradient_has_no_certificate(root):
    design = dijoco.Design(SWING, folder=root / "examples")
    loss, gradient = design.evaluate(design.x0)
    assert design.certify("qpos0", loss, gradient)["passed"]
    gradient[design.slice("qpos0")] *= 1.001
    wrong = design.certify("qpos0", loss, gradient)
    assert not wrong["passed"] and wrong["gave_up"] is None and wrong["kink"] is None
    below, above = wrong["one_sided"]
    assert below == pytest.approx(above, rel=1e-3) == pytest.approx(wrong["difference"], rel=1e-3)


def test_whether_a_gradient_leads(root):
    """By slopes of runs, which Design.evaluate takes as well."""
    design = dijoco.Design(dict(SWING, variables=[{"name": "body/cart/mass"}, {"name": "ctrl"}]),
                           folder=root / "examples")
    loss, gradient = design.evaluate(design.x0)
    found = design.certify("body/cart/mass", loss, gradient)
    assert found["leads"] is True and found["secant_sides"] == [2, 2, 2]
    mass = design.slice("body/cart/mass")
    assert found["scale"] == pytest.approx(design.x0[mass][0])
    assert [step for step, _ in found["secants"]] == [1e-3, 1e-2, 5e-2]
    for (step, slope), foretold in zip(found["secants"], found["secant_gradients"]):
        move = np.zeros(design.n)
        move[mass] = step * found["scale"] * np.sign(found["analytic"] * gradient[mass])
        sides = [design.evaluate(design.x0 + sign * move)[0] for sign in (1, -1)]
        assert slope == pytest.approx((sides[0] - sides[1]) / (2 * step * found["scale"]), rel=1e-6)
        assert foretold == pytest.approx(found["analytic"], rel=1e-9)
    gradient *= -1
    wrong = design.certify("ctrl", loss, gradient)
    assert wrong["leads"] is False and wrong["secants"][0][1] * wrong["analytic"] < 0
    none = design.certify("ctrl", loss, gradient, runs=20)   # too few to begin
    assert (none["leads"], none["secants"], none["scale"]) == (None, [], None)


def test_certificates_share_their_runs(root):
    ours = dijoco.grad(SWING, check=True, folder=root / "examples", check_runs=40)
    runs = [c["runs"] for c in ours["certificate"]]
    assert max(runs) <= 40 and sum(runs) <= 40 + 5 * len(runs)
    last = ours["certificate"][-1]
    assert last["passed"] is False and "not begun" in last["gave_up"] and last["runs"] == 0
    assert ours["status"] == "check_failed"


def descent(root, **more):
    return dict(copy.deepcopy(SWING), variables=[{"name": "ctrl", "min": -2, "max": 2}], **more)


@pytest.mark.parametrize("kind", ["adam", "trust_region", "lbfgsb", "gauss_newton"])
def test_optimize(root, tmp_path, kind):
    iterations = 2 if kind == "gauss_newton" else 12   # which would come to the end
    task = descent(root, optimizer={"type": kind, "iterations": iterations})
    (tmp_path / "cartpole.json").write_text((root / "examples" / "cartpole.json").read_text())
    (tmp_path / "task.json").write_text(json.dumps(task))
    seen = []
    done = dijoco.optimize(task, folder=tmp_path,
                           callback=lambda k, loss, x: seen.append((k, loss, x)))
    assert [s[0] for s in seen] == list(range(done["iterations"] + 1))
    assert done["loss_last"] == min(s[1] for s in seen) < done["loss_first"] == seen[0][1]
    assert done["loss_last"] == done["design"].evaluate(done["x"])[0]
    np.testing.assert_array_equal(done["values"]["ctrl"].ravel(), done["x"])
    assert np.abs(done["x"]).max() <= 2
    theirs = command.run("optimize", tmp_path / "task.json", "--json", "--out", tmp_path / "out")
    for key in ("loss_first", "loss_last", "iterations", "evaluations", "best_iteration", "stop"):
        assert done[key] == theirs[key], key


def test_spread(root):
    design = dijoco.Design(descent(root, initial={"qvel": [0.5, -0.3]}), root / "examples")
    spread = design.spread()
    assert spread.shape == (1,) and 0 < spread[0] < 1
    np.testing.assert_array_equal(spread, design.spread(8, 3))
    assert design.spread(phases=1)[0] == 0
    rest = dijoco.Design(descent(root, initial={"qvel": [0, 0]}), root / "examples")
    assert rest.spread()[0] < 1e-15


def test_optimize_a_design(root):
    """One that is given: it tells how many losses were asked for, also from a callback."""
    task = descent(root, optimizer={"type": "lbfgsb", "iterations": 5})
    theirs = dijoco.optimize(task, folder=root / "examples")
    design = dijoco.Design(task, root / "examples")
    assert design.evaluations == 0
    seen = []
    done = dijoco.optimize(design, callback=lambda k, loss, x: seen.append(design.evaluations))
    assert done["design"] is design
    np.testing.assert_array_equal(done["x"], theirs["x"])
    assert seen[0] == 1 and np.all(np.diff(seen) >= 1)
    assert seen[-1] == done["evaluations"] == theirs["evaluations"] == design.evaluations
    design.evaluate(done["x"], gradient=False)
    with pytest.raises(dijoco.Error):
        design.evaluate(np.full(design.n, 1e200))
    assert design.evaluations == done["evaluations"] + 2


def test_optimize_stages(root):
    """Iterations are those of each stage; keys of other types and bad stages are refused."""
    stages = [{"iterations": 2}, {"iterations": 3}, {}]
    task = descent(root, optimizer={"type": "adam", "rate": 1e-3, "iterations": 4, "stages": stages})
    for iterations, each in ((None, [2, 3, 4]), (1, [1, 1, 1]), (0, [0, 0, 0])):
        seen = []
        r = dijoco.optimize(task, iterations, folder=root / "examples",
                            callback=lambda k, loss, x: seen.append(k))
        assert seen == [k for n in each for k in range(n + 1)]
        assert r["iterations"] == sum(each)
    for keys, words in (({"direction": "mean"}, "direction.*adam.*trust_region"),
                        ({"type": "gauss_newton", "radius": 1}, "radius.*gauss_newton.*lbfgsb")):
        with pytest.raises(dijoco.Error, match=words):
            dijoco.optimize(task, 1, folder=root / "examples", **keys)


def test_optimize_over_phases(root):
    """The mean over starts, by any number of threads."""
    task = descent(root, initial={"qvel": [0.5, -0.3]})
    one, three, other = (dijoco.optimize(task, 4, folder=root / "examples", type="lbfgsb", **how)
                         for how in ({}, {"phases": 3, "threads": 1}, {"phases": 3, "threads": 2}))
    assert one["loss_first"] != three["loss_first"] == other["loss_first"]
    np.testing.assert_array_equal(three["x"], other["x"])
    with pytest.raises(dijoco.Error, match="phases"):
        dijoco.optimize(task, folder=root / "examples", phases=0)


def test_components(tmp_path):
    """Hulls that touch share a vertex, and are one piece until they are moved apart."""
    box = [[x, y, z] for z in (0, 0.1) for y in (0, 0.1) for x in (0, 0.1)]
    scene = {"dijoco_model": 1, "bodies": [
                 {"name": "world"}, {"name": "b", "mass": 1, "inertia": [0.1, 0.1, 0.1]}],
             "joints": [{"name": "j", "type": "slide", "body": "b", "axis": [0, 0, 1]}],
             "meshes": [{"name": "m", "vert": box}, {"name": "n", "vert": box}],
             "geoms": [{"name": "g", "type": "mesh", "mesh": "m", "body": "b"},
                       {"name": "h", "type": "mesh", "mesh": "n", "body": "b",
                        "pos": [0.1, 0, 0]}]}
    (tmp_path / "s.json").write_text(json.dumps(scene))
    task = {"scene": "s.json", "horizon": 2, "loss": [{"type": "com", "target": [0, 0, 1]}],
            "contact": {"vertices": "all", "skin": 0}, "inertia_from_geom": True,
            "variables": [{"name": "mesh/*/vert"}], "connect": "auto"}
    design = dijoco.Design(task, tmp_path)
    assert design.n == 2 * 27 + 3 and design.components() == 1   # and where the joint is
    x = np.array(design.x0)
    x[design.slice("mesh/n/vert")] += np.tile([0.01, 0, 0], 9)
    assert design.components(x) == 2 and design.components() == 1
    done = dijoco.optimize(design, 3)
    assert done["flattened"] == 0 and design.components(done["x"]) == 1
    with pytest.raises(dijoco.Error, match="needs .*vertices"):
        dijoco.Design(dict(task, contact={"vertices": "hull"}), tmp_path)


def test_direction(root):
    """A key by the name of its choice, and what ended a run."""
    task, folder = descent(root), root / "examples"
    how = {"folder": folder, "type": "trust_region", "radius": 1e-3, "patience": 2}
    runs = {}
    for direction in ("mean", "adam", "gradient"):
        points = []
        done = dijoco.optimize(task, 40, lambda k, loss, x: points.append(x), direction=direction,
                               **how)
        steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
        assert done["stop"] in ("patience", "iterations")
        assert np.allclose(steps[:2], 1e-3, rtol=1e-9)
        runs[direction] = points
    assert np.array_equal(runs["mean"][1], runs["gradient"][1])
    assert not np.allclose(runs["mean"][1], runs["adam"][1], atol=1e-6)
    assert dijoco.optimize(task, 40, direction="gradient", **dict(how, radius=1e-9))["stop"] == \
        "patience"
    with pytest.raises(dijoco.Error, match="direction: unknown value 'up', expected one of mean, "):
        dijoco.optimize(task, direction="up", **how)
    with pytest.raises(TypeError, match="direction: expected a number or a name"):
        dijoco.optimize(task, direction=None, **how)


def test_optimize_stops(root):
    task = descent(root)
    done = dijoco.optimize(task, 9, lambda k, loss, x: k < 3, root / "examples")
    assert done["stop"] == "callback" and done["iterations"] == 3
    done = dijoco.optimize(task, iterations=2, folder=root / "examples")
    assert done["stop"] == "iterations" and done["iterations"] == 2
    with pytest.raises(ZeroDivisionError):
        dijoco.optimize(task, 9, lambda k, loss, x: 1 / 0, root / "examples")
    twice = dict(task, variables=[{"name": "qpos0"}, {"name": "qpos0[joint/x]"}])
    with pytest.raises(dijoco.Error, match="qpos0"):
        dijoco.optimize(twice, folder=root / "examples")


def test_restitution_is_identified(tmp_path):
    """From where a ball is after it has bounced, with a model of another coefficient."""
    scene = {"dijoco_model": 1, "option": {"timestep": 0.002},
             "bodies": [{"name": "world"}, {"name": "ball", "pos": [0, 0, 0.3], "mass": 1,
                                            "inertia": [0.001, 0.001, 0.001]}],
             "joints": [{"type": "free", "body": "ball"}],
             "geoms": [{"name": "floor", "type": "plane", "body": "world", "size": [0, 0, 1]},
                       {"name": "ball", "type": "sphere", "body": "ball", "size": [0.05, 0, 0],
                        "restitution": 0.4}]}
    (tmp_path / "ball.json").write_text(json.dumps(scene))
    model = dijoco.Model.load(tmp_path / "ball.json")
    np.testing.assert_array_equal(model.param("geom/ball/restitution"), [0.4])
    model.set_param("geom/ball/restitution", [0.73])
    data = dijoco.Data(model)
    heights = []
    for _ in range(160):
        data.step()
        heights.append(data.qpos[2])
    loss = [{"type": "position", "body": "ball", "index": [2], "target": [0, 0, heights[k - 1]],
             "when": {"step": k}} for k in (130, 145, 160)]
    task = {"scene": str(tmp_path / "ball.json"), "horizon": 160, "loss": loss,
            "variables": [{"name": "geom/ball/restitution", "min": 0.01, "max": 1}],
            "optimizer": {"type": "lbfgsb", "iterations": 40}}
    found = dijoco.optimize(task)
    assert abs(found["values"]["geom/ball/restitution"][0] - 0.73) < 1e-8
    assert dijoco.grad(task, check=True)["certificate"][0]["passed"]


def _evaluated(design):
    return design.evaluate(design.x0)


def test_pickles(root, monkeypatch):
    """A design in other processes: the same loss and gradient, from any folder."""
    box = dijoco.Model.load(root / "examples" / "box.json")
    task = {"scene": box, "horizon": 9, "variables": [{"name": "qvel0"}], "checkpoint": 4,
            "loss": [{"type": "com", "target": [0, 0, 1]}]}
    monkeypatch.chdir(root / "examples")
    by_path = dict(task, scene="box.json")
    designs = [dijoco.Design(task), dijoco.Design(by_path), dijoco.Design(by_path, folder=".")]
    monkeypatch.chdir(root)
    executor = concurrent.futures.ProcessPoolExecutor(
        2, mp_context=multiprocessing.get_context("spawn"))
    with executor:
        for design, (loss, gradient) in zip(designs, executor.map(_evaluated, designs)):
            mine = design.evaluate(design.x0)
            assert mine[0] == loss
            np.testing.assert_array_equal(mine[1], gradient)
