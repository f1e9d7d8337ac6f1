#!/usr/bin/env python3
"""Derivatives through contact, three ways, over the start: `three_ways.py FOLDER`.

FOLDER/three_ways.svg and a table: a run's end by its start in stock MuJoCo, in steps of the start
far smaller than what a body moves in a timestep; MuJoCo's own derivative, exact
(dijoco.mujoco.transition, chained), DiJoCo's of its own step, and the slope of MuJoCo's run over
a window, which is what a smoothed derivative would say. Needs the tree's library (make build) and
MuJoCo's wheel.
"""
import os
import pathlib
import sys

import mujoco
import numpy as np

import dijoco.mujoco
from curves import ticks
from guide_pictures import Panel, write

ROOT = pathlib.Path(__file__).resolve().parents[1]
GYMNASIUM = pathlib.Path(os.environ.get("DIJOCO_GYMNASIUM", ROOT / "build/deps/gymnasium"))
COLORS = {"MuJoCo": "#1f5fa8", "DiJoCo": "#c0392b", "window": "#777777"}
LEGEND = (("MuJoCo", "MuJoCo's step, exact"), ("DiJoCo", "DiJoCo's step, exact"),
          ("window", "MuJoCo's run over a window"))
STARTS = 121

BALLS = """<mujoco><option gravity="0 0 0" timestep=".002"/><worldbody>
<body><joint type="slide" axis="1 0 0"/><geom size=".05" mass="1"/></body>
<body pos=".2 0 0"><joint type="slide" axis="1 0 0"/><geom size=".05" mass="1"/></body>
</worldbody></mujoco>"""
PUSH = """<mujoco><option timestep=".005"/><worldbody><geom type="plane" size="5 5 .1"/>
<body pos="-.3 0 .1"><joint type="slide" axis="1 0 0" damping="2"/>
<geom type="capsule" size=".03" fromto="0 -.1 0 0 .1 0" mass="2"/></body>
<body pos="0 0 .1"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
<geom type="box" size=".1 .1 .1" mass=".5"/></body></worldbody></mujoco>"""


def balls(m, d, s):
    d.qpos[0], d.qvel[0] = s, 1
    return 0                       # the tangent's index of what s moves


def push(m, d, s):
    d.qpos[0], d.qvel[0] = s, 2
    return 0


def hopper(m, d, s):
    d.qpos[1] += s
    d.ctrl[:] = .2
    return 1


# name, model, start, starts, steps, what is read: index of the tangent of the end
SCENES = (("head-on balls: speed of the second", BALLS, balls, (-.01, .01), 120, lambda m: m.nv + 1),
          ("push: where the box ends", PUSH, push, (-.02, .02), 160, lambda m: 1),
          ("hopper: height after a landing", GYMNASIUM / "hopper.xml", hopper, (-.02, .02), 150,
           lambda m: 1))


def load(source):
    text = source if isinstance(source, str) else None
    m = mujoco.MjModel.from_xml_string(text) if text else mujoco.MjModel.from_xml_path(str(source))
    m.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    m.opt.tolerance = 1e-12
    return m


def stock(m, start, s, steps, read):
    """The end and its derivative, by MuJoCo's own steps."""
    d = mujoco.MjData(m)
    nx = 2 * m.nv + m.na
    dx = np.zeros(nx)
    dx[start(m, d, s)] = 1
    A = np.empty((nx, nx))
    for _ in range(steps):
        dijoco.mujoco.transition(m, d, A, None, None, None)
        dx = A @ dx
        mujoco.mj_step(m, d)
    x = np.concatenate([d.qpos, d.qvel])
    return x[read], dx[read]


def ours(m, context, start, s, steps, read):
    d = mujoco.MjData(m)
    dx = np.zeros(2 * m.nv + m.na)
    dx[start(m, d, s)] = 1
    for _ in range(steps):
        dx = context.transition(d)[0] @ dx
        context.step(d)
    x = np.concatenate([d.qpos, d.qvel])
    return x[read], dx[read]


def window(s, y, width):
    """Slopes of y over windows of s."""
    out = []
    for x in s:
        near = abs(s - x) <= width / 2
        out.append(np.polyfit(s[near], y[near], 1)[0])
    return np.array(out)


def measure(scene):
    _, source, start, (low, high), steps, read = scene
    m = load(source)
    context = dijoco.mujoco.Context(m)
    s = np.linspace(low, high, STARTS)
    index = read(m)
    own = np.array([stock(m, start, x, steps, index) for x in s])
    other = np.array([ours(m, context, start, x, steps, index) for x in s])
    return s, {"MuJoCo": own, "DiJoCo": other, "window": window(s, own[:, 0], (high - low) / 5)}


def draw(results):
    parts = []
    for i, (scene, (s, found)) in enumerate(zip(SCENES, results)):
        slopes = {"MuJoCo": found["MuJoCo"][:, 1], "DiJoCo": found["DiJoCo"][:, 1],
                  "window": found["window"]}
        low, high = np.percentile(np.concatenate(list(slopes.values())), [1, 99])
        margin = .15 * (high - low) + 1e-9
        y = low - margin, high + margin
        panel = Panel(90, 40 + 250 * i, 560, 160, (1e3 * s[0], 1e3 * s[-1]), y, False)
        panel.axis_x([(x, "%g" % x) for x in ticks(1e3 * s[0], 1e3 * s[-1])], "start, mm")
        panel.axis_y([(v, "%g" % v) for v in ticks(*y)], "slope")
        panel.text(370, 28 + 250 * i, scene[0])
        for name, slope in slopes.items():
            panel.curve(list(zip(1e3 * s, slope)), COLORS[name], "6 4" if name == "window" else "")
        parts += panel.parts
    for i, (name, text) in enumerate(LEGEND):
        parts.append('<text x="%d" y="785" fill="%s">%s</text>' % (90 + 190 * i, COLORS[name], text))
    return parts


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) == 2 else sys.exit(__doc__))
    results = [measure(scene) for scene in SCENES]
    for scene, (s, found) in zip(SCENES, results):
        own, other, wide = found["MuJoCo"], found["DiJoCo"], found["window"]
        secant = (own[-1, 0] - own[0, 0]) / (s[-1] - s[0])
        mine = (other[-1, 0] - other[0, 0]) / (s[-1] - s[0])
        print("%-38s secant %8.3f | MuJoCo's %8.3f +- %.3f | ours %8.3f +- %.3f (secant %.3f)"
              " | window %8.3f +- %.3f" % (scene[0], secant, own[:, 1].mean(), own[:, 1].std(),
                                           other[:, 1].mean(), other[:, 1].std(), mine,
                                           wide.mean(), wide.std()))
    write(folder / "three_ways.svg", 700, 800, draw(results))


if __name__ == "__main__":
    main()
