"""What test_torch.py and test_jax.py share: a scene with every type of joint, activations, contact
and sliding, and states of it."""
import numpy as np

import dijoco
from mj import mujoco

SCENE = """
<mujoco>
  <option timestep="0.005"/>
  <custom><numeric name="dijoco_stiffness_scale" data="1e-5"/></custom>
  <custom><numeric name="dijoco_support" data="0.005"/></custom>
  <custom><numeric name="dijoco_friction_eps" data="1e-7"/></custom>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" friction="0.6"/>
    <body name="slider" pos="-.32 0 .1">
      <joint name="slide" type="slide" axis="1 0 0" damping="1"/>
      <geom type="capsule" size=".05" fromto="-.1 0 0 .1 0 0" mass="1" contype="0" conaffinity="0"/>
      <body name="finger" pos=".1 0 0">
        <joint name="hinge" type="hinge" axis="0 0 1" damping=".1" stiffness="2"/>
        <geom name="finger" type="capsule" size=".02" fromto="0 0 0 .1 0 0" mass=".2"/>
      </body>
      <body name="pendulum" pos="0 0 .3">
        <joint name="ball" type="ball" damping=".05"/>
        <geom type="box" size=".02 .03 .04" pos="0 0 -.1" mass=".3"/>
      </body>
    </body>
    <body name="box" pos="0 0 .1">
      <freejoint name="free"/>
      <geom name="box" type="box" size=".1 .09 .1" mass=".5" friction="0.6"/>
    </body>
  </worldbody>
  <actuator>
    <general name="push" joint="slide" dyntype="filter" dynprm=".05" gainprm="20"/>
    <motor name="turn" joint="hinge" gear=".5"/>
  </actuator>
</mujoco>"""


def make():
    """The model, and a state in which the finger pushes the box over the floor: dict of arrays.
    Quaternions are not normalised."""
    model = dijoco.Model.from_mujoco(mujoco.MjModel.from_xml_string(SCENE))
    data = dijoco.Data(model)
    data.ctrl = [.5, .2]
    data.step(60)
    pairs = {tuple(sorted((c.geom1, c.geom2))) for c in data.contacts}
    box = model.id("geom", "box")
    assert {(model.id("geom", "floor"), box), (model.id("geom", "finger"), box)} <= pairs
    assert data.qvel[model.jnt_dofadr[model.id("joint", "free")]] > .05
    state = {name: np.array(getattr(data, name)) for name in ("qpos", "qvel", "act", "ctrl")}
    random = np.random.default_rng(3)
    state["qvel"] += .05 * random.standard_normal(model.nv)
    for kind, adr in zip(model.jnt_type, model.jnt_qposadr):
        if kind == 1:
            state["qpos"][adr:adr + 4] *= 1.3
        elif kind == 0:
            state["qpos"][adr + 3:adr + 7] *= .8
    return model, state


def params(model, *names):
    """Values of parameters; quaternions and axes are not normalised."""
    values = {name: model.param(name) for name in names}
    for name in names:
        if name.endswith(("/quat", "/axis")):
            values[name] = values[name] * 1.2
    return values


PARAMS = ("geom/box/friction", "body/box/mass", "geom/box/size", "body/finger/quat",
          "joint/hinge/axis")
