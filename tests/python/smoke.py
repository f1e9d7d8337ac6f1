"""What an installed package must do. Run by wheel.sh in a new environment."""
import pathlib
import sys

import mujoco  # loads dijoco's plugins through the entry point group mujoco.plugins

SCENE = """
<mujoco>
  %s
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body pos="0 0 .15"><freejoint/><geom name="box" type="box" size=".1 .1 .1" mass="1"/></body>
  </worldbody>
</mujoco>"""
PLUGIN = """<option integrator="Euler"><flag contact="disable"/></option>
  <extension><plugin plugin="dijoco.contact"><instance name="dj"/></plugin></extension>"""


def check(condition, text):
    if not condition:
        sys.exit("smoke: " + text)


# MuJoCo's own step with our contact.
m = mujoco.MjModel.from_xml_string(SCENE % PLUGIN)
d = mujoco.MjData(m)
while d.time < 1:
    mujoco.mj_step(m, d)
check(abs(d.qpos[2] - .1) < 1e-3, "the box rests at %g m" % d.qpos[2])
check(d.nefc == 0, "MuJoCo pushes the box, too")

# The package on a model without the plugin: the same motion.
import dijoco  # noqa: E402  (after mujoco: the entry point must do without)

plain = mujoco.MjModel.from_xml_string(SCENE % "")
data = dijoco.Data(dijoco.Model.from_mujoco(plain))
while data.time < 1:
    data.step()
check(abs(data.qpos - d.qpos).max() < 1e-6, "the package's step lands elsewhere")
A, B = data.transition()
check(A.shape == (12, 12) and B.shape == (12, 0), "transition has other shapes")

# All of it comes from this environment.
check((pathlib.Path(dijoco.__file__).parent / "py.typed").exists(), "no py.typed: types are not seen")
check(dijoco.__file__.startswith(sys.prefix), "dijoco is imported from %s" % dijoco.__file__)
with open("/proc/self/maps") as maps:
    loaded = {line.split(None, 5)[5].rstrip("\n") for line in maps if "libdijoco" in line}
check(len(loaded) == 2 and all(path.startswith(sys.prefix) for path in loaded),
      "libraries loaded: %s" % loaded)
print("smoke: passed")
