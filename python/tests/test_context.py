"""Our step on MuJoCo's data: against mj_step without contact, derivatives against differences."""
import copy
import gc
import pickle
import re
import warnings

import numpy as np
import pytest

import dijoco
from mj import mujoco
from together import assert_same_on_threads

ARM = """
<mujoco>
  <option timestep="{h}" integrator="{integrator}"/>
  <worldbody>
    <body name="upper" pos="0 0 1">
      <joint name="shoulder" axis="0 1 0" damping=".05"/>
      <geom type="capsule" size=".03" fromto="0 0 0 .3 0 0" contype="0" conaffinity="0"/>
      <body name="lower" pos=".3 0 0">
        <joint name="elbow" axis="0 1 .2" stiffness=".3"/>
        <geom type="capsule" size=".02" fromto="0 0 0 .3 0 0" contype="0" conaffinity="0"/>
        <site name="hand" pos=".3 0 0"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="m" joint="shoulder"/>
    <general name="f" joint="elbow" dyntype="filterexact" dynprm=".05"/>
  </actuator>
  <sensor>
    <framepos name="hand" objtype="site" objname="hand"/>
    <jointvel name="elbow" joint="elbow"/>
    <accelerometer name="imu" site="hand"/>
    <rangefinder name="range" site="hand"/>
  </sensor>
</mujoco>"""

SLIDE = """
<mujoco>
  <option timestep="0.005"/>
  <custom><numeric name="dijoco_stiffness_scale" data="1e-5"/></custom>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="box" pos="0 0 .1"><freejoint/>
      <geom name="box" type="box" size=".1 .1 .1" mass="1" friction=".5"/></body>
  </worldbody>
  <sensor><framepos objtype="body" objname="box"/></sensor>
</mujoco>"""


def arm(h=0.002, integrator="Euler"):
    m = mujoco.MjModel.from_xml_string(ARM.format(h=h, integrator=integrator))
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:], d.ctrl[:], d.act[:] = [0.3, -0.5], [1, 2], [0.5, -0.3], 0.2
    return m, d


def without_sensors(m):
    other = copy.copy(m)
    other.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_SENSOR)
    return other


def slide(speed=1.0):
    m = mujoco.MjModel.from_xml_string(SLIDE)
    d = mujoco.MjData(m)
    d.qvel[:3] = [speed, 0.3, 0]
    context = dijoco.Context(m)
    context.model.option["tolerance"] = 1e-10
    context.step(d, 20)
    return m, d, context


def test_order_of_the_step():
    """Without contact the end of a run tends to RK4's with order 1, and with `variational`, too."""
    m, fine = arm(1e-4, "RK4")
    while fine.time < 0.1 - 1e-9:
        mujoco.mj_step(m, fine)
    for integrator in ("position", "variational"):
        errors = []
        for h in (2e-3, 1e-3, 5e-4):
            m, d = arm(h)
            context = dijoco.Context(m)
            context.model.option["integrator"] = integrator
            assert context.step(d, round(0.1 / h)) == 0
            assert d.time == pytest.approx(0.1)
            errors.append(np.abs(np.r_[d.qpos, d.qvel, d.act]
                                 - np.r_[fine.qpos, fine.qvel, fine.act]).max())
        assert errors[0] < 0.1
        assert np.log2(errors[0] / errors[2]) / 2 == pytest.approx(1, abs=0.2)


def test_near_mujocos_own_derivatives():
    for h in (1e-3, 1e-4):
        m, d = arm(h)
        nx = 2 * m.nv + m.na
        A, B = dijoco.Context(m).transition(d)
        A2, B2 = np.zeros((nx, nx)), np.zeros((nx, m.nu))
        mujoco.mjd_transitionFD(m, d, 1e-6, True, A2, B2, None, None)
        for X, Y in ((A, A2), (B, B2)):  # but for what differences lack
            assert np.abs(X - Y).max() < 1e-7 * np.abs(Y).max()


def moved(m, d, dx, du, s):
    other = copy.copy(d)
    mujoco.mj_integratePos(m, other.qpos, dx[:m.nv], s)
    other.qvel[:] += s * dx[m.nv:2 * m.nv]
    other.act[:] += s * dx[2 * m.nv:]
    other.ctrl[:] += s * du
    return other


def difference(m, end, d, dx, du, h):
    """Extrapolated difference of end(data) -> vector, or of (qpos, qvel, act)."""
    def central(h):
        high, low = (end(moved(m, d, dx, du, s)) for s in (h, -h))
        if isinstance(high, np.ndarray):
            return (high - low) / (2 * h)
        dq = np.zeros(m.nv)
        mujoco.mj_differentiatePos(m, dq, 2 * h, low.qpos, high.qpos)
        return np.r_[dq, (high.qvel - low.qvel) / (2 * h), (high.act - low.act) / (2 * h)]

    return (4 * central(h) - central(2 * h)) / 3


@pytest.mark.parametrize("case", ["arm", "slide", "substeps"])
def test_transition_against_differences(case):
    if case == "slide":
        m, d, context = slide()
        assert len(context.data.contacts) == 1
    else:
        m, d = arm()
        context = dijoco.Context(m)
    context.model.option["tolerance"] = 1e-12
    if case == "substeps":
        context.substeps = 3
    rng = np.random.default_rng(8)
    dx, du = rng.normal(size=2 * m.nv + m.na), rng.normal(size=m.nu)
    before = copy.copy(d)
    A, B, C, D = context.transition(d, sensors=True)
    A1, B1 = context.transition(d)
    np.testing.assert_array_equal(A, A1), np.testing.assert_array_equal(B, B1)
    for name in ("qpos", "qvel", "act", "qacc", "sensordata", "time"):
        np.testing.assert_array_equal(getattr(d, name), getattr(before, name), name)

    def step(x):
        context.step(x)
        return x

    def sense(x):
        context.forward(x)
        return x.sensordata.copy()

    expected = difference(m, step, d, dx, du, 1e-6)
    ours = A @ dx + B @ du
    np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())
    assert np.abs(A.T @ dx - expected).max() > 1e-2 * np.abs(expected).max()  # it can fail
    expected = difference(m, sense, d, dx, du, 1e-6)
    np.testing.assert_allclose(C @ dx + D @ du, expected, rtol=1e-5,
                               atol=1e-5 * np.abs(expected).max())
    assert C.shape == (m.nsensordata, len(dx)) and D.shape == (m.nsensordata, m.nu)


def test_sensors():
    m, d = arm()
    context = dijoco.Context(m)
    assert context.sensor_is_analytic("hand") and not context.sensor_is_analytic(3)
    assert context.sensors  # there are some
    context.step(d)
    assert d.sensordata[4] != 0
    other = mujoco.MjData(m)
    context.sensors = False
    context.step(other)
    assert not other.sensordata.any() and not context.sensors
    dijoco.Context(m, sensors=False).step(other)
    assert not other.sensordata.any()
    assert not dijoco.Context(without_sensors(m)).sensors
    with pytest.raises(ValueError, match="sensor: 4"):
        context.sensor_is_analytic(4)


def test_forces_and_forward():
    m, d, context = slide(0.0)
    context.step(d, 100)
    assert d.qfrc_constraint[2] == pytest.approx(m.body_mass[1] * 9.81, rel=1e-6)
    contact = context.data.contacts
    assert contact.normal_force[0] == pytest.approx(d.qfrc_constraint[2])
    assert context.report and context.report == context.model.report
    context.forward(d)
    np.testing.assert_allclose(d.sensordata, d.qpos[:3], atol=1e-12)


def test_substeps():
    m, d = arm()
    context = dijoco.Context(m)
    context.substeps = 4
    assert context.substeps == 4
    fine = dijoco.Data(dijoco.Model.from_mujoco(m))
    fine.model.option["timestep"] = m.opt.timestep / 4
    fine.qpos, fine.qvel, fine.ctrl, fine.act = d.qpos, d.qvel, d.ctrl, d.act
    context.step(d)
    fine.step(4)
    np.testing.assert_allclose(d.qpos, fine.qpos, rtol=1e-14)
    with pytest.raises(AttributeError, match="substep"):
        context.substep = 2
    with pytest.raises(TypeError, match="substeps: expected an integer"):
        context.substeps = 1.5
    context.substeps = -1
    with pytest.raises(dijoco.Error, match="substeps"):
        context.step(d)
    assert context.status == -1


def test_not_converged_is_visible():
    m, d, context = slide()
    context.model.option = {"integrator": "position", "max_iterations": 1}
    d.qvel[:] = [3, 1, -5, 4, 5, 6]
    assert context.step(d, 5) == context.status == 1
    assert context.data.stats.unconverged_steps > 0


def test_errors():
    m, d = arm()
    context = dijoco.Context(m)
    for bad in (None, m, "d", object()):
        for call in (context.step, context.forward, context.transition):
            with pytest.raises(TypeError, match="expected a mujoco.MjData"):
                call(bad)
    for make in (dijoco.Context, dijoco.Model.from_mujoco):
        with pytest.raises(TypeError, match="expected a mujoco.MjModel, not MjData"):
            make(d)
    other, x = slide()[:2]
    for call in (context.step, context.forward, context.transition):
        with pytest.raises(ValueError, match="another model"):
            call(x)
    d.qvel[1] = np.nan
    before = d.qpos.copy()
    with pytest.raises(dijoco.Error, match="qvel") as caught:
        context.step(d)
    assert caught.value.status == -1
    np.testing.assert_array_equal(d.qpos, before)
    with pytest.raises(dijoco.Error, match="qvel"):
        context.transition(d)


def test_pickled_context():
    """What was given and what was set since; both go on alike, apart from each other."""
    m = mujoco.MjModel.from_xml_string(ARM.format(h=.002, integrator="Euler"))
    context = dijoco.Context(m, substeps=2, sensors=False, tolerance=1e-8)
    context.model.option["max_iterations"] = 77
    context.model.set_param("joint/elbow/damping", .7)
    for function in copy.copy, copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            other = function(context)
        assert (other.substeps, other.sensors) == (2, False)
        assert other.model.option["tolerance"] == 1e-8 and other.model.option["max_iterations"] == 77
        assert other.model.param("joint/elbow/damping") == .7
        d, e = mujoco.MjData(m), mujoco.MjData(m)
        d.qvel[:] = e.qvel[:] = [1, -2]
        context.step(d, 9)
        other.step(e, 9)
        np.testing.assert_array_equal(d.qpos, e.qpos)
        assert other.model.to_text() == context.model.to_text()
        other.model.option["max_iterations"] = 7
        assert context.model.option["max_iterations"] == 77
    stock = pickle.loads(pickle.dumps(dijoco.Context(m, derivatives="mujoco")))
    assert stock.derivatives == "mujoco" and stock.step(d) == 0


def test_what_is_ignored(tmp_path):
    text = SLIDE.replace('type="plane" size="0 0 1"', 'type="plane" size="0 0 1" adhesion="1"')
    path = tmp_path / "sticky.xml"
    path.write_text(text)
    m = mujoco.MjModel.from_xml_path(str(path))
    for load, source in ((dijoco.Model.from_mujoco, m), (dijoco.Model.load, path),
                         (dijoco.Context, m)):
        with pytest.warns(dijoco.ModelWarning,
                          match="adhesion of geom/floor is ignored: ") as told:
            report = load(source).report
        assert len(told) == 1 and told[0].filename == __file__
        entry, = [e for e in report if e.state == "ignored"]
        assert entry.element == "geom/floor" and entry.note
    task = {"scene": str(path), "horizon": 2, "loss": [], "variables": [{"name": "qvel0"}]}
    with pytest.raises(dijoco.Error, match="geom/floor.*is ignored although") as caught:
        dijoco.grad(task)
    assert caught.value.status == -2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", dijoco.ModelWarning)
        assert dijoco.grad(task, allow_ignored=True)["status"] == "ok"
    scenes = dict(task, scenes=[{"name": "a"}, {"name": "b"}])
    for work in (lambda: dijoco.grad(scenes, allow_ignored=True),
                 lambda: dijoco.Design(scenes, allow_ignored=True)):
        with pytest.warns(dijoco.ModelWarning, match="adhesion of geom/floor is ignored") as told:
            work()
        assert len(told) == 1 and told[0].filename == __file__


def test_what_is_not_exact_is_told_once():
    m = mujoco.MjModel.from_xml_string(SLIDE)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        context = dijoco.Context(m)
    about = [w for w in told if w.category is dijoco.ModelWarning]
    assert len(about) == 1 and about[0].filename == __file__
    text = str(about[0].message)
    assert re.search(r"\n  solref of \d+ geoms, most at geom/.*: MuJoCo's bodies sink in by", text)
    features = {(e.element.split("/")[0], e.feature) for e in context.report}
    assert len(text.splitlines()) == 2 + len(features)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", dijoco.ModelWarning)
        dijoco.Context(m)
        warnings.simplefilter("error")
        dijoco.Context(arm()[0])   # all of it is exact


def test_models_are_kept_alive():
    m, d = arm()
    context = dijoco.Context(m)
    expected, other = copy.copy(d), copy.copy(d)
    context.step(expected, 3)
    model, data = context.model, context.data
    del m, d
    gc.collect()
    context.step(other, 3)
    np.testing.assert_array_equal(other.qpos, expected.qpos)
    del context
    gc.collect()
    assert model.nq == 2 and data.stats.steps == 6
    np.testing.assert_array_equal(data.qpos, expected.qpos)


def test_load_and_from_mujoco(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text(ARM.format(h=0.002, integrator="Euler"))
    loaded = dijoco.Model.load(path)
    wrapped = dijoco.Model.from_mujoco(mujoco.MjModel.from_xml_path(str(path)))
    assert loaded.names("joint") == wrapped.names("joint") == ["shoulder", "elbow"]
    np.testing.assert_array_equal(loaded.body_inertia, wrapped.body_inertia)
    assert [e.feature for e in loaded.report] == [e.feature for e in wrapped.report]
    for text, culprit in (("<mujoco><wrong/></mujoco>", "wrong"), ("", "arm.xml")):
        path.write_text(text)
        with pytest.raises(dijoco.Error, match=culprit):
            dijoco.Model.load(path)
    with pytest.raises(dijoco.Error, match="none.xml"):
        dijoco.Model.load(tmp_path / "none.xml")


def test_threads():
    m, _ = arm()

    def run(out, k):
        d, context = mujoco.MjData(m), dijoco.Context(m)
        d.qvel[0] = k
        context.step(d, 200)
        out[k] = d.qpos.copy()

    assert_same_on_threads(run)


def test_contacts_of_the_plugin():
    assert dijoco.register_plugins() is None
    dijoco.register_plugins()  # once more is no error
    plugin = ("<extension><plugin plugin=\"dijoco.contact\"><instance name=\"dj\"/></plugin>"
              "</extension><worldbody>")
    m = mujoco.MjModel.from_xml_string(SLIDE.replace("<worldbody>", plugin, 1))
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    d = mujoco.MjData(m)
    for _ in range(100):
        mujoco.mj_step(m, d)
    context = dijoco.Context.of_plugin(m, d)
    contacts = context.data.contacts
    assert len(contacts) == 1 and contacts.normal_force[0] == pytest.approx(9.81, rel=1e-3)
    assert context.data.qpos[2] == pytest.approx(d.qpos[2]) and context.data.model.nv == 6
    m.opt.gravity[2] = -5  # the plugin makes its context anew
    mujoco.mj_step(m, d)
    assert context.data.contacts.normal_force[0] == contacts.normal_force[0]
    contacts = dijoco.Context.of_plugin(m, d).data.contacts
    assert contacts.normal_force[0] < 9
    copied = dijoco.Context.of_plugin(m, copy.copy(d))
    assert len(copied.data.contacts) == 0  # not evaluated yet
    del m, d
    gc.collect()
    assert len(context.data.contacts) == 1
    m, d, _ = slide()
    assert dijoco.Context.of_plugin(m, d) is None
    with pytest.raises(ValueError, match="another model"):
        dijoco.Context.of_plugin(m, arm()[1])


def test_a_changed_model_in_stock_mujoco(tmp_path):
    scene, out = tmp_path / "arm.xml", tmp_path / "out.xml"
    scene.write_text(ARM.format(h=0.002, integrator="Euler"))
    model = dijoco.Model.load(scene)
    model.set_param("body/upper/mass", 3)
    model.option["support"] = 0.02
    model.save_mjcf(out, scene, {"name": "best", "qpos": [0.1, 0.2], "ctrl": [1, 2]})
    m = mujoco.MjModel.from_xml_path(str(out))
    assert m.body_mass[1] == 3 and m.nkey == 1
    np.testing.assert_array_equal(m.key_qpos, [[0.1, 0.2]])
    np.testing.assert_array_equal(m.key_ctrl, [[1, 2]])
    again = dijoco.Model.load(out)
    assert again.settings["support"] == 0.02 and again.names("key") == ["best"]
    model.save_mjcf(out, scene)
    assert mujoco.MjModel.from_xml_path(str(out)).nkey == 0
    with pytest.raises(ValueError, match="key: unknown 'q'"):
        model.save_mjcf(out, scene, {"q": 1})
    with pytest.raises(ValueError, match=r"qpos: expected shape \(2,\)"):
        model.save_mjcf(out, scene, {"qpos": [1]})
    with pytest.raises(dijoco.Error, match="none.xml"):
        model.save_mjcf(out, tmp_path / "none.xml")


def test_pickled_data():
    """An MjData that was pickled goes on with the plugin, and both can be deleted."""
    dijoco.register_plugins()
    m = mujoco.MjModel.from_xml_string("""
      <mujoco>
        <extension><plugin plugin="dijoco.contact"><instance name="dj"/></plugin></extension>
        <option><flag contact="disable"/></option>
        <worldbody>
          <geom type="plane" size="1 1 1"/>
          <body pos="0 0 .11"><freejoint/><geom size=".1"/></body>
        </worldbody>
      </mujoco>""")
    d = mujoco.MjData(m)
    mujoco.mj_step(m, d, 10)
    other = pickle.loads(pickle.dumps(d))
    mujoco.mj_step(m, d, 200)
    mujoco.mj_step(other.model, other, 200)
    assert np.array_equal(d.qpos, other.qpos) and d.qpos[2] > 0.09
    del other
    gc.collect()
    mujoco.mj_step(m, d)


PUSHED = """
<mujoco>
  <option timestep="0.005"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="box" pos="0 0 .0501"><freejoint/>
      <geom name="box" type="box" size=".05 .05 .05" mass="1" friction=".5"/></body>
    <body name="rod" pos="-.071 0 .05"><joint name="rod" type="slide" axis="1 0 0"/>
      <geom name="rod" type="box" size=".02 .02 .02" mass=".1"/></body>
    <body name="hand" mocap="true" pos="0 .3 .3">
      <geom type="sphere" size=".01" contype="0" conaffinity="0"/></body>
  </worldbody>
  <actuator><motor joint="rod"/></actuator>
</mujoco>"""


def test_smooth_derivatives():
    m = mujoco.MjModel.from_xml_string(PUSHED)
    d, e = mujoco.MjData(m), mujoco.MjData(m)
    context, alone = dijoco.Context(m), dijoco.Context(m)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        smooth = dijoco.Context(m, preset="smooth")
        told.clear()
        context.transition(d, derivatives="smooth")
        assert not told   # what is not as in MuJoCo has been told
    for k in range(12):
        d.ctrl[0] = e.ctrl[0] = 0.4 * k
        A, B = context.transition(d, derivatives="smooth")
        C, D = smooth.transition(d)
        assert (A == C).all() and (B == D).all() and context.status == 0
        hard = context.transition(d)
        assert all((x == y).all() for x, y in zip(hard, alone.transition(d)))
        assert all((x == y).all() for x, y in zip(hard, context.transition(d, derivatives="analytic")))
        if k == 11:   # the rod presses against the box, and contact that is soft lets it move on
            assert 0 < 100 * hard[1][13, 0] < B[13, 0]
        context.step(d)
        alone.step(e)
        assert (d.qpos == e.qpos).all() and (d.qvel == e.qvel).all()
    m.geom_friction[:] = 0.1   # followed by both
    assert (context.transition(d, derivatives="smooth")[0] == smooth.transition(d)[0]).all()
    assert context.smooth.model.option["preset"] == "smooth"
    context.substeps = smooth.substeps = 2
    assert (context.transition(d, derivatives="smooth")[0] == smooth.transition(d)[0]).all()


def test_smooth_derivatives_refused():
    m = mujoco.MjModel.from_xml_string(PUSHED)
    d = mujoco.MjData(m)
    with pytest.raises(ValueError, match="expected analytic or smooth, not 'soft'"):
        dijoco.Context(m).transition(d, derivatives="soft")
    with pytest.raises(ValueError, match="not beside a preset that was given, 'smooth'"):
        dijoco.Context(m, preset="smooth").transition(d, derivatives="smooth")
    copied = pickle.loads(pickle.dumps(dijoco.Context(m, restitution="given")))
    assert copied.smooth.model.option["restitution"] == "given"
