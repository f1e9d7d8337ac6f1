"""Simulations: zero-copy fields, steps, statistics, contacts, threads, derivatives of a step."""
import copy
import ctypes
import gc
import pickle
import threading
import time
import weakref

import numpy as np
import pytest

import dijoco
from dijoco import _lib
from together import assert_same_on_threads

STATE = ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat")


def test_shapes(box):
    data = dijoco.Data(box)
    n = box.nbody
    shapes = {"qpos": (7,), "qvel": (6,), "act": (0,), "ctrl": (0,), "qfrc_applied": (6,),
              "xfrc_applied": (n, 6), "mocap_pos": (0, 3), "mocap_quat": (0, 4), "xpos": (n, 3),
              "xquat": (n, 4), "xmat": (n, 9), "xipos": (n, 3), "site_xpos": (box.nsite, 3),
              "geom_xpos": (box.ngeom, 3), "geom_xmat": (box.ngeom, 9), "energy": (2,)}
    for name, shape in shapes.items():
        array = getattr(data, name)
        assert array.shape == shape and array.dtype == np.float64, name
    with pytest.raises(TypeError, match="dijoco.Model"):
        dijoco.Data("box")


def test_fields_are_the_memory(cartpole):
    data = dijoco.Data(cartpole)
    data.qpos[1] = 0.3
    data.ctrl = [2]
    assert data.qpos is data.qpos and data.get_state()[2] == 0.3
    other = dijoco.Data(cartpole)
    other.qpos[1] = 0.3
    before = data.qpos.copy()
    data.step()
    other.step()
    assert not np.array_equal(data.qpos, before)
    assert not np.array_equal(data.qpos, other.qpos)  # ctrl was seen
    for name in STATE:
        assert getattr(data, name).size == 0 or getattr(data, name).flags.writeable
    for name in ("xpos", "xquat", "xmat", "xipos", "geom_xpos", "geom_xmat", "energy"):
        with pytest.raises((ValueError, AttributeError)):
            getattr(data, name)[...] = 0
        with pytest.raises(AttributeError):
            setattr(data, name, 0)


def test_views_outlive_their_owner(cartpole):
    data = dijoco.Data(cartpole)
    data.qpos[:] = [1, 2]
    qpos = data.qpos[1:]
    del data, cartpole
    gc.collect()
    assert qpos[0] == 2
    qpos[0] = 3
    assert qpos[0] == 3


def test_no_cycles(cartpole):
    data = dijoco.Data(cartpole)
    assert data.qpos.size and data.stats and not len(data.contacts) and data.model.body_mass[1]
    gone = weakref.ref(data)
    gc.disable()
    try:
        del data
        assert gone() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("value, text", [
    ([1], r"qpos: expected shape \(2,\), not \(1,\)"), (np.zeros((2, 1)), "expected shape"),
    (["a", "b"], "expected numbers"), ([1j, 0], "expected numbers"), (None, "expected numbers")])
def test_bad_values(cartpole, value, text):
    data = dijoco.Data(cartpole)
    with pytest.raises(ValueError, match=text):
        data.qpos = value


def test_time_and_gravity(cartpole):
    data = dijoco.Data(cartpole)
    data.time = 3
    data.gravity_scale = 0
    assert data.step(2) == 0
    assert data.time == pytest.approx(3.02) and data.stats.steps == 2
    np.testing.assert_array_equal(data.qpos, [0, 0])
    assert data.step(0) == 0
    with pytest.raises(TypeError, match="n: expected an integer"):
        data.step(1.5)
    with pytest.raises(ValueError, match="n: -1 is negative"):
        data.step(-1)


def test_errors_have_the_librarys_text(cartpole):
    data = dijoco.Data(cartpole)
    data.qvel[1] = np.nan
    with pytest.raises(dijoco.Error, match=r"qvel\[1\]") as caught:
        data.step()
    assert caught.value.status == -1 and isinstance(caught.value, RuntimeError)
    with pytest.raises(dijoco.Error, match=r"qvel\[1\]"):
        data.transition()
    data.reset()
    data.step()
    fresh = dijoco.Data(cartpole)
    for call in (fresh.last_transition, lambda: fresh.step_vjp(np.zeros(4)),
                 lambda: fresh.step_jvp(np.zeros(4)), lambda: fresh.last_params([])):
        with pytest.raises(dijoco.Error):
            call()


def test_error(cartpole):
    """Its name, a pickled one, and the text where the library has none."""
    error = dijoco.Error("text", -3)
    assert str(dijoco.Error) == "<class 'dijoco.Error'>"
    other = pickle.loads(pickle.dumps(error))
    assert (str(other), other.status) == ("text", -3)
    data = dijoco.Data(cartpole)
    with pytest.raises(dijoco.Error, match="Jacobian could not be factored") as caught:
        data._run(lambda: 2)
    assert caught.value.status == data.status == 2
    with pytest.raises(dijoco.Error, match="out of memory"):
        data._run(lambda: -3)


def test_not_converged_is_visible(box):
    box.option = {"integrator": "position", "max_iterations": 1}
    data = dijoco.Data(box)
    data.qvel[:] = [3, 1, -5, 4, 5, 6]
    assert any(data.step() == 1 for _ in range(30))
    assert data.stats.unconverged_steps > 0
    stats = data.stats
    assert stats.ended > 1 and stats.iterations <= stats.factorizations and stats.parts == 1
    assert stats.near_attempts + stats.guess_attempts >= stats.attempts == 1
    assert 0 <= stats.loaded_pairs <= stats.near_pairs == len(data.contacts)
    assert np.isfinite(data.qpos).all() and data.status == 1
    data.reset()
    assert data.status == 0
    data.qpos[2], data.qvel[:] = 0.11, [3, 1, -5, 4, 5, 6]
    A, B = data.transition()
    assert data.status == 1 and np.isfinite(A).all()
    with pytest.raises(dijoco.Error):
        data.qvel[0] = np.nan
        data.step()
    assert data.status == -1


def test_reset_and_keys(root):
    model = dijoco.Model.load(root / "examples" / "cartpole.json")
    data = dijoco.Data(model)
    data.step(5)
    data.reset()
    assert data.time == 0 and data.stats.steps == 0
    for bad, text in ((model.nkey, "key"), (-1, "key")):
        with pytest.raises(ValueError, match=text):
            data.reset(bad)
    with pytest.raises(ValueError, match="there is no key 'none'"):
        data.reset("none")


@pytest.mark.parametrize("duplicate", [lambda d: d.copy(), copy.copy, copy.deepcopy])
def test_copy_continues(box, duplicate):
    data = dijoco.Data(box)
    data.qvel[3] = 2
    data.step(30)
    other = duplicate(data)
    assert data.step(30) == other.step(30) == 0
    np.testing.assert_array_equal(data.get_state(), other.get_state())
    other.qpos[0] += 1
    assert data.qpos[0] != other.qpos[0]


def test_state_vector(box):
    data, other = dijoco.Data(box), dijoco.Data(box)
    data.step(20)
    other.set_state(data.get_state())
    data.step(20), other.step(20)
    np.testing.assert_array_equal(data.qpos, other.qpos)
    with pytest.raises(ValueError, match="state: expected shape"):
        data.set_state(np.zeros(3))


def test_contacts(box):
    data = dijoco.Data(box)
    assert len(data.contacts) == 0 and data.contacts.force.shape == (0, 3)
    data.step(200)
    contacts, forces = data.contacts, data.body_forces
    assert len(contacts) == 1 and contacts.geom1[0] == 0 and contacts.geom2[0] == 1
    weight = 9.81 * box.moving_mass
    np.testing.assert_allclose(contacts.force[0], [0, 0, weight], atol=1e-6 * weight)
    np.testing.assert_allclose(contacts.normal, [[0, 0, 1]], atol=1e-9)
    assert contacts[0].normal_force == pytest.approx(weight)
    assert contacts.gap[0] == data.stats.gap > 0 and not contacts.recovering[0]
    np.testing.assert_allclose(forces.force, contacts.force)
    assert forces.body1[0] == 0 and forces.body2[0] == 1
    data.qpos[2] += 10
    data.step(1)
    assert len(data.contacts) == 0 and len(contacts) == 1  # a copy


def test_without_contact(box):
    """Contact switched off and on under a data."""
    box.option["contact"] = "none"
    data = dijoco.Data(box)
    data.step(100)
    assert len(data.contacts) == len(data.body_forces) == 0 and data.qpos[2] < -0.5
    box.option["contact"] = "separating_plane"
    with pytest.raises(dijoco.Error, match="data: made for"):
        data.step()
    data = dijoco.Data(box)
    data.step(200)
    assert data.qpos[2] == pytest.approx(0.1, abs=1e-3)
    box.option["contact"] = "none"
    with pytest.raises(dijoco.Error, match="made with contact switched on"):
        data.step()


def test_integrator_changed_under_a_data(box):
    data = dijoco.Data(box)
    data.step(3)
    box.option["integrator"] = "variational"
    data.step(3)
    fresh = dijoco.Data(box)
    fresh.step(3)
    assert np.isfinite(data.qpos).all() and not np.array_equal(fresh.qpos, data.qpos)
    data.transition()


def test_forward_and_momentum(box):
    data = dijoco.Data(box)
    data.qpos[:3] = [1, 2, 3]
    data.qvel[3:] = [0, 0, 2]
    data.forward()
    np.testing.assert_array_equal(data.xpos[1], [1, 2, 3])
    assert data.energy[1] == pytest.approx(0.5 * box.body_inertia[1, 2] * 4)
    spin = 2 * box.body_inertia[1, 2]
    np.testing.assert_allclose(data.angular_momentum(), [0, 0, spin])
    data.qvel[:3] = [0, 5, 0]
    m = box.body_mass[1]
    np.testing.assert_allclose(data.momentum(), [-15 * m, 0, 5 * m + spin, 0, 5 * m, 0])


# ---- derivatives -------------------------------------------------------------------------------

def differences(model, start, dx, du, h=1e-6):
    """Extrapolated difference of the next tangent state along (dx, du); model.na = 0."""
    return (4 * central(model, start, dx, du, h) - central(model, start, dx, du, 2 * h)) / 3


def central(model, start, dx, du, h):
    nv, ends = model.nv, []
    for sign in (1, -1):
        data = start.copy()
        data.qpos = model.integrate_pos(start.qpos, dx[:nv], sign * h)
        data.qvel += sign * h * dx[nv:]
        data.ctrl += sign * h * du
        data.step()
        ends.append((data.qpos.copy(), data.qvel.copy()))
    dq = model.differentiate_pos(ends[1][0], ends[0][0], 2 * h)
    return np.r_[dq, (ends[0][1] - ends[1][1]) / (2 * h)]


@pytest.mark.parametrize("scene, steps", [("cartpole", 5), ("box", 200)])
def test_derivatives_of_a_step(root, scene, steps):
    model = dijoco.Model.load(root / "examples" / (scene + ".json"))
    model.option["tolerance"] = 1e-12
    model.option["stiffness_scale"] = 1e-5  # soft enough for differences
    rng = np.random.default_rng(2)
    data = dijoco.Data(model)
    data.qvel[:] = 0.3 * rng.normal(size=model.nv)
    data.step(steps)
    nx = 2 * model.nv
    dx, du = rng.normal(size=nx), rng.normal(size=model.nu)
    A, B = data.transition()
    expected = differences(model, data, dx, du)
    np.testing.assert_allclose(A @ dx + B @ du, expected, rtol=1e-6, atol=1e-6)
    assert np.abs(A.T @ dx + B @ du - expected).max() > 1e-3  # the comparison can fail
    before = data.get_state()
    data.transition()
    np.testing.assert_array_equal(data.get_state(), before)
    data.step()
    A1, B1 = data.last_transition()
    np.testing.assert_allclose(A1, A, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(data.step_jvp(dx, du), A @ dx + B @ du, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(data.step_jvp(dx), A @ dx, rtol=1e-8, atol=1e-9)
    lx, lu = data.step_vjp(dx)
    np.testing.assert_allclose(lx, A.T @ dx, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(lu, B.T @ dx, rtol=1e-8, atol=1e-9)
    for call in (lambda: data.step_vjp(dx[1:]), lambda: data.step_jvp(dx, np.zeros(9))):
        with pytest.raises(ValueError, match="expected shape"):
            call()


def test_last_params(cartpole):
    cartpole.option["tolerance"] = 1e-12
    names = ["body/cart/mass", "option/gravity"]

    def end(mass, g):
        cartpole.set_param(names[0], mass)
        cartpole.set_param(names[1], [0, 0, g])
        data = dijoco.Data(cartpole)
        data.qpos[1], data.ctrl[0] = 0.4, 1
        data.step()
        return data

    h = 1e-5
    dm = (end(1 + h, -9.81).qvel - end(1 - h, -9.81).qvel) / (2 * h)
    dg = (end(1, -9.81 + h).qvel - end(1, -9.81 - h).qvel) / (2 * h)
    with pytest.raises(TypeError, match="params: expected a list of names"):
        end(1, 0).last_params(names[0])
    P = end(1, -9.81).last_params(names)
    assert P.shape == (4, 4)
    np.testing.assert_allclose(P[2:, 0], dm, rtol=1e-6)
    np.testing.assert_allclose(P[2:, 3], dg, rtol=1e-6)


# ---- threads -----------------------------------------------------------------------------------

def ticks_during(library, model, steps):
    """Times that another thread runs Python code in the middle half of one call of the library:
    around its ends threads may change."""
    data, ticks = dijoco.Data(model), []
    tape, result = _lib.c_void_p(), _lib.CRolloutResult()
    run = _lib.CRollout(horizon=steps, loss_only=True)
    _lib.call(_lib.core.djd_makeTape, _lib.byref(tape), model._address, steps)
    library.djd_rolloutForward.argtypes = _lib.core.djd_rolloutForward.argtypes
    started = threading.Event()

    def tick():
        started.set()
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    done, thread = threading.Event(), threading.Thread(target=tick)
    thread.start()
    started.wait()
    begin = time.perf_counter()
    library.djd_rolloutForward(_lib.byref(result), model._address, data._address,
                               _lib.byref(run), tape)
    end = time.perf_counter()
    done.set()
    thread.join()
    _lib.core.djd_deleteTape(tape)
    quarter = (end - begin) / 4
    return sum(begin + quarter < t < end - quarter for t in ticks)


def test_calls_release_the_lock(box):
    """Beside the same library loaded so that Python's lock is kept."""
    assert ticks_during(_lib.core, box, 50000) > 10
    assert ticks_during(ctypes.PyDLL(_lib.core._name), box, 50000) < 5


def test_threads_share_a_data(box):
    """Calls wait for each other."""
    data, done = dijoco.Data(box), []

    def work():
        for _ in range(100):
            data.step(3)
            data.transition()
            done.append(data.copy().stats.steps)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert data.stats.steps == 1200 and len(done) == 400
    alone = dijoco.Data(box)
    alone.step(1200)
    np.testing.assert_array_equal(alone.get_state(), data.get_state())


def test_threads_share_a_model(box):
    def run(out, k):
        data = dijoco.Data(box)
        data.qvel[3] = k
        data.step(300)
        out[k] = data.get_state()

    assert_same_on_threads(run)
