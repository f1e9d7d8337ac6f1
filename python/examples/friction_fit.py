"""Fit a friction coefficient to the recorded track of a sliding box, with PyTorch."""
import sys

try:
    import torch
except ImportError:
    print("PyTorch is not installed: pip install torch")
    sys.exit(77)

import mujoco
import numpy as np

import dijoco.torch

SCENE = """
<mujoco>
  <option timestep="0.002" integrator="implicitfast" cone="elliptic" impratio="10"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" friction="0.1"/>
    <body name="box" pos="0 0 0.05">
      <freejoint/>
      <geom name="box" type="box" size="0.1 0.1 0.05" mass="1" friction="%g"/>
    </body>
  </worldbody>
</mujoco>"""
TRUE, STEPS = 0.37, 300
start = [1.5, 1, 0, 0, 0, 2]  # m/s, rad/s

# The record: MuJoCo's box, seen with 3 mm of noise.
mj_model = mujoco.MjModel.from_xml_string(SCENE % TRUE)
mj_data = mujoco.MjData(mj_model)
mj_data.qvel[:] = start
track = []
for _ in range(STEPS):
    mujoco.mj_step(mj_model, mj_data)
    track.append(mj_data.qpos[:2].copy())
track = torch.tensor(np.array(track) + np.random.default_rng(0).normal(0, 0.003, (STEPS, 2)))

# The fit: the box's coefficient counts, as the larger of two in contact.
model = dijoco.Model.from_mujoco(mujoco.MjModel.from_xml_string(SCENE % 0.15))
friction = torch.tensor(model.param("geom/box/friction"), requires_grad=True)
optimizer = torch.optim.LBFGS([friction], max_iter=20, line_search_fn="strong_wolfe")


def closure():
    optimizer.zero_grad()
    qpos, _, _ = dijoco.torch.rollout(model, torch.zeros(STEPS, 0), qvel0=torch.tensor(start),
                                      params={"geom/box/friction": friction})
    loss = ((qpos[1:, :2] - track)**2).sum(dim=1).mean()
    loss.backward()
    print("friction %.4f  rms distance %.4f m" % (friction[0].item(), loss.item()**0.5))
    return loss


optimizer.step(closure)
print("friction %.4f, recorded with %.4f" % (friction[0].item(), TRUE))
if abs(friction[0].item() - TRUE) > 0.01:
    sys.exit("the coefficient is not found")
