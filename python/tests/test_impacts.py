"""Impacts at their own time, by links and free bodies under control."""
import mujoco
import numpy as np

import dijoco

SCENE = """<mujoco><option timestep=".005"/><worldbody><geom type="plane" size="5 5 .1"/>
<geom name="wall" type="box" size=".05 1 1" pos="1 0 1"/>
<body pos="0 0 .3"><joint name="x" type="slide" axis="1 0 0"/>
<joint name="h" axis="0 0 1" damping=".01"/>
<geom type="box" size=".1 .05 .05" mass="1" pos=".1 .02 0" euler="0 0 10"/>
<body pos=".25 0 0"><joint axis="0 0 1" stiffness="2" damping=".02"/>
<geom size=".05" mass=".3"/></body></body>
<body pos=".72 .3 .3"><freejoint/>
<geom type="ellipsoid" size=".1 .06 .05" mass=".4" pos=".02 .01 0"/></body>
</worldbody><actuator><motor joint="x" gear="20"/><motor joint="h"/></actuator>
<custom><numeric name="dijoco_restitution/wall" data=".7"/></custom></mujoco>"""


def test_derivatives_by_state_and_controls():
    m = mujoco.MjModel.from_xml_string(SCENE)
    context = dijoco.Context(m)
    rng = np.random.default_rng(0)

    def step(q, v, u):
        d = mujoco.MjData(m)
        d.qpos[:], d.qvel[:], d.ctrl[:] = q, v, u
        context.step(d)
        return d.qpos.copy(), d.qvel.copy()

    for _ in range(4):
        d = mujoco.MjData(m)
        d.qpos[0], d.qpos[3] = .65 - rng.uniform(0, .008), .83 - rng.uniform(0, .006)
        d.qvel[:] = [2, .1, .1, 1.5, .2, .1, .5, 1, 2]
        d.ctrl[:] = .5, .2
        q, v, u = d.qpos.copy(), d.qvel.copy(), d.ctrl.copy()
        A, B = context.transition(d)[:2]
        q1, v1 = step(q, v, u)
        assert v1[0] < -1 and v1[3] < -.9   # both have come back
        for by_control in (False, True):
            dx, du = rng.standard_normal(2 * m.nv) * (not by_control), 10 * rng.standard_normal(2)

            def moved(e):
                at, change = q.copy(), np.zeros(m.nv)
                mujoco.mj_integratePos(m, at, dx[:m.nv], e)
                qe, ve = step(at, v + e * dx[m.nv:], u + e * du)
                mujoco.mj_differentiatePos(m, change, 1, q1, qe)
                return np.concatenate([change, ve - v1])

            e, found = 1e-5, A @ dx + B @ du
            right = (8 * (moved(e) - moved(-e)) - (moved(2 * e) - moved(-2 * e))) / (12 * e)
            np.testing.assert_allclose(found, right, atol=1e-7 * np.abs(right).max())
