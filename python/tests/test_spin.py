"""Free bodies that spin as they touch, by the default integrator."""
import mujoco
import numpy as np
import pytest

import dijoco

SCENE = """<mujoco><option timestep=".005"/><worldbody><geom type="plane" size="5 5 .1"/>
<body pos="0 0 .035"><freejoint/><geom type="box" size=".1 .05 .03" mass="1" pos="{}"/></body>
<body pos=".3 0 .055"><freejoint/><geom type="ellipsoid" size=".1 .03 .05" mass=".5"/></body>
</worldbody></mujoco>"""


@pytest.mark.parametrize("place", ["0 0 0", ".05 .02 .01"])
def test_derivatives(place):
    m = mujoco.MjModel.from_xml_string(SCENE.format(place))
    context = dijoco.Context(m)
    rng = np.random.default_rng(1)

    def step(q, v):
        d = mujoco.MjData(m)
        d.qpos[:], d.qvel[:] = q, v
        context.step(d)
        return d.qpos.copy(), d.qvel.copy()

    for _ in range(4):
        d = mujoco.MjData(m)
        v = 6 * rng.standard_normal(m.nv)
        v[[2, 8]] = -3 * np.abs(v[[2, 8]])
        q = d.qpos.copy()
        d.qvel[:] = v
        A = context.transition(d)[0]
        q1, v1 = step(q, v)
        dx = rng.standard_normal(2 * m.nv)

        def moved(e):
            at, change = q.copy(), np.zeros(m.nv)
            mujoco.mj_integratePos(m, at, dx[:m.nv], e)
            qe, ve = step(at, v + e * dx[m.nv:])
            mujoco.mj_differentiatePos(m, change, 1, q1, qe)
            return np.concatenate([change, ve - v1])

        errors = []
        for e in (1e-4, 1e-5, 1e-6):   # across no corner, and above rounding
            right = (8 * (moved(e) - moved(-e)) - (moved(2 * e) - moved(-2 * e))) / (12 * e)
            errors.append(np.abs(A @ dx - right).max() / np.abs(right).max())
        assert min(errors) < 1e-7, errors
