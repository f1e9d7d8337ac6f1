"""A box falls on a table under mj_step: MuJoCo's contact is off, the plugin dijoco.contact acts."""
import sys

import mujoco

import dijoco

dijoco.register_plugins()  # where the package is installed, `import mujoco` has done it

SCENE = """
<mujoco>
  <extension>
    <plugin plugin="dijoco.contact">
      <instance name="dj"><config key="geoms" value="table box"/></instance>
    </plugin>
  </extension>
  <option><flag contact="disable"/></option>
  <worldbody>
    <geom name="table" type="box" size="0.5 0.5 0.02" pos="0 0 0.78"/>
    <body name="box" pos="0 0 1" euler="5 10 15">
      <freejoint/>
      <geom name="box" type="box" size="0.1 0.08 0.06" mass="2"/>
    </body>
  </worldbody>
</mujoco>"""

model = mujoco.MjModel.from_xml_string(SCENE)
data = mujoco.MjData(model)
while data.time < 2:
    mujoco.mj_step(model, data)

contacts = dijoco.Context.of_plugin(model, data).data.contacts
height, force = data.qpos[2], contacts.force.sum(axis=0)
weight = model.body("box").mass[0] * 9.81
print("height %.4f m, of a box at rest 0.8600" % height)
print("force  %.4f N, weight %.4f, MuJoCo's contacts %d" % (force[2], weight, data.ncon))
if abs(height - 0.86) > 1e-4 or abs(force[2] / weight - 1) > 1e-4:
    sys.exit("the box does not rest")
