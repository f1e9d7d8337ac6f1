"""Find controls with which an arm pushes a box to a mark, by gradients through contact, and replay
them in stock MuJoCo."""
import pathlib
import sys

import mujoco
import numpy as np

import dijoco

SCENE = pathlib.Path(__file__).resolve().parents[2] / "models/push_arm/scene.xml"
MARK, STEPS, KNOTS = np.array([0.5, 0.25]), 250, 8

mj_model = mujoco.MjModel.from_xml_path(str(SCENE))
model = dijoco.Model.from_mujoco(mj_model)
start = mj_model.key("start").qpos
# The servos' set points run linearly between knots: ctrl (STEPS, 3) = hats @ knots (KNOTS, 3).
hats = np.array([np.interp(np.linspace(0, KNOTS - 1, STEPS), range(KNOTS), hat)
                 for hat in np.eye(KNOTS)]).T
bends = np.diff(np.eye(KNOTS), 2, axis=0)


def loss(knots):
    """The box at the mark, pushed gently, by set points that run smoothly. Returns the loss, its
    gradient, and where the box ends."""
    run = dijoco.rollout(model, hats @ knots, qpos0=start)
    miss, speed, bend = run.qpos[-1, 3:5] - MARK, run.qvel[:, 3:6], bends @ knots
    value = miss @ miss + 1e-4 * (speed**2).sum() + 1e-3 * (bend**2).sum()
    dqpos, dqvel = np.zeros_like(run.qvel), np.zeros_like(run.qvel)
    dqpos[-1, 3:5], dqvel[:, 3:6] = 2 * miss, 2e-4 * speed
    gradient = hats.T @ run.vjp(qpos=dqpos, qvel=dqvel).ctrl + 2e-3 * bends.T @ bend
    return value, gradient, run.qpos[-1, 3:5]


def replay(knots):
    """Where the box ends in MuJoCo."""
    data = mujoco.MjData(mj_model)
    mujoco.mj_resetDataKeyframe(mj_model, data, mj_model.key("start").id)
    for ctrl in hats @ knots:
        data.ctrl[:] = ctrl
        mujoco.mj_step(mj_model, data)
    return data.qpos[3:5]


def show(title, knots):
    ours, theirs = loss(knots)[2], replay(knots)
    print("%-18s box at %.4f %.4f m in DiJoCo, %.4f %.4f m in MuJoCo" % (title, *ours, *theirs))
    return np.linalg.norm(ours - MARK), np.linalg.norm(theirs - MARK)


# A slow turn of the shoulder touches the box; then Adam.
knots = start[:3] + np.linspace(0, 0.5, KNOTS)[:, None] * [1, 0, 0]
print("%-18s        %.4f %.4f m" % ("mark", *MARK))
show("first guess", knots)
m = v = 0
for i in range(1, 101):
    gradient = loss(knots)[1]
    m, v = 0.9 * m + 0.1 * gradient, 0.99 * v + 0.01 * gradient**2
    step = 0.02 * m / (1 - 0.9**i) / (np.sqrt(v / (1 - 0.99**i)) + 1e-8)
    knots[1:] -= step[1:]  # the first is the arm's start
ours, theirs = show("after 100 steps", knots)
if ours > 0.005 or theirs > 0.03:
    sys.exit("the box is not at the mark")
