"""The sensor plugin dijoco.gap, and gaps in MuJoCo's models."""
import numpy as np
import pytest

import dijoco
from mj import mujoco

SCENE = """<mujoco><extension><plugin plugin="dijoco.gap"><instance name="g">
<config key="geom1" value="block"/><config key="geom2" value="bar"/></instance></plugin></extension>
<worldbody><geom name="block" type="box" size=".1 .2 .1"/>
<body name="arm" pos="0 0 .6"><joint axis="0 1 0"/><geom name="bar" type="box" size=".3 .05 .04"/>
<body name="hand" pos=".3 0 0"><joint axis="0 1 1"/>
<geom type="capsule" fromto="0 0 0 .2 0 -.1" size=".03"/></body></body></worldbody>
<sensor><plugin name="g" plugin="dijoco.gap" instance="g"/></sensor></mujoco>"""


@pytest.fixture
def scene():
    dijoco.register_plugins()
    m = mujoco.MjModel.from_xml_string(SCENE)
    d = mujoco.MjData(m)
    d.qpos[:] = .3, -.4
    mujoco.mj_forward(m, d)
    return m, d


def test_sensor_is_the_function(scene):
    m, d = scene
    value, jac = dijoco.mj_gap(m, d, "block", "bar")
    np.testing.assert_array_equal(value, d.sensordata)
    np.testing.assert_array_equal(jac, dijoco.mj_gap_sensor(m, d, "g"))
    np.testing.assert_array_equal(jac, dijoco.mj_gap_sensor(m, d, 0))


def test_derivative_against_mujocos_difference(scene):
    m, d = scene
    C = np.zeros((m.nsensordata, 2 * m.nv))
    mujoco.mjd_transitionFD(m, d, 1e-7, True, None, None, C, None)
    jac = dijoco.mj_gap_sensor(m, d, "g")
    np.testing.assert_allclose(C[:, :m.nv], jac, atol=1e-5)
    assert abs(jac).max() > .1
    context = dijoco.Context(m)
    assert context.sensor_is_analytic("g")
    np.testing.assert_allclose(context.transition(d, sensors=True)[2][:, :m.nv], jac, atol=1e-12)


def test_bodies(scene):
    m, d = scene
    value, jac = dijoco.mj_gap(m, d, "world", "hand", "body", smoothing=.002)
    assert value[0] > 0 and jac.shape == (10, m.nv)
    assert np.linalg.norm(value[1:4]) == pytest.approx(1)
    assert value[0] == pytest.approx(np.linalg.norm(value[7:] - value[4:7]))


def test_errors(scene):
    m, d = scene
    with pytest.raises(dijoco.Error):
        dijoco.mj_gap(m, d, 0, 0)
    with pytest.raises(ValueError, match="kind"):
        dijoco.mj_gap(m, d, 0, 1, "site")
    with pytest.raises(KeyError):
        dijoco.mj_gap(m, d, "block", "nobody")
    with pytest.raises(TypeError):
        dijoco.mj_gap(m, m, "block", "bar")
    with pytest.raises(ValueError, match="nobody"):
        mujoco.MjModel.from_xml_string(SCENE.replace('value="bar"', 'value="nobody"'))
