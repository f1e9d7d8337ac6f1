"""Mocap bodies that move: a pusher, an elevator, a belt, two fingers that lift and a cup with a ball, at
several speeds and timesteps; and velocities as numbers, of Data and of a Context."""
import numpy as np
import pytest

import dijoco

HEAD = """<mujoco><option timestep="%g"/><worldbody>
<geom name="floor" type="plane" size="20 20 1"/>"""
TAIL = "</worldbody></mujoco>"
MU = 0.5
SPEEDS = [(v, h) for v in (0.1, 0.5, 2) for h in (0.002, 0.01)]


def cube(z, friction=MU):
    return ('<body name="cube" pos="0 0 %g"><freejoint/><geom type="box" size=".05 .05 .05" mass="1"'
            ' friction="%g"/></body>' % (z, friction))


def moved(name, pos, size, friction=MU):
    return ('<body name="%s" mocap="true" pos="%g %g %g"><geom type="box" size="%g %g %g"'
            ' friction="%g"/></body>' % (name, *pos, *size, friction))


def scene(tmp_path, body, h):
    path = tmp_path / "scene.xml"
    path.write_text(HEAD % h + body + TAIL)
    data = dijoco.Data(dijoco.Model.load(str(path)))
    data.step(int(0.1 / h))
    return data


def ramp(v, t, rise=0.5):
    """Way at time t of what gains the speed v within `rise`."""
    return 0.5 * v / rise * t * t if t < rise else 0.5 * v * rise + v * (t - rise)


@pytest.mark.parametrize("v,h", SPEEDS)
def test_pusher(tmp_path, v, h):
    data = scene(tmp_path, cube(0.05) + moved("p", (-0.12, 0, 0.051), (0.02, 0.05, 0.05)), h)
    for k in range(int(min(1 / v, 2) / h)):
        data.mocap_pos[0, 0] += v * h
        data.step()
    assert data.qvel[0] == pytest.approx(v, rel=1e-4)
    assert data.qpos[0] - data.mocap_pos[0, 0] == pytest.approx(0.07, abs=1e-4)
    assert data.stats.recovering_steps == 0


@pytest.mark.parametrize("v,h", SPEEDS)
def test_elevator(tmp_path, v, h):
    data = scene(tmp_path, moved("p", (0, 0, 0.5), (0.2, 0.2, 0.02)) + cube(0.57), h)
    for k in range(int(1 / h)):
        data.mocap_pos[0, 2] = 0.5 + ramp(v, (k + 1) * h)
        data.step()
        assert data.qpos[2] - data.mocap_pos[0, 2] == pytest.approx(0.07, abs=1e-5)
    assert data.qvel[2] == pytest.approx(v, rel=1e-4)


@pytest.mark.parametrize("v,h", SPEEDS)
def test_belt(tmp_path, v, h):
    data = scene(tmp_path, moved("p", (0, 0, 0.3), (5, 0.5, 0.02)) + cube(0.37), h)
    for k in range(int(1 / h)):   # it stays where it is
        data.mocap_vel = [[v, 0, 0, 0, 0, 0]]
        assert data.mocap_vel == pytest.approx(np.array([[v, 0, 0, 0, 0, 0]]), abs=1e-12)
        data.step()
    assert data.mocap_pos[0, 0] == 0
    assert data.qvel[0] == pytest.approx(v, rel=1e-4)
    assert data.qpos[0] == pytest.approx(v - v * v / (2 * MU * 9.81), abs=v * h)
    data.reset()
    assert (data.mocap_vel == 0).all() and (data.mocap_last_quat == 0).all()


@pytest.mark.parametrize("squeeze", [0.0002, 0.003])
@pytest.mark.parametrize("v,h", SPEEDS)
@pytest.mark.filterwarnings("ignore")   # what is squeezed recovers
def test_hand(tmp_path, v, h, squeeze):
    size = (0.02, 0.04, 0.04)
    data = scene(tmp_path, cube(0.05, 1) + moved("l", (-0.075, 0, 0.05), size, 1)
                 + moved("r", (0.075, 0, 0.05), size, 1), h)
    n = round((0.005 + squeeze) / 0.05 / h)
    for k in range(n):
        way = (k + 1) / n * (0.005 + squeeze)
        data.mocap_pos[:, 0] = way - 0.075, 0.075 - way
        data.step()
    z = data.qpos[2]
    for k in range(int(1 / h)):
        data.mocap_pos[:, 2] = 0.05 + ramp(v, (k + 1) * h)
        data.step()
        assert data.qpos[2] - z == pytest.approx(data.mocap_pos[0, 2] - 0.05, abs=1e-4)
    assert np.abs(data.qpos[4:]).max() < 1e-6


@pytest.mark.parametrize("v,h", SPEEDS)
def test_cup(tmp_path, v, h):
    w, t = 0.04, 0.01
    walls = [(0, 0, 0, w, w, t), (-w - t, 0, w, t, w + 2 * t, w), (w + t, 0, w, t, w + 2 * t, w),
             (0, -w - t, w, w, t, w), (0, w + t, w, w, t, w)]
    geoms = "".join('<geom type="box" pos="%g %g %g" size="%g %g %g"/>' % wall for wall in walls)
    data = scene(tmp_path, '<body mocap="true" pos="0 0 .5">' + geoms + '</body><body pos="0 0 .53">'
                 '<freejoint/><geom type="sphere" size=".02" mass=".1"/></body>', h)
    for k in range(int(1 / h)):
        data.mocap_pos[0, 0] = ramp(v, (k + 1) * h, 0.2)
        data.step()
        assert abs(data.qpos[0] - data.mocap_pos[0, 0]) < 0.0201
        assert abs(data.qpos[2] - 0.53) < 0.005
    assert data.qvel[0] == pytest.approx(v, rel=1e-3)


def test_bad_velocity(tmp_path):
    data = scene(tmp_path, moved("p", (0, 0, 1), (0.1, 0.1, 0.1)) + cube(0.05), 0.01)
    with pytest.raises(ValueError):
        data.mocap_vel = [1, 2, 3]
    with pytest.raises(dijoco.Error):
        data.mocap_vel = [[np.nan, 0, 0, 0, 0, 0]]


@pytest.mark.parametrize("substeps", [1, 3])
def test_context(substeps):
    mujoco = pytest.importorskip("mujoco")
    h, v = 0.01, 0.5
    model = mujoco.MjModel.from_xml_string(
        HEAD % h + cube(0.05) + moved("p", (-0.12, 0, 0.051), (0.02, 0.05, 0.05)) + TAIL)
    data, other = mujoco.MjData(model), mujoco.MjData(model)
    context = dijoco.Context(model)
    context.substeps = substeps
    for k in range(100):
        data.mocap_pos[0, 0] += v * h
        if k > 0:
            context.forward(data)      # leaves no trace
            assert context.mocap_velocity(data)[0, 0] == pytest.approx(v)
        context.step(data)
    assert data.qvel[0] == pytest.approx(v, rel=1e-4)
    assert data.qpos[0] - data.mocap_pos[0, 0] == pytest.approx(0.07, abs=1e-4)
    # what was read goes on elsewhere
    data.mocap_pos[0, 0] += v * h
    velocity = context.mocap_velocity(data)
    mujoco.mj_copyData(other, model, data)
    fresh = dijoco.Context(model)
    fresh.substeps = substeps
    assert (fresh.mocap_velocity(other) == 0).all()
    fresh.set_mocap_velocity(other, velocity)
    context.step(data)
    fresh.step(other)
    assert other.qpos == pytest.approx(data.qpos, abs=1e-12)
    # no velocity on other data, at another time, after a reset
    data.mocap_pos[0, 0] += v * h
    assert context.mocap_velocity(data)[0, 0] == pytest.approx(v)
    other.mocap_pos[:], other.time = data.mocap_pos, data.time
    assert (context.mocap_velocity(other) == 0).all()
    data.time += 1
    assert (context.mocap_velocity(data) == 0).all()
    mujoco.mj_resetData(model, data)
    data.mocap_pos[0, 0] += v * h
    assert (context.mocap_velocity(data) == 0).all()
