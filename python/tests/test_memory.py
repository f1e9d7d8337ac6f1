"""Objects give their memory back, in whatever order they go."""
import ctypes
import gc
import pathlib
import resource

import numpy as np
import pytest

import dijoco

PAGE = resource.getpagesize()


def resident():
    """Bytes of memory in use by this process."""
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * PAGE


def settle():
    """What is free goes back to the system: it would hide what is kept. A model and its option know
    each other, so that some wait for Python's collector."""
    gc.collect()
    getattr(ctypes.CDLL(None), "malloc_trim", int)(0)


def growth(make, n, warm=150):
    """Bytes by which n calls of make grow the process."""
    for _ in range(warm):
        make()
    settle()
    before = resident()
    for _ in range(n):
        make()
    settle()
    return resident() - before


def test_data_models_and_rollouts(cartpole):
    ctrl = np.zeros((2000, 1))

    def make():
        run = dijoco.rollout(cartpole, ctrl)
        run.vjp(qpos=np.ones((2001, 2)))
        return run

    one = make()
    size = one.qpos.nbytes + one.qvel.nbytes  # at least
    assert growth(make, 200) < 50 * size
    kept = []
    assert growth(lambda: kept.append(make()), 200, 0) > 100 * size  # it would be seen


def test_designs(root):
    task = {"scene": "cartpole.json", "horizon": 500, "loss": [], "variables": [{"name": "ctrl"}]}

    def make():
        return dijoco.Design(task, folder=root / "examples").evaluate(np.zeros(500))

    assert growth(make, 200) < 10e6


def test_implicit_pairs():
    normals = np.random.default_rng(2).normal(size=(500, 3))
    many = {"shape": "smooth_polytope", "A": normals, "b": np.linalg.norm(normals, axis=1),
            "L": 1, "beta": 20}
    bad = dict(many, b=many["b"] - 100 * (np.arange(500) == 499))
    pose = [0, 0, 3, 1, 0, 0, 0]

    def make():
        pair = dijoco.ImplicitPair(many, many)
        pair.evaluate([0] * 3 + pose[3:], pose, derivatives=True)
        dijoco.implicit(many, dict(many, pose=pose))
        with pytest.raises(ValueError, match="b: smooth_polytope"):
            dijoco.ImplicitPair(many, bad)
        return pair

    assert growth(make, 40, 5) < 1e6
    kept = []
    assert growth(lambda: kept.append(make()), 80, 0) > 3e6  # it would be seen


def test_contexts():
    mujoco = pytest.importorskip("mj").mujoco
    m = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><freejoint/>" + "<geom size='.1'/>" * 30
        + "</body></worldbody></mujoco>")
    d = mujoco.MjData(m)

    def make():
        context = dijoco.Context(m)
        context.step(d)
        return context.data  # what is left keeps the rest

    assert growth(make, 300) < 10e6


def test_errors_keep_nothing(cartpole):
    data, bad = dijoco.Data(cartpole), np.full((2000, 1), np.nan)

    def make():
        for call in (lambda: dijoco.rollout(cartpole, bad), lambda: dijoco.Model.from_text("{"),
                     lambda: dijoco.grad({"scene": 1}), lambda: dijoco.Gap(cartpole, 0, 0)):
            with pytest.raises(dijoco.Error):
                call()
        return data.copy()

    assert growth(make, 200) < 10e6
