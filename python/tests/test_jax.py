"""JAX: check_grads of steps and runs with contact, agreement with the library's own derivatives,
jit, vmap. Skipped where JAX is not installed."""
import pathlib
import subprocess
import sys

import numpy as np
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import autodiff_scene  # noqa: E402
import dijoco  # noqa: E402
import dijoco.jax as djj  # noqa: E402
from dijoco import _autodiff  # noqa: E402

jax.config.update("jax_enable_x64", True)
CARTPOLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "cartpole.json"
STATE = ("qpos", "qvel", "act")
CHECK = {"order": 1, "modes": ["rev"], "eps": 2e-8, "atol": 1e-4, "rtol": 1e-4}


@pytest.fixture(scope="module")
def scene():
    return autodiff_scene.make()


def check_step(model, state):
    def function(qpos, qvel, act, ctrl):
        return djj.step(model, qpos, qvel, ctrl, act)

    check_grads(function, tuple(state[name] for name in STATE + ("ctrl",)), **CHECK)


def test_check_grads_of_a_step(scene):
    check_step(*scene)


def test_check_grads_finds_a_wrong_map(scene, monkeypatch):
    right = _autodiff.Coordinates.from_tangent
    monkeypatch.setattr(_autodiff.Coordinates, "from_tangent", lambda *args: right(*args) / 2)
    with pytest.raises(AssertionError):
        check_step(*scene)


def test_check_grads_of_a_rollout(scene):
    model, state = scene
    values = autodiff_scene.params(model, *autodiff_scene.PARAMS)
    ctrl = np.tile(state["ctrl"], (4, 1))

    def function(qpos, qvel, act, ctrl, values):
        return djj.rollout(model, ctrl, qpos, qvel, act, values)

    check_grads(function, tuple(state[name] for name in STATE) + (ctrl, values), **CHECK)


def test_rollout_agrees_with_vjp(scene):
    model, state = scene
    names = ("geom/box/friction", "body/box/mass")
    ctrl = np.tile(state["ctrl"], (10, 1))
    start = [state[name] for name in STATE]
    run = dijoco.rollout(model, ctrl, *start)
    values = {name: model.param(name) for name in names}

    @jax.jit
    def loss(ctrl, values):
        qpos, qvel, act = djj.rollout(model, ctrl, *start, values)
        return (qvel[-1] ** 2).sum(), (qpos, qvel, act)

    (by_ctrl, by_values), states = jax.grad(loss, (0, 1), has_aux=True)(ctrl, values)
    for name, x in zip(STATE, states):
        np.testing.assert_array_equal(x[1:], getattr(run, name)[1:])
    np.testing.assert_array_equal(states[0][0], state["qpos"])
    g = np.zeros_like(run.qvel)
    g[-1] = 2 * run.qvel[-1]
    wanted = run.vjp(qvel=g, params=names)
    np.testing.assert_allclose(by_ctrl, wanted.ctrl, rtol=1e-12, atol=1e-14)
    for name in names:
        np.testing.assert_allclose(by_values[name], wanted.params[name], rtol=1e-12, atol=1e-14)
        assert np.abs(wanted.params[name]).max() > 1e-3


def test_batches(scene):
    model, state = scene
    random = np.random.default_rng(2)
    qvel = state["qvel"] + .1 * random.standard_normal((3, model.nv))

    def loss(qvel):
        qpos, after, _ = djj.step(model, state["qpos"], qvel, params={"body/box/mass": .7})
        return qpos.sum() + (after ** 2).sum()

    single = np.stack([jax.grad(loss)(v) for v in qvel])
    np.testing.assert_allclose(jax.grad(loss)(qvel), single, rtol=1e-12)
    np.testing.assert_allclose(jax.vmap(jax.grad(loss))(qvel), single, rtol=1e-12)


def test_errors(scene):
    model, state = scene
    with pytest.raises(ValueError, match="qvel: expected shape"):
        djj.step(model, state["qpos"], state["qpos"])
    with pytest.raises(TypeError, match="qvel: expected real numbers, not complex128"):
        djj.step(model, state["qpos"], state["qvel"] + 0j)


def functions(scene):
    """Losses of a step by qvel, and of a run by ctrl and by a mass; also one linear in the state."""
    model, state = scene
    ctrl = jnp.full((3, model.nu), .2)

    def step(v):
        return djj.step(model, state["qpos"], v)[1].sum()

    def run(c):
        return (djj.rollout(model, c, state["qpos"], state["qvel"])[1] ** 2).sum()

    def mass(x):
        return (djj.rollout(model, ctrl, state["qpos"], state["qvel"],
                            params={"body/box/mass": x})[1] ** 2).sum()

    return ((step, jnp.array(state["qvel"])), (run, ctrl),
            (mass, jnp.array(model.param("body/box/mass"))))


def test_forward_mode(scene):
    model, state = scene
    for function, x in functions(scene):
        v = jnp.linspace(-1, 1, x.size).reshape(x.shape) + .1
        slope = jax.jvp(function, (x,), (v,))[1]
        np.testing.assert_allclose(slope, (jax.grad(function)(x) * v).sum(), rtol=1e-9)
        np.testing.assert_allclose(jax.jacfwd(function)(x), jax.grad(function)(x), rtol=1e-7,
                                   atol=1e-9)


def test_second_derivatives(scene):
    """In all ways that begin with reverse mode, with and without jit, against differences."""
    ways = (lambda f: jax.jit(jax.hessian(f)), lambda f: jax.jacrev(jax.jacrev(f)), jax.hessian)
    for (function, x), other in zip(functions(scene), ways):
        gradient = jax.grad(function)
        H = jax.hessian(function)(x).reshape(x.size, x.size)
        size = jnp.abs(H).max()
        assert size > 0 and jnp.abs(H - H.T).max() <= 1e-6 * size
        assert jnp.abs(other(function)(x).reshape(H.shape) - H).max() <= 1e-6 * size
        v = jnp.linspace(-1, 1, x.size).reshape(x.shape) + .1
        Hv = jax.jit(lambda x, v=v, g=gradient: jax.jvp(g, (x,), (v,))[1])(x)
        assert jnp.abs(Hv.reshape(-1) - H @ v.reshape(-1)).max() <= 1e-6 * size
        other = jax.grad(lambda x, v=v, g=gradient: (g(x) * v).sum())(x)
        assert jnp.abs(other - Hv).max() <= 1e-6 * size
        e = 1e-5
        ahead, back = gradient(x + e * v), gradient(x - e * v)
        assert jnp.abs((ahead - back) / (2 * e) - Hv).max() <= 1e-3 * size


def test_check_grads_of_second_order(tmp_path):
    """By quaternions and axes that are not normalised, masses, activations, of both modes."""
    torch_tests = pytest.importorskip("test_torch")
    path = tmp_path / "smooth.json"
    path.write_text(torch_tests.SMOOTH % "euler")
    model, random = dijoco.Model.load(str(path)), np.random.default_rng(2)
    names = ["body/arm/mass", "body/arm/quat", "joint/hinge/axis", "joint/ball/springref"]
    params = {n: np.array(model.param(n)) for n in names}
    params["body/arm/quat"] = 1.2 * params["body/arm/quat"] + .1
    params["joint/hinge/axis"] *= 1.5
    start = (model.qpos0 + .2 * random.standard_normal(model.nq),
             random.standard_normal(model.nv), random.standard_normal(model.na))
    ctrl = random.standard_normal((3, model.nu))

    def run(qpos, qvel, act, ctrl, params):
        return djj.rollout(model, ctrl, qpos, qvel, act, params)

    check_grads(run, (*start, ctrl, params), 2, ["rev"], 1e-5, 1e-5, 1e-5)
    check_grads(run, (*start, ctrl, params), 1, ["fwd"], 1e-5, 1e-5, 1e-5)


def test_further_derivatives_are_refused(scene):
    for function, x in functions(scene):
        for refused in (jax.jacfwd(jax.jacfwd(function)), jax.grad(
                lambda x, f=function: jax.jvp(f, (x,), (x,))[1]),
                jax.jacfwd(jax.hessian(function)),
                jax.grad(lambda x, f=function: jax.hessian(f)(x).sum())):
            with pytest.raises(NotImplementedError, match="no third ones: take differences"):
                refused(x)


def test_single_processor():
    """Large arguments on one processor do not wait for ever."""
    text = """
import os, sys; sys.path[:0] = %r
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
import jax, numpy, dijoco.jax
model = dijoco.Model.load(%r)
f = lambda ctrl: (dijoco.jax.rollout(model, ctrl)[0] ** 2).sum()
g = jax.grad(jax.jit(f))(numpy.ones((5000, 1)))
assert g.shape == (5000, 1) and numpy.isfinite(g).all()
""" % (sys.path, str(CARTPOLE))
    subprocess.run([sys.executable, "-c", text], check=True, timeout=120)


def test_single_precision():
    """JAX's default. In a process of its own: the setting is the process's."""
    text = """
import sys; sys.path[:0] = %r
import jax, autodiff_scene, dijoco.jax
model, state = autodiff_scene.make()
f = lambda v: dijoco.jax.step(model, state["qpos"], v, state["ctrl"], state["act"])[1].sum()
g = jax.grad(f)(state["qvel"])
assert g.dtype == "float32" and abs(g).max() > 0, g
""" % sys.path
    subprocess.run([sys.executable, "-c", text], check=True)


def test_parameters_of_each_member(scene):
    """A batch axis of parameters: the results and derivatives of single calls."""
    model, _ = scene
    names, B, T = ("geom/box/friction", "body/box/mass"), 3, 6
    base = autodiff_scene.params(model, *names)
    rng = np.random.default_rng(3)
    ctrl, weight = rng.normal(size=(T, model.nu)), rng.normal(size=(B, T + 1, model.nq))
    scale = 1 + .1 * np.arange(B)
    given = (np.asarray(base[names[0]]) * scale[:, None], np.ravel(base[names[1]]) * scale)

    def loss(u, weight, *params):
        qpos = djj.rollout(model, u, params=dict(zip(names, params)))[0]
        return (weight * qpos).sum()

    grads = jax.grad(loss, (0, 2, 3))(ctrl, weight, *given)
    each = [jax.grad(loss, (0, 2, 3))(ctrl, weight[i], *(g[i] for g in given)) for i in range(B)]
    np.testing.assert_allclose(grads[0], sum(g[0] for g in each), rtol=1e-12, atol=1e-13)
    for k in 1, 2:
        np.testing.assert_allclose(grads[k], np.stack([g[k] for g in each]), rtol=1e-12)


def test_vmap_is_one_batch(scene, monkeypatch):
    """What is mapped over is folded into batches, nested ones, too, with what they share."""
    model, _ = scene
    made = []
    run = _autodiff.Run.__init__

    def counted(self, model, data, params, qpos, *rest, **more):
        made.append(len(qpos))
        run(self, model, data, params, qpos, *rest, **more)

    monkeypatch.setattr(_autodiff.Run, "__init__", counted)
    S, B, T = 4, 3, 5
    rng = np.random.default_rng(5)
    ctrl, gravity = rng.normal(size=(S, B, T, model.nu)), rng.normal(size=(S, 3))
    qvel = rng.normal(size=(B, model.nv))

    def loss(ctrl, gravity, qvel):
        qpos = djj.rollout(model, ctrl, qvel0=qvel, params={"option/gravity": gravity})[0]
        return (qpos[..., -1, :] ** 2).sum()

    grad = jax.grad(loss, (0, 1, 2))
    one = [grad(ctrl[s], gravity[s], qvel) for s in range(S)]
    for function in (jax.vmap(grad, (0, 0, None)), jax.jit(jax.vmap(grad, (0, 0, None)))):
        made.clear()
        mapped = function(ctrl, gravity, qvel)
        jax.block_until_ready(mapped)
        assert set(made) == {S * B}
        for mine, his in zip(mapped, zip(*one)):
            np.testing.assert_allclose(mine, np.stack(his), rtol=1e-12, atol=1e-13)
    made.clear()
    nested = jax.vmap(jax.vmap(grad, (0, None, 0)), (0, 0, None))(ctrl, gravity, qvel)
    assert set(made) == {S * B}
    np.testing.assert_allclose(nested[0], mapped[0], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(nested[1].sum(1), mapped[1], rtol=1e-12, atol=1e-13)
    hessian = jax.hessian(lambda u: loss(u, gravity[0], qvel[0]))
    each = jax.vmap(hessian)(ctrl[:2, 0])
    np.testing.assert_allclose(each[1], hessian(ctrl[1, 0]), rtol=1e-9, atol=1e-12)
    jvp = jax.vmap(lambda u, du: jax.jvp(lambda x: loss(x, gravity[0], qvel[0]), (u,), (du,))[1])
    mine = [(grad(ctrl[s, 0], gravity[0], qvel[0])[0] * ctrl[s, 1]).sum() for s in range(S)]
    np.testing.assert_allclose(jvp(ctrl[:, 0], ctrl[:, 1]), mine, rtol=1e-10)
