"""A Context's settings by keyword, and that it follows changes of its MjModel."""
import copy
import gc
import re
import warnings

import numpy as np
import pytest

import dijoco
from mj import mujoco

SCENE = """
<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="box" pos="0 0 .1"><freejoint/>
      <geom name="box" type="box" size=".1 .1 .1" mass="1" friction=".5"/>
      <site name="skin" type="box" size=".11 .11 .11"/></body>
    <body name="cart" pos="2 0 1"><joint name="slide" type="slide" axis="1 0 0"/>
      <geom name="cart" size=".1" mass="2" contype="0" conaffinity="0"/><site name="cart"/></body>
  </worldbody>
  <actuator><motor name="push" joint="slide"/></actuator>
  <sensor><touch name="touch" site="skin"/><accelerometer name="cart" site="cart"/></sensor>
</mujoco>"""


def scene():
    m = mujoco.MjModel.from_xml_string(SCENE)
    d = mujoco.MjData(m)
    d.qvel[:3], d.ctrl[0] = [1, .2, 0], .5
    return m, d


def same(a, b):
    for name in ("qpos", "qvel", "act", "qacc", "cfrc_ext", "sensordata"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), name)


def set_size(m):
    m.geom_size[1] = [.12, .1, .05]


def set_gravity(m):
    m.opt.gravity[:] = [1, 0, -5]


def set_timestep(m):
    m.opt.timestep = .004


def set_friction(m):
    m.geom_friction[:2, 0] = .1


def set_contype(m):
    m.geom_contype[1] = m.geom_conaffinity[1] = 0


def set_mass(m):
    m.body_mass[2] *= 2


def set_pose(m):
    m.geom_pos[1, 2] = .01


@pytest.mark.parametrize("change", [set_size, set_gravity, set_timestep, set_friction, set_contype,
                                    set_mass, set_pose])
def test_changes_are_followed(change):
    m, d = scene()
    context = dijoco.Context(m)
    context.step(d, 5)
    other, stale, before = copy.copy(d), copy.copy(d), copy.copy(m)
    old = dijoco.Context(before)
    change(m)
    fresh = dijoco.Context(m)
    context.step(d, 3)
    fresh.step(other, 3)
    old.step(stale, 3)
    same(d, other)
    assert np.abs(d.qvel - stale.qvel).max() > 1e-9  # it can fail
    assert context.data.stats.steps == 8
    for a, b in zip(context.transition(d), fresh.transition(d)):
        np.testing.assert_array_equal(a, b)


def test_views_after_a_change():
    """What was read before stays as it was; what is asked for anew is new; nothing leaks."""
    m, d = scene()
    context = dijoco.Context(m)
    model, data, option = context.model, context.data, context.model.option
    context.step(d)
    sizes, qpos, pairs = model.geom_size, data.qpos, data.contacts
    was = sizes.copy(), qpos.copy()
    for k in range(20):
        m.geom_size[1, 2] = .08 + .001 * k
        d.qpos[2] = .3
        context.step(d)
        assert model.geom_size[1, 2] == m.geom_size[1, 2] and data.qpos[2] == d.qpos[2]
        assert len(data.contacts) == 0
        gc.collect()
        np.testing.assert_array_equal(sizes, was[0])
        np.testing.assert_array_equal(qpos, was[1])
    assert context.model is model and context.data is data and len(pairs) == 1
    assert model.nv == 7 and model.names("geom") == ["floor", "box", "cart"]
    option["tolerance"] = 1e-7
    del context, m
    gc.collect()
    np.testing.assert_array_equal(sizes, was[0])
    assert model.option["tolerance"] == 1e-7


def test_settings_stay():
    m, d = scene()
    context = dijoco.Context(m, timestep=.002, contact="implicit_surface", substeps=2)
    context.model.option["tolerance"] = 1e-7
    context.model.set_param("geom/box/friction", [.3, 0, 0])
    for k in range(2):
        m.opt.timestep, m.opt.gravity[2] = .004, -5 - k
        context.step(d)
        option = context.model.option
        assert option["timestep"] == .001 and option["contact"] == "implicit_surface"
        assert option["tolerance"] == 1e-7 and option["gravity"][2] == -5 - k
        assert context.model.param("geom/box/friction")[0] == .3 and context.substeps == 2


def test_changes_that_cannot_be_followed():
    m, d = scene()
    context = dijoco.Context(m)
    before = d.qpos.copy()
    m.body_mass[1] = np.nan
    for call in (context.step, context.forward, context.transition):
        with pytest.raises(dijoco.Error, match="changed and cannot be followed: body 'box': mass"):
            call(d)
    np.testing.assert_array_equal(d.qpos, before)
    m.body_mass[1] = 2
    context.step(d)
    assert d.time > 0


def test_what_a_change_leaves_out():
    """It warns of what was not left out before."""
    m, d = scene()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", dijoco.ModelWarning)
        context = dijoco.Context(m)
        context.step(d)
    assert all(e.state != "ignored" for e in context.report)
    m.actuator_gaintype[0] = int(mujoco.mjtGain.mjGAIN_MUSCLE)
    with pytest.warns(dijoco.ModelWarning, match="actuator/push") as told:
        context.step(d)
    assert len(told) == 1 and told[0].filename == __file__
    assert any(e.element == "actuator/push" and e.state == "ignored" for e in context.report)
    m.opt.gravity[2] = -1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        context.step(d)  # nothing new


# ---- keywords ----------------------------------------------------------------------------------

def test_keywords():
    m, d = scene()
    context = dijoco.Context(m, contact="penalty", preset="smooth", restitution="given",
                             integrator="position", derivatives="analytic", tolerance=1e-7)
    expected = {"contact": "penalty", "preset": "smooth", "restitution": "given",
                "integrator": "position", "tolerance": 1e-7}
    assert {name: context.model.option[name] for name in expected} == expected
    loaded = dijoco.Model.from_mujoco(m, **expected)
    assert loaded.settings == context.model.settings
    context.step(d, 3)


@pytest.mark.parametrize("setting", dijoco.settings(), ids=lambda s: s.name)
def test_every_setting_by_keyword(setting):
    m, _ = scene()
    value = (next((c for c in setting.choices if c not in (setting.default, "bdf2")),
                  setting.default)
             if setting.kind == "choice" else ["limit"] if setting.kind == "flags" else
             37 if setting.kind == "whole" else [.5, -.25, .125] if setting.size == 3 else
             max(.0123, 1.23 * setting.least))
    beside = {"guide_backward_only": True} if setting.name == "guide_decay" else {}
    context = dijoco.Context(m, **beside, **{setting.name: value})
    expected = 2 if setting.kind == "flags" else value
    np.testing.assert_array_equal(context.model.option[setting.name], expected)
    for bad in ("nothing", [1, 2], None, np.nan):
        with pytest.raises((ValueError, TypeError, dijoco.Error), match=setting.name):
            dijoco.Context(m, **beside, **{setting.name: bad})


def test_errors_name_the_remedy():
    m, _ = scene()
    context = dijoco.Context(m)
    option = context.model.option

    def assign(thing, name, value=1):
        setattr(thing, name, value)

    for error, text, call in [
            (TypeError, "tolerence.*did you mean tolerance", lambda: dijoco.Context(m, tolerence=1)),
            (TypeError, "colour: unknown.*derivatives.*timestep", lambda: dijoco.Context(m, colour=1)),
            (ValueError, "unknown 'fd', there are: analytic",
             lambda: dijoco.Context(m, derivatives="fd")),
            (ValueError, "contact: unknown value 'soft', expected one of none, mujoco, separating_plane",
             lambda: dijoco.Context(m, contact="soft")),
            (dijoco.Error, "bdf2.*use another integrator", lambda: dijoco.Context(m, integrator="bdf2")),
            (TypeError, "positional", lambda: dijoco.Context(m, "penalty")),
            (AttributeError, r"option\['timestep'\], or Context", lambda: context.timestep),
            (AttributeError, r"option\['timestep'\], or Context", lambda: assign(context, "timestep")),
            (AttributeError, r"option\['timestep'\]", lambda: option.timestep),
            (AttributeError, r"option\['timestep'\]", lambda: assign(option, "timestep")),
            (AttributeError, "speed.*NAME.*timestep", lambda: option.speed),
            (KeyError, "suport.*did you mean support", lambda: option["suport"]),
            (dijoco.Error, "suport.*did you mean support",
             lambda: option.__setitem__("suport", 1)),
            (TypeError, r"option\['support'\] = -1 brings", lambda: option.__delitem__("support")),
            (TypeError, r"option\['timestep'\] = 0.002 brings",
             lambda: option.__delitem__("timestep"))]:
        with pytest.raises(error, match=text):
            call()


def test_status():
    """`step` returns what is not 0 where a step did not converge; stats say how many."""
    m, d = scene()
    context = dijoco.Context(m, integrator="position", max_iterations=1)
    d.qvel[:6] = [3, 1, -5, 4, 5, 6]
    with pytest.warns(dijoco.StepWarning):
        assert context.step(d, 5) == 1
    stats = context.data.stats
    assert stats.unconverged_steps > 0 and stats.iterations > 0
    assert "%d unconverged" % stats.unconverged_steps in repr(stats)


def test_repr():
    m, d = scene()
    context = dijoco.Context(m, contact="penalty", integrator="position", substeps=3)
    data = context.data
    run = dijoco.rollout(context.model, np.zeros((4, 1)))
    for thing, text in [(context, "contact=penalty integrator=position substeps=3"),
                        (context.model, "nq=8 nv=7"), (data, "time=0"), (data.stats, "0 steps"),
                        (context.model.option, "contact=penalty"),
                        (context.model.option, "timestep=0.002"), (run, "4 steps"),
                        (run.vjp(params=["option/gravity"]), "4 steps of 1 controls.*option/gravity"),
                        (context.report[0], "approximated"), (dijoco.settings()[0], "timestep"),
                        (dijoco.tables()["losses"][0], "position"),
                        (dijoco.Gap(context.model, "box", "cart"), "geom box and geom cart"),
                        (dijoco.Gap(context.model, "box", "cart")(data), "normal")]:
        shown = repr(thing)
        assert shown.startswith("<dijoco.") and "\n" not in shown and len(shown) <= 100, shown
        assert re.search(text, shown), shown


# ---- sensors -----------------------------------------------------------------------------------

def test_sensors_are_those_of_the_start():
    """As mj_step leaves them: of the state before it; where the motion is equal, the same."""
    m, d = scene()
    other = copy.copy(d)
    context = dijoco.Context(m, tolerance=1e-12)
    for k in range(5):
        d.ctrl[0] = other.ctrl[0] = k
        context.step(d)
        mujoco.mj_step(m, other)
        np.testing.assert_allclose(d.sensor("cart").data, other.sensor("cart").data, rtol=1e-9)
        assert d.sensor("cart").data[0] == pytest.approx(k / 2)
    context.step(d, 1000)
    assert d.sensor("touch").data[0] == pytest.approx(9.81, rel=1e-3)  # at rest: its weight


# ---- what a run warns of -----------------------------------------------------------------------

def counted(told, name):
    return sum(name in str(w.message) for w in told)


def test_warnings_of_a_run():
    """Each kind once a run, where the user called; a reset begins another run."""
    m, d = scene()
    context = dijoco.Context(m, integrator="position", max_iterations=1)
    d.qvel[:6] = [3, 1, -5, 4, 5, 6]
    for calls in (5, 1):  # the second run has more of them in its one call
        with pytest.warns(dijoco.StepWarning) as told:
            for _ in range(calls):
                context.step(d, 3 if calls > 1 else 60)
        stats = context.data.stats
        assert stats.unconverged_steps > 2 and counted(told, "unconverged_steps") == 1
        assert counted(told, "fallback_steps") == (stats.fallback_steps > 0)
        assert {w.filename for w in told} == {__file__}
        context.data.reset()
        d.qvel[:6] = [3, 1, -5, 4, 5, 6]
    m, d = scene()
    d.qpos[2] = .09  # in the floor
    context = dijoco.Context(m)
    with pytest.warns(dijoco.StepWarning, match="recovering_steps") as told:
        context.step(d, 3)
    stats = context.data.stats
    assert len(told) == 1 and stats.recovering_steps > 0
    assert stats.recovering == sum(context.data.contacts.recovering) and stats.attempts >= 1
    assert stats.evaluations >= stats.iterations
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", dijoco.ModelWarning)
        context.step(d, 3)  # has been said
        d.qpos[2] = .2
        dijoco.Context(m).step(d, 10)  # nothing to say


def test_warnings_of_rollouts_and_data():
    m, _ = scene()
    model = dijoco.Model.from_mujoco(m, integrator="position", max_iterations=1)
    ctrl, qvel = np.zeros((20, 1)), [3, 1, -5, 4, 5, 6, 0]
    with pytest.warns(dijoco.StepWarning, match="of 20 steps .* did not converge") as told:
        run = dijoco.rollout(model, ctrl, qvel0=qvel)
    assert counted(told, "unconverged_steps") == 1 and told[0].filename == __file__
    assert run.stats.unconverged_steps == run.unconverged_steps > 0
    assert run.stats.steps == 20
    data = dijoco.Data(model)
    data.qvel = qvel
    with pytest.warns(dijoco.StepWarning, match="did not converge"):
        data.step(20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", dijoco.ModelWarning)
        data.copy().step(5)  # goes on with the run
