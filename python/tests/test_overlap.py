"""Large meshes that start inside a cylinder: every step is taken, however they are eroded."""
import numpy as np
import pytest

import dijoco
from mj import mujoco

SCENE = """
<mujoco>
  <option timestep=".002" gravity="0 0 0"/>
  <asset><mesh name="m" builtin="{shape}" params="{params}" scale="{scale}"/></asset>
  <worldbody>
    <geom type="cylinder" size="{size}"/>
    <body pos="{pos}" quat="{quat}"><freejoint/><geom type="mesh" mesh="m" mass="1"/></body>
  </worldbody>
</mujoco>
"""


def text(x):
    return " ".join("%.3g" % v for v in x)


def scene(kind, rng):
    """Sphere of 642 vertices, round or flat; superellipsoid of some 1000 with edges or corners."""
    scale = .05 * (rng.uniform(.4, 1, 3) if kind == "supersphere" else np.ones(3))
    if kind == "flat":
        scale[2] *= rng.uniform(.1, .4)
    pos = rng.standard_normal(3)
    return SCENE.format(
        shape=kind if kind == "supersphere" else "sphere",
        params="%d %.2g %.2g" % (rng.integers(20, 33), *rng.uniform(.3, 1.5, 2))
        if kind == "supersphere" else "3",
        scale=text(scale), size=text(rng.uniform((.02, .01), (.06, .06))),
        pos=text(rng.uniform(0, .06) * pos / np.linalg.norm(pos)),
        quat=text(rng.standard_normal(4)))


@pytest.mark.parametrize("kind", ["sphere", "flat", "supersphere"])
def test_overlaps_run(kind):
    rng = np.random.default_rng(3)
    recovering = 0
    for _ in range(20):
        m = mujoco.MjModel.from_xml_string(scene(kind, rng))
        assert m.mesh_vertnum[0] > 300
        d, context = mujoco.MjData(m), dijoco.Context(m)
        for _ in range(5):
            assert context.step(d) == 0
        assert np.isfinite(d.qpos).all()
        recovering += context.data.stats.recovering_steps
    assert recovering > 20
