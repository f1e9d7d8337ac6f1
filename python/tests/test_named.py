"""Elements by their names, and models in the forms that users have."""
import numpy as np
import pytest

import dijoco
from mj import mujoco

XML = """
<mujoco>
  <worldbody>
    <body name="arm" pos="0 0 1"><joint name="hinge" axis="0 1 0" damping=".1"/>
      <geom name="rod" type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass=".5"/>
      <site name="tip" pos=".3 0 0"/>
    </body>
    <body name="box" pos="0 1 .5"><freejoint name="free"/><geom size=".1 .1 .1" type="box" mass="2"/>
    </body>
  </worldbody>
  <actuator><motor name="motor" joint="hinge"/></actuator>
</mujoco>"""


@pytest.fixture
def scene():
    if not hasattr(mujoco, "MjModel"):
        pytest.skip("the package mujoco is not installed")
    model = dijoco.Model.from_xml_string(XML, timestep=0.005)
    return model, dijoco.Data(model), mujoco.MjModel.from_xml_string(XML)


def test_model(scene):
    model, _, theirs = scene
    assert model.option["timestep"] == 0.005
    assert model.body("box").mass == theirs.body("box").mass == 2
    assert model.joint("hinge").damping.shape == (1,) and model.joint("hinge").damping[0] == 0.1
    np.testing.assert_array_equal(model.geom("rod").size, model.geom_size[0])
    assert model.joint("free").id == 1 and model.joint(1).name == model.joint("#1").name == "free"
    assert "mass" in dir(model.body("arm")) and "arm" in repr(model.body(1))
    with pytest.raises(AttributeError, match="set_param"):
        model.body("box").mass = 3
    with pytest.raises(ValueError, match="nobody"):
        model.body("nobody")
    for index in (-1, 3, 1.5):
        with pytest.raises(ValueError, match="no body"):
            model.body(index)
    with pytest.raises(AttributeError, match="colour.*mass"):
        model.body("box").colour


def test_data(scene):
    model, data, theirs = scene
    data.joint("hinge").qpos = 0.3
    data.joint("free").qvel[:3] = 1, 0, 0
    data.actuator("motor").ctrl = 0.5
    data.body("box").xfrc_applied = [0, 0, 3, 0, 0, 0]
    assert data.qpos[0] == 0.3 and data.qvel[1] == 1 and data.ctrl[0] == 0.5
    assert data.xfrc_applied[2, 2] == 3
    assert len(data.joint("free").qpos) == 7 and len(data.joint("free").qvel) == 6
    data.forward()
    mj_data = mujoco.MjData(theirs)
    mj_data.joint("hinge").qpos = 0.3
    mujoco.mj_forward(theirs, mj_data)
    np.testing.assert_allclose(data.site("tip").xpos, mj_data.site("tip").xpos, atol=1e-12)
    np.testing.assert_allclose(data.geom("rod").xpos, mj_data.geom("rod").xpos, atol=1e-12)
    np.testing.assert_allclose(data.body("arm").xquat, mj_data.body("arm").xquat, atol=1e-12)
    with pytest.raises(AttributeError, match="qpos"):
        data.joint("hinge").xpos


def test_mujocos_models(scene):
    """Functions take an MjModel as they take a Model."""
    model, _, theirs = scene
    theirs.opt.timestep = 0.005
    ctrl = np.full((5, 1), 0.2)
    ours = dijoco.rollout(model, ctrl).qpos
    np.testing.assert_array_equal(dijoco.rollout(theirs, ctrl).qpos, ours)
    data = dijoco.Data(theirs)
    data.ctrl[:] = 0.2
    data.step(5)
    np.testing.assert_array_equal(data.qpos, ours[-1])
    assert dijoco.Batch(theirs, 2).qpos.shape == (2, 8)
    with pytest.raises(TypeError, match="expected a dijoco.Model"):
        dijoco.Data(3)
