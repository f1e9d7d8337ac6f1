"""Identify mass, friction, damping and restitution of four bodies from two seconds of stock MuJoCo.

A cart that a known force drives, a box that slides, a pendulum whose joint has viscous and dry
friction, a ball that bounces. MuJoCo's step records qpos; Gauss-Newton fits the parameters to it, over a
part of the record that grows, by the derivatives of our runs."""
import sys

import mujoco
import numpy as np

import dijoco

SCENE = """
<mujoco>
  <option timestep="{timestep}" integrator="implicitfast" cone="elliptic" impratio="10"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" friction="0.1"/>
    <body pos="0 2 1">
      <joint name="rail" type="slide" axis="1 0 0"/>
      <geom name="cart" type="box" size=".1 .1 .1" mass="{mass}" contype="0" conaffinity="0"/>
    </body>
    <body name="box" pos="0 0 0.05">
      <freejoint/>
      <geom name="box" type="box" size="0.1 0.1 0.05" mass="1" friction="{friction}"/>
    </body>
    <body pos="0 -2 1.5">
      <joint name="hinge" axis="0 1 0" damping="{damping}" frictionloss="{dry}"/>
      <geom type="capsule" fromto="0 0 0 .4 0 0" size=".02" mass=".5" contype="0" conaffinity="0"/>
    </body>
    <body name="ball" pos="0 4 .5">
      <freejoint/>
      <geom name="ball" size=".05" mass=".2" priority="1" solref="{stiffness} {damper}"/>
    </body>
  </worldbody>
  <actuator><motor joint="rail"/></actuator>
</mujoco>"""
STEPS, TIMESTEP = 2000, 0.001
TRUE = {"mass": 1.7, "friction": 0.5, "damping": 0.05, "dry": 0.03, "restitution": 0.7}
GUESS = {"mass": 1.0, "friction": 0.3, "damping": 0.02, "dry": 0.01, "restitution": 0.5}


def spring(restitution, stiffness=2e5):
    """Numbers of solref of a contact that rebounds so (docs/contact.md, Restitution), by bisection.
    Softer ones stay longer, which our impacts, that take no time, make up for by more restitution:
    .712 at a fifth of this stiffness."""
    low, high = 0.0, 1.0
    for _ in range(60):
        z = (low + high) / 2
        e = np.exp(-2 * z * np.arccos(z) / np.sqrt(1 - z * z))
        low, high = (z, high) if e > restitution else (low, z)
    return {"stiffness": -stiffness, "damper": -2 * z * np.sqrt(stiffness)}


def compiled(values):
    numbers = {"timestep": TIMESTEP, **values, **spring(values["restitution"])}
    return mujoco.MjModel.from_xml_string(SCENE.format(**numbers))


def ctrl():
    return np.sin(np.arange(STEPS) * 5 * TIMESTEP)[:, None] * 3


def start(nv):
    qvel = np.zeros(nv)
    qvel[1:4] = 2.5, 1, 0
    qvel[6] = 2
    return qvel


def record():
    m = compiled(TRUE)
    d = mujoco.MjData(m)
    d.qvel[:] = start(m.nv)
    out = []
    for u in ctrl():
        d.ctrl[:] = u
        mujoco.mj_step(m, d)
        out.append(d.qpos.copy())
    return np.array(out)


SEEN = [0, 1, 2, 8, 11], [0, 1, 2, 7, 10]   # cart, box (2), pendulum, height of the ball: qpos, qvel
PARAMS = {"mass": "body/#1/mass", "friction": "geom/box/friction",
          "damping": "joint/hinge/damping", "dry": "joint/hinge/frictionloss",
          "restitution": "geom/ball/restitution"}


def misses(model, values, track):
    """What a run of the first steps is off the record by (n,), and its derivatives (n, 5)."""
    for name, path in PARAMS.items():
        whole = model.param(path)
        whole[0] = values[name]
        model.set_param(path, whole)
    n = len(track)
    run = dijoco.rollout(model, ctrl()[:n], qvel0=start(model.nv))
    columns = []
    for path in PARAMS.values():
        along = np.zeros(model.param(path).size)
        along[0] = 1
        columns.append(run.jvp(params={path: along})[0][1:, SEEN[1]].ravel())
    return (run.qpos[1:, SEEN[0]] - track[:, SEEN[0]]).ravel(), np.array(columns).T


def fit(model, values, track, iterations=12):
    """Levenberg and Marquardt's method on the logarithms of the parameters."""
    size, damping = np.array(list(values.values())), 1e-3
    miss, jac = misses(model, values, track)
    for _ in range(iterations):
        by_log = jac * size
        curvature = by_log.T @ by_log
        step = np.linalg.solve(curvature + damping * np.diag(np.diag(curvature) + 1e-9), -by_log.T @ miss)
        trial = size * np.exp(np.clip(step, -0.5, 0.5))
        new_miss, new_jac = misses(model, dict(zip(values, trial)), track)
        if new_miss @ new_miss < miss @ miss:
            size, miss, jac, damping = trial, new_miss, new_jac, damping / 5
            if np.abs(step).max() < 1e-5:
                break
        else:
            damping *= 10
    return dict(zip(values, size)), np.sqrt(np.mean(miss**2))


model = dijoco.Model.from_mujoco(compiled(GUESS))
track, values = record(), GUESS
for steps in (400, 800, STEPS):
    values, rms = fit(model, values, track[:steps])
    print("%4.1f s: rms %.2g m or rad; %s" % (steps * TIMESTEP, rms, ", ".join(
        "%s %.4g" % pair for pair in values.items())))
worst = 0.0
for name, true in TRUE.items():
    error = values[name] / true - 1
    worst = max(worst, abs(error))
    print("%-12s %.5f, recorded with %.5f: %+.2f %%" % (name, values[name], true, 100 * error))
if worst > 0.01:
    sys.exit("a parameter is more than 1 % off")
