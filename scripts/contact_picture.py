#!/usr/bin/env python3
"""What the plugin dijoco.contact draws in MuJoCo, as one PNG file: `contact_picture.py out.png`.

Steps a scene with mj_step and the plugin, and draws it twice: as it is, and with contact points and
forces on. Needs MuJoCo's Python package, and the tree's library (make build).
"""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from dijoco import png, register_plugins, view

SCENE = """
<mujoco model="contact">
  <extension><plugin plugin="dijoco.contact"><instance name="dj"/></plugin></extension>
  <option timestep="0.005"><flag contact="disable"/></option>
  <visual>
    <map force="0.02"/>
    <scale contactwidth="0.2" contactheight="0.05" forcewidth="0.09"/>
    <quality shadowsize="4096"/>
    <rgba haze="0.9 0.93 0.97 1"/>
    <headlight ambient="0.5 0.5 0.5" diffuse="0.35 0.35 0.35" specular="0 0 0"/>
  </visual>
  <statistic meansize="0.2" meanmass="1"/>
  <asset>
    <texture type="skybox" builtin="gradient" rgb1="1 1 1" rgb2="0.9 0.93 0.97" width="64"
      height="64"/>
    <material name="floor" rgba="0.9 0.91 0.92 1" specular="0" shininess="0"/>
  </asset>
  <default><geom friction="0.7" density="20"/></default>
  <worldbody>
    <light directional="true" pos="-1 -3 5" dir="0.2 0.55 -1" diffuse="0.45 0.45 0.45"
           specular="0.1 0.1 0.1"/>
    <camera name="view" pos="0.5 -3.4 1.5" mode="targetbody" target="aim" fovy="20"/>
    <body name="aim" pos="-0.03 0 0.24"/>
    <geom type="plane" size="0 0 0.1" material="floor"/>
    <body pos="-0.25 0.05 0.251">
      <freejoint/><geom type="box" size="0.3 0.25 0.25" rgba="0.82 0.62 0.4 1"/>
    </body>
    <body pos="0.28 0 0.335" euler="0 48 0">
      <freejoint/><geom type="box" size="0.42 0.18 0.025" rgba="0.55 0.68 0.5 1" density="150"/>
    </body>
    <body pos="-0.32 0.02 0.582" euler="0 0 25">
      <freejoint/><geom type="box" size="0.13 0.12 0.08" rgba="0.5 0.6 0.78 1" density="80"/>
    </body>
    <body pos="0.73 -0.24 0.101">
      <freejoint/><geom size="0.1" rgba="0.82 0.45 0.42 1" density="150"/>
    </body>
    <body pos="-0.75 -0.15 0.072" euler="90 0 35">
      <freejoint/><geom type="capsule" size="0.07 0.2" rgba="0.7 0.6 0.8 1" density="100"/>
    </body>
  </worldbody>
</mujoco>
"""
SIZE, FINER = (480, 310), 3     # of each half; drawn FINER times larger, then averaged


def main():
    mujoco = view.import_mujoco()
    register_plugins()
    model = mujoco.MjModel.from_xml_string(SCENE)
    data = mujoco.MjData(model)
    while data.time < 1:
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    halves = []
    for contacts in False, True:
        option = mujoco.MjvOption()
        if contacts:
            view.show_contacts(option)
        with view.Painter(model, [n * FINER for n in SIZE], 1, "view", option) as painter:
            image = painter.draw([data])
        height, width = SIZE[1], SIZE[0]
        image = image.reshape(height, FINER, width, FINER, 3).mean(axis=(1, 3))
        halves.append(np.rint(image).astype(np.uint8))
    png.write_png(sys.argv[1], np.concatenate(halves, axis=1), level=9)


if __name__ == "__main__":
    main()
