"""dijoco.mujoco.transition in place of mujoco.mjd_transitionFD: against it, against the C function,
and with arguments that are wrong; Context(derivatives="mujoco")."""
import copy
import ctypes
import gc
import os
import pathlib
import pickle
import threading
import warnings
import weakref

import numpy as np
import pytest

import dijoco
from dijoco import _lib, mj_transition
from dijoco.mujoco import Transition, transition
from mj import mujoco
from together import assert_same_on_threads

ROOT = pathlib.Path(__file__).resolve().parents[2]
GYMNASIUM = pathlib.Path(os.environ.get("DIJOCO_GYMNASIUM", ROOT / "build/deps/gymnasium"))

# A trunk on two legs, on the floor.
WALKER = """
<mujoco>
  <option timestep="0.004" tolerance="1e-14" iterations="200"/>
  <default><geom friction=".8"/><joint damping=".5" armature=".01"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="trunk" pos="0 0 .62"><freejoint/>
      <geom type="box" size=".1 .15 .1" mass="3"/><site name="imu"/>
      %s
    </body>
  </worldbody>
  <actuator>
    <motor name="hip" joint="hip1" gear="5"/>
    <position name="knee" joint="knee2" kp="20"/>
    <general joint="knee1" dyntype="filter" dynprm=".05" gainprm="3"/>
  </actuator>
  <sensor>
    <framepos objtype="site" objname="imu"/><gyro site="imu"/><accelerometer site="imu"/>
    <jointvel joint="hip2"/><actuatorfrc actuator="knee"/>
  </sensor>
</mujoco>""" % "".join("""
      <body pos="0 %g -.1"><joint name="hip%d" axis="0 1 0"/>
        <geom type="capsule" size=".04" fromto="0 0 0 .05 0 -.22"/>
        <body pos=".05 0 -.22"><joint name="knee%d" axis="0 1 0" range="-2 2"/>
          <geom type="capsule" size=".035" fromto="0 0 0 -.05 0 -.22"/>
        </body></body>""" % (y, i, i) for i, y in ((1, -.1), (2, .1)))


def walker(steps=60, seed=0):
    m = mujoco.MjModel.from_xml_string(WALKER)
    return m, moved(m, steps, seed)


def moved(m, steps, seed=0):
    d, rng = mujoco.MjData(m), np.random.default_rng(seed)
    for _ in range(steps):
        d.ctrl[:] = rng.uniform(-.4, .4, m.nu)
        mujoco.mj_step(m, d)
    return d


def shapes(m):
    nx = 2 * m.nv + m.na
    return [(nx, nx), (nx, m.nu), (m.nsensordata, nx), (m.nsensordata, m.nu)]


def found(m, d):
    out = [np.full(shape, np.nan) for shape in shapes(m)]
    assert transition(m, d, *out) is None
    return out


def differenced(m, d):
    out = [np.zeros(shape) for shape in shapes(m)]
    mujoco.mjd_transitionFD(m, d, 1e-6, True, *out)
    return out


def distance(X, Y):
    return np.abs(X - Y).max() / max(1, np.abs(Y).max()) if Y.size else 0


# ---- what is found -----------------------------------------------------------------------------

def test_beside_differences():
    for seed in range(4):
        m, d = walker(60 + 20 * seed, seed)
        assert d.ncon
        wanted = differenced(m, d)
        assert max(map(distance, found(m, d), wanted)) < 1e-5
        m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        assert distance(found(m, d)[0], wanted[0]) > 1e-3  # contact is in it


def test_humanoid_beside_differences():
    path = GYMNASIUM / "humanoid.xml"
    if not path.exists():
        pytest.skip("%s is not there" % path)
    m = mujoco.MjModel.from_xml_path(str(path))
    m.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    m.opt.tolerance, m.opt.iterations = 1e-14, 200
    for steps in (150, 200, 300):
        d = moved(m, steps)
        assert d.ncon
        assert max(map(distance, found(m, d), differenced(m, d))) < 1e-5


def everything(d):
    """All numbers of an MjData, by name."""
    out = {}
    for name in dir(d):
        value = None if name.startswith("_") else getattr(d, name)
        if isinstance(value, np.ndarray) and value.dtype != object:
            out[name] = value.tobytes()
        elif isinstance(value, (int, float)):
            out[name] = value
    out.update((n, getattr(d.contact, n).tobytes()) for n in ("dist", "pos", "frame", "geom"))
    out["warning"] = d.warning.number.tobytes()
    return out


def test_data_are_unchanged():
    m, d = walker()
    d.time, d.xfrc_applied[1, 2], d.qfrc_applied[7] = .1, .3, .1
    before = everything(d)
    assert {"qpos", "qvel", "act", "qacc_warmstart", "sensordata", "time", "efc_force",
            "dist", "warning"} <= set(before)
    transition(m, d, *found(m, d))
    Transition(m)(d, sensors=True)
    dijoco.Context(m, derivatives="mujoco").transition(d, sensors=True)
    after = everything(d)
    assert [n for n in before if before[n] != after[n]] == []
    other = copy.copy(d)
    mujoco.mj_step(m, d)
    mujoco.mj_step(m, other)
    np.testing.assert_array_equal(d.qpos, other.qpos)


def test_equals_c():
    m, d = walker()
    library, work = _lib.plugin(), ctypes.c_void_p()
    _lib.call(library.djm_makeTransitionWork, ctypes.byref(work), m._address)
    out = [np.zeros(shape) for shape in shapes(m)]
    _lib.call(library.djm_transitionMuJoCoWith, m._address, d._address, work,
              *[x.ctypes.data for x in out])
    library.djm_deleteTransitionWork(work)
    t = Transition(m)
    for mine in (found(m, d), t(d, sensors=True),
                 dijoco.Context(m, derivatives="mujoco").transition(d, sensors=True)):
        for X, Y in zip(mine, out):
            np.testing.assert_array_equal(X, Y)
    for X, Y in zip(t(d), out):
        np.testing.assert_array_equal(X, Y)


def test_any_may_be_none():
    m, d = walker()
    full, t = found(m, d), Transition(m)
    transition(m, d)
    for k in range(16):
        out = [np.full_like(x, np.nan) if k >> i & 1 else None for i, x in enumerate(full)]
        transition(m, d, *out)
        for X, Y in zip(out, full):
            assert X is None or (X == Y).all()
    A, C = (np.full_like(full[i], np.nan) for i in (0, 2))
    assert len(t(d)) == 2
    mine = t(d, A, C=C)
    assert mine[0] is A and mine[2] is C and len(mine) == 4
    for X, Y in zip(mine, full):
        np.testing.assert_array_equal(X, Y)
    assert t(d)[0] is not t(d)[0]


def test_models_without_controls_sensors_or_dofs():
    ball = "<mujoco><worldbody>%s</worldbody></mujoco>"
    for inside, nv in (("<body><freejoint/><geom size='.1'/></body>", 6), ("<geom size='.1'/>", 0)):
        m = mujoco.MjModel.from_xml_string(ball % inside)
        A, B, C, D = Transition(m)(mujoco.MjData(m), sensors=True)
        assert A.shape == (2 * nv, 2 * nv) and B.shape == (2 * nv, 0)
        assert C.shape == (0, 2 * nv) and D.shape == (0, 0)
        assert np.isfinite(A).all()
        transition(m, mujoco.MjData(m), A, B, C, D)


def test_info():
    m, d = walker()
    t = Transition(m)
    assert t.info is None
    t(d)
    assert t.info.ncontact > 0 and t.info.differences >= 0 and t.info.residual < 1e-10
    assert "nv=%d" % m.nv in repr(t)
    d.qpos[2] += 1
    t(d)
    assert t.info.ncontact == 0


# ---- the model changes -------------------------------------------------------------------------

def test_a_changed_model():
    m, d = walker()
    transition(m, d, *found(m, d))
    t = Transition(m)
    t(d)
    m.opt.timestep = .002
    m.body_mass[1] *= 1.3
    m.geom_friction[:, 0] = .5
    m.dof_damping[6:] = .2
    m.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    mine, other = found(m, d), copy.copy(m)
    for X, Y, Z in zip(mine, Transition(other)(d, sensors=True), t(d, sensors=True)):
        np.testing.assert_array_equal(X, Y)
        np.testing.assert_array_equal(X, Z)
    assert max(map(distance, mine, differenced(m, d))) < 1e-5


def test_works_go_with_their_model():
    m, d = walker()
    for _ in range(3):
        transition(m, d, *found(m, d))
    stack = mj_transition._works[m]
    assert len(stack) == 1
    gone, count = weakref.ref(stack[0].handle), len(mj_transition._works)
    del m, d, stack
    gc.collect()
    assert gone() is None and len(mj_transition._works) < count


# ---- arguments ---------------------------------------------------------------------------------

def test_arrays_that_are_refused():
    m, d = walker()
    t, good = Transition(m), found(m, d)
    before = [x.copy() for x in good]
    for i, name in enumerate("ABCD"):
        rows, columns = shapes(m)[i]
        wide = np.zeros((rows, 2 * columns))
        frozen = np.zeros((rows, columns))
        frozen.flags.writeable = False
        odd = np.frombuffer(bytearray(8 * rows * columns + 1), np.uint8)[1:].view(np.float64)
        for bad, error, text in (
                (np.zeros((rows, columns), np.float32), TypeError, "float64, not float32"),
                (np.zeros((rows, columns), ">f8"), TypeError, "float64, not >f8"),
                (np.zeros((rows, columns), int), TypeError, "float64, not int"),
                ([[0.0] * columns] * rows, TypeError, "float64, not list"),
                (0.0, TypeError, "float64, not float"),
                (np.zeros((rows + 1, columns)), ValueError, r"shape \(%d, %d\)" % (rows, columns)),
                (np.zeros(rows * columns), ValueError, "shape"),
                (wide[:, ::2], ValueError, "C-contiguous"),
                (np.asfortranarray(np.zeros((rows, columns))), ValueError, "C-contiguous"),
                (odd.reshape(rows, columns), ValueError, "aligned"),
                (frozen, ValueError, "writeable")):
            arguments = list(good)
            arguments[i] = bad
            for run in (lambda: transition(m, d, *arguments), lambda: t(d, *arguments)):
                with pytest.raises(error, match="^%s: .*%s" % (name, text)):
                    run()
    for X, Y in zip(good, before):
        np.testing.assert_array_equal(X, Y)


def test_things_that_are_no_models():
    m, d = walker()
    other = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><geom size='.1'/></worldbody></mujoco>")
    for bad in (None, m, "d", 3):
        for run in (lambda: transition(m, bad), lambda: Transition(m)(bad)):
            with pytest.raises(TypeError, match="expected a mujoco.MjData"):
                run()
    for bad in (None, d, "m", 3):
        for run in (lambda: transition(bad, d), lambda: Transition(bad)):
            with pytest.raises(TypeError, match="expected a mujoco.MjModel"):
                run()
    for run in (lambda: transition(other, d), lambda: Transition(other)(d)):
        with pytest.raises(ValueError, match="another model"):
            run()
    for function in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="Transition cannot be"):
            function(Transition(m))


@pytest.mark.parametrize("change, text", [
    (lambda m: setattr(m.opt, "integrator", mujoco.mjtIntegrator.mjINT_RK4), "RK4"),
    (lambda m: setattr(m.opt, "noslip_iterations", 3), "noslip"),
    (lambda m: setattr(m.opt, "enableflags", int(mujoco.mjtEnableBit.mjENBL_SLEEP)), "sleep")])
def test_what_is_refused(change, text):
    m, d = walker()
    good = found(m, d)
    assert len(mj_transition._works[m]) == 1
    option, t = copy.copy(m), Transition(m)
    change(option)
    context, other = dijoco.Context(option, derivatives="mujoco"), Transition(option)
    for run in (lambda: transition(option, d, *good), lambda: other(d),
                lambda: context.transition(d)):
        with pytest.raises(dijoco.Error, match=text) as caught:
            run()
        assert caught.value.status == -2
    assert other.info is None and len(mj_transition._works[option]) == 1
    integrator, noslip, flags = m.opt.integrator, m.opt.noslip_iterations, m.opt.enableflags
    change(m)
    with pytest.raises(dijoco.Error, match=text):
        t(d)
    m.opt.integrator, m.opt.noslip_iterations, m.opt.enableflags = integrator, noslip, flags
    for X, Y, Z in zip(found(m, d), good, t(d, sensors=True)):
        np.testing.assert_array_equal(X, Y)
        np.testing.assert_array_equal(X, Z)


def test_callbacks_are_refused():
    m, d = walker()
    if not hasattr(mujoco, "set_mjcb_control"):
        pytest.skip("no callbacks in these bindings")
    mujoco.set_mjcb_control(lambda m, d: None)
    try:
        with pytest.raises(dijoco.Error, match="callbacks"):
            transition(m, d)
    finally:
        mujoco.set_mjcb_control(None)
    transition(m, d)
    user = WALKER.replace("<sensor>", '<sensor><user dim="2" needstage="acc"/>')
    m = mujoco.MjModel.from_xml_string(user)
    d = moved(m, 10)
    A, _, C, _ = Transition(m)(d, sensors=True)
    assert not C[:2].any() and C[2:].any()
    mujoco.set_mjcb_sensor(lambda m, d, stage: None)
    try:
        with pytest.raises(dijoco.Error, match="sensor #0: callbacks"):
            transition(m, d, None, None, C)
        transition(m, d, A)
    finally:
        mujoco.set_mjcb_sensor(None)


def test_numbers_that_are_not_finite():
    m, d = walker()
    good = copy.copy(d)
    for name in ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "xfrc_applied"):
        array = getattr(d, name).reshape(-1)
        for bad in (np.nan, np.inf, -1e11):
            kept, array[0] = array[0], bad
            with pytest.raises(dijoco.Error, match=name + r"\[0\]") as caught:
                found(m, d)
            assert caught.value.status == -1
            array[0] = kept
    for X, Y in zip(found(m, d), found(m, good)):
        np.testing.assert_array_equal(X, Y)


def test_errors_of_mujoco():
    """Too little memory for contacts, which MuJoCo finds in the middle of a step."""
    m = mujoco.MjModel.from_xml_string(
        WALKER.replace("<default>", '<size memory="4K"/><default>', 1))
    d, t = mujoco.MjData(m), Transition(m)
    good = t(d)
    for _ in range(50):
        d.qpos[2] = .57
        for run in (lambda: t(d), lambda: transition(m, d, *map(np.copy, good))):
            with pytest.raises(dijoco.Error, match="memory"):
                run()
        d.qpos[2] = .62
        A, B = np.zeros_like(good[0]), np.zeros_like(good[1])
        transition(m, d, A, B)
        for X, Y, Z in zip(t(d), good, (A, B)):
            np.testing.assert_array_equal(X, Y)
            np.testing.assert_array_equal(X, Z)
    assert len(mj_transition._works[m]) == 1


# ---- threads -----------------------------------------------------------------------------------

def test_threads():
    m, _ = walker()
    shared = Transition(m)

    def run(out, k):
        d, total = moved(m, 30 + 10 * k, k), 0
        for _ in range(50):
            total += np.hstack([x.ravel() for x in found(m, d)])
            total += np.hstack([x.ravel() for x in shared(d, sensors=True)])
            mujoco.mj_step(m, d)
        out[k] = total

    assert_same_on_threads(run)
    assert 1 <= len(mj_transition._works[m]) <= 4


def test_first_calls_at_once():
    m, d = walker()
    barrier, out = threading.Barrier(8), {}

    def run(k):
        other = copy.copy(d)
        barrier.wait()
        out[k] = found(m, other)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(8):
        for X, Y in zip(out[k], found(m, d)):
            np.testing.assert_array_equal(X, Y)


# ---- a context ---------------------------------------------------------------------------------

def test_context_steps_as_mujoco():
    m, d = walker()
    context = dijoco.Context(m, derivatives="mujoco")
    assert isinstance(context, dijoco.Context) and context.derivatives == "mujoco"
    other = copy.copy(d)
    assert context.step(d) == 0 and context.step(d, 3) == 0 and context.step(d, 0) == 0
    for _ in range(4):
        mujoco.mj_step(m, other)
    assert context.forward(d) == 0
    mujoco.mj_forward(m, other)
    for name in ("qpos", "qvel", "act", "qacc", "qacc_warmstart", "sensordata", "time"):
        np.testing.assert_array_equal(getattr(d, name), getattr(other, name))
    assert context.status == 0 and context.sensors is True and context.substeps == 1
    assert context.info is None
    A, B = context.transition(d)
    assert context.info.ncontact > 0
    for X, Y in zip((A, B), found(m, d)):
        np.testing.assert_array_equal(X, Y)
    assert "derivatives=mujoco" in repr(context)
    assert [context.sensor_is_analytic(i) for i in range(5)] == [True, True, False, True, False]
    with pytest.raises(ValueError, match="sensor: 5"):
        context.sensor_is_analytic(5)


def test_context_has_nothing_to_set():
    m, d = walker()
    for name, value in (("substeps", 2), ("sensors", True), ("contact", "penalty"),
                        ("preset", "smooth")):
        with pytest.raises(ValueError, match=name + ": not with derivatives"):
            dijoco.Context(m, derivatives="mujoco", **{name: value})
    with pytest.raises((TypeError, ValueError), match="nonsense"):
        dijoco.Context(m, derivatives="mujoco", nonsense=1)
    with pytest.raises(ValueError, match="derivatives: unknown 'fd', there are: analytic, mujoco"):
        dijoco.Context(m, derivatives="fd")
    context = dijoco.Context(m, derivatives="mujoco")
    for name in ("model", "data", "report", "mocap_velocity", "set_mocap_velocity"):
        with pytest.raises(AttributeError, match="its step is MuJoCo's|no attribute"):
            getattr(context, name)
    for name in ("substeps", "sensors"):
        with pytest.raises(AttributeError):
            setattr(context, name, 1)
    for bad in (None, m):
        for call in (context.step, context.forward, context.transition):
            with pytest.raises(TypeError, match="expected a mujoco.MjData"):
                call(bad)
    with pytest.raises(TypeError, match="expected a mujoco.MjModel"):
        dijoco.Context(d, derivatives="mujoco")
    pendulum = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody></mujoco>")
    assert dijoco.Context(pendulum).derivatives == "analytic"
    other = copy.copy(context)
    assert other.derivatives == "mujoco"
    np.testing.assert_array_equal(other.transition(d)[0], context.transition(d)[0])


def test_classes_of_contexts():
    m, d = walker()

    class Mine(dijoco.Context):
        pass

    with pytest.raises(TypeError, match="derived"):
        Mine(m, derivatives="mujoco")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dijoco.ModelWarning)
        assert type(Mine(m)) is Mine
    stock = type(dijoco.Context(m, derivatives="mujoco"))
    assert stock(m).transition(d)[0].shape == shapes(m)[0]
    with pytest.raises(ValueError, match="derivatives: expected mujoco, not 'analytic'"):
        stock(m, derivatives="analytic")
