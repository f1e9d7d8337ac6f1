#!/usr/bin/env python3
"""Fingers of modules, and the tasks that design them.

  generate.py WORD... [--task NAME] [--density RHO] [--out FOLDER]
  generate.py --all
  generate.py --record

The words are the modules from the base on: palm, knuckle, joint, phalanx, tip. After a tip the next
word begins another finger at the palm's other end. Written are scene.xml and task.json of the task
(reach) into the folder (.), with a map `taper` for each body; --all writes all tasks beside this file, --record the controls that flick begins with.

Numbers are in centimetres, grams and seconds here, as the tasks were published, and in SI in what is
written; losses stay in centimetres, by their weights."""
import argparse
import json
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent

# Width (y) and height (z) of the start, of the end, length; where the hinge is and its axis.
MODULES = {
    "palm": (1.6, 3.24, 1.6, 3.24, 0.7, None, None),
    "knuckle": (1.6, 3.24, 2.6, 2.6, 2.75, 1.15, "0 0 1"),
    "joint": (2.6, 2.6, 2.6, 2.6, 2.06, 1.08, "0 1 0"),
    "phalanx": (2.6, 2.6, 2.6, 2.6, 2.34, None, None),
    "tip": (2.6, 2.6, 2.6, 2.6, 2.21, None, None),
}
FINGER = ["palm", "knuckle"] + 3 * ["joint", "phalanx"] + ["tip"]
TWO = ["palm"] + 2 * (["knuckle"] + 2 * ["joint", "phalanx"] + ["tip"])

# SI units of one in cgs.
CM, GRAM, FORCE, TORQUE, INERTIA, DENSITY = 1e-2, 1e-3, 1e-5, 1e-7, 1e-7, 1e3
KN, KT, KD = 1e-3, 1e-3, 1e-1     # of dyn/cm, dyn s/cm, dyn s/cm^2
TURN, SLIDE = 1e-7, 1e-3          # damping, of dyn cm s and of dyn s/cm

# Rings of a mesh: part of the length, size of the section. A ring has eight points.
RINGS = {
    "palm": [(0, 1), (1, 1)],
    "knuckle": [(0, 1), (1, 1)],
    "joint": [(0, 1), (1, 1)],
    "phalanx": [(0, 1), (1 / 3, 1), (2 / 3, 1), (1, 1)],
    "tip": [(0, 1), (0.25, 1), (0.5, 0.95), (0.72, 0.85), (0.88, 0.65), (0.97, 0.35)],
}
SECTION = 0.85                    # of the box that a taper moves


def number(x):
    text = f"{x:.10g}"
    return "0" if text == "-0" else text


def row(values, scale=1.0):
    return " ".join(number(scale * v) for v in values)


class Module:
    """A word of the structure with the variables that scale it."""

    def __init__(self, word, place, finger):
        self.word, self.place, self.finger = word, place, finger
        self.size = MODULES[word][:5]
        self.hinge, self.axis = MODULES[word][5:]
        self.scales = {"length": [], "y0": [], "z0": [], "y1": [], "z1": []}


class Structure:
    """The modules, and the variables by name: joints between phalanges have a width, an end beside a
    tip and a tip's own have height and width, phalanges have lengths; of several fingers the palm
    and the tips, too."""

    def __init__(self, words):
        self.modules, self.variables = [], []
        if not words or words[0] != "palm":
            raise ValueError("a structure begins with its palm")
        finger = -1
        for i, word in enumerate(words):
            if word not in MODULES:
                raise ValueError(f"'{word}' is none of {', '.join(MODULES)}")
            if i > 0 and word == "palm":
                raise ValueError("a palm is the first of its structure alone")
            if i > 0 and words[i - 1] in ("palm", "tip"):
                finger += 1
                if finger > 1:
                    raise ValueError("a palm has two ends")
            self.modules.append(Module(word, i, max(finger, 0)))
        self.nfinger = finger + 1
        if words[-1] != "tip":
            raise ValueError("a finger ends with its tip")
        self.shape()

    def add(self, name):
        self.variables.append(name)
        return len(self.variables) - 1

    def shape(self):
        many = self.nfinger > 1
        if many:
            self.modules[0].scales["length"].append(self.add("palm length"))
        count = {}
        for i, m in enumerate(self.modules):
            before = self.modules[i - 1] if i else None
            after = self.modules[i + 1] if i + 1 < len(self.modules) else None
            count[m.word] = count.get(m.word, 0) + 1
            label = f"{m.word} {count[m.word]}"
            if m.word == "joint" and before.word == "phalanx" and after.word == "phalanx":
                k = self.add(f"{label} y")
                for scales, keys in ((before, ["y1"]), (m, ["y0", "y1"]), (after, ["y0"])):
                    for key in keys:
                        scales.scales[key].append(k)
            if m.word == "tip":
                for axis in "zy":
                    k = self.add(f"{label} start {axis}")
                    if before.word == "phalanx":
                        before.scales[axis + "1"].append(k)
                    m.scales[axis + "0"].append(k)
                for axis in "zy":
                    m.scales[axis + "1"].append(self.add(f"{label} end {axis}"))
        count = {}
        for m in self.modules:
            count[m.word] = count.get(m.word, 0) + 1
            if m.word == "phalanx" or (many and m.word == "tip"):
                m.scales["length"].append(self.add(f"{m.word} {count[m.word]} length"))


class Part:
    """A body: a module, or the part of one on a side of its hinge."""

    def __init__(self, name, module, low, high, origin):
        self.name, self.module = name, module
        self.low, self.high, self.origin = low, high, origin   # along the module's x

    def section(self, x):
        w0, h0, w1, h1, length = self.module.size
        t = x / length
        return w0 + t * (w1 - w0), h0 + t * (h1 - h0)

    def box(self):
        """Lowest and highest corner of each end, in the body's frame."""
        w0, h0, w1, h1, length = self.module.size
        ends = []
        for x, w, h in ((0, w0, h0), (length, w1, h1)):
            ends += [[x - self.origin, -w / 2, -h / 2], [x - self.origin, w / 2, h / 2]]
        return ends

    def inertia(self, density):
        w0, h0, w1, h1, length = self.module.size
        w, h = (w0 + w1) / 2, (h0 + h1) / 2
        mass = density * w * h * length
        return mass, [mass / 12 * (a * a + b * b) for a, b in ((w, h), (h, length), (w, length))]

    def points(self):
        rings = []
        for part, size in RINGS[self.module.word]:
            x = self.low + part * (self.high - self.low)
            w, h = (size * SECTION * s / 2 for s in self.section(x))
            c = 0.6
            for y, z in ((1, c), (c, 1), (-c, 1), (-1, c), (-1, -c), (-c, -1), (c, -1), (1, -c)):
                rings.append([x - self.origin, y * w, z * h])
        return rings


class Scene:
    """MJCF and maps of a structure in the surroundings of a task."""

    def __init__(self, structure, density):
        self.structure, self.density = structure, density
        self.mesh, self.body, self.motor, self.pair, self.custom = [], [], [], [], []
        self.part, self.tip = [], []
        self.depth = 2

    def line(self, text):
        self.body.append("  " * self.depth + text)

    def motors(self, joint, force, unit):
        self.motor.append(f'    <motor name="{joint}" joint="{joint}" gear="{number(force * unit)}"/>')

    def open(self, part, place, turn=""):
        at = f' pos="{row(place, CM)}"' if any(place) else ""
        self.line(f'<body name="{part.name}"{at}{turn}>')
        self.depth += 1
        self.part.append(part)
        mass, inertia = part.inertia(self.density)
        centre = [part.module.size[4] / 2 - part.origin, 0, 0]
        self.line(f'<inertial pos="{row(centre, CM)}" mass="{number(mass * GRAM)}" '
                  f'diaginertia="{row(inertia, INERTIA)}"/>')

    def geom(self, part):
        points = [x for p in part.points() for x in p]
        self.mesh.append(f'    <mesh name="{part.name}" vertex="{row(points, CM)}"/>')
        self.line(f'<geom name="{part.name}" type="mesh" mesh="{part.name}" class="finger"/>')

    def close(self):
        self.depth -= 1
        self.line("</body>")

    def robot(self, start, turn, base, hinges, tip, fixed=()):
        """base: lines of the palm's joints; hinges: force limit and damping of the module's hinge;
        tip: the site by length, height and width of the tip (middle: 0)."""
        modules = self.structure.modules
        centred = self.structure.nfinger > 1     # the palm's frame is in its middle
        palm = Part("palm", modules[0], 0, modules[0].size[4], modules[0].size[4] / 2 * centred)
        self.open(palm, start, turn)
        for text in base:
            self.line(text)
        self.geom(palm)
        opened, count = 0, {}
        for m in modules[1:]:
            count[m.word] = count.get(m.word, 0) + 1
            name = f"{m.word}{count[m.word]}"
            before = modules[m.place - 1]
            if before.word == "tip" or before.word == "palm":
                for _ in range(opened):
                    self.close()
                opened = 0
                end = palm.high - palm.origin if m.finger == 0 else -palm.origin
                place, way = [end, 0, 0], "" if m.finger == 0 else ' quat="0 0 0 1"'
            else:
                place, way = [before.size[4] - (before.hinge or 0), 0, 0], ""
            length = m.size[4]
            part = Part(name, m, 0, m.hinge or length, 0)
            self.open(part, place, way)
            self.geom(part)
            opened += 1
            if m.hinge:
                child = Part(name + "_end", m, m.hinge, length, m.hinge)
                self.open(child, [m.hinge, 0, 0])
                if m.word not in fixed:
                    self.line(f'<joint name="{name}" axis="{m.axis}" damping="{number(1e5 * TURN)}"/>')
                    self.motors(name, hinges, TORQUE)
                self.geom(child)
                opened += 1
            if m.word == "tip":
                site = [tip[0] * length, 0, tip[1] * (m.size[1] + m.size[3]) / 4]
                self.tip.append(name)
                self.line(f'<site name="{name}" pos="{row(site, CM)}" size="0.002"/>')
        for _ in range(opened + 1):
            self.close()

    def contact(self, name, geom1, geom2, kn, kt, kd, mu):
        self.pair.append(f'    <pair name="{name}" geom1="{geom1}" geom2="{geom2}" '
                         f'friction="{number(mu)} {number(mu)}"/>')
        numbers = [kn * KN, kd * KD, kt * KT]    # in this order
        self.custom.append(f'    <numeric name="dijoco_penalty/{name}" data="{row(numbers)}"/>')

    def fingers(self, other, kn, kt, kd, mu, parts=None):
        for p in self.part:
            if parts is None or p.name in parts:
                self.contact(f"{p.name}_{other}", p.name, other, kn, kt, kd, mu)

    def points(self, geom, points):
        flat = [x for p in points for x in p]
        self.custom.append(f'    <numeric name="dijoco_points/{geom}" data="{row(flat, CM)}"/>')

    def maps(self):
        out = []
        for p in self.part:
            # (A hinge's two bodies are each as heavy as the module, as in the published scenes.)
            scales = {k: v for k, v in p.module.scales.items() if v}
            if scales:
                out.append({"type": "taper", "from": "cage", "body": p.name,
                            "box": [[round(x * CM, 12) for x in c] for c in p.box()],
                            "density": self.density * DENSITY, **scales})
        return out

    def xml(self, gravity, timestep):
        for p in self.part:
            self.custom.append(f'    <numeric name="dijoco_field/{p.name}" data="0"/>')
        assets = ["  <asset>", *self.mesh, "  </asset>"] if self.mesh else []
        text = [
            "<!-- Written by ../generate.py. -->", "<mujoco>",
            f'  <option timestep="{number(timestep)}" gravity="{row(gravity, CM)}" '
            'integrator="implicitfast"/>',
            "  <default>",
            '    <default class="finger"><geom contype="0" conaffinity="0" rgba="0.6 0.6 0.65 1"/>'
            "</default>",
            '    <default class="object"><geom contype="0" conaffinity="0" rgba="0.85 0.6 0.3 1"/>'
            "</default>",
            '    <motor ctrllimited="true" ctrlrange="-1 1"/>', "  </default>",
            *assets, "  <worldbody>", *self.body, "  </worldbody>"]
        if self.pair:
            text += ["  <contact>", *self.pair, "  </contact>"]
        text += ["  <actuator>", *self.motor, "  </actuator>"]
        text += ["  <custom>", *self.custom, "  </custom>"] if self.pair else []
        return "\n".join(text + ["</mujoco>", ""])


TURNED = ' quat="0 1 0 0"'        # about x: the finger's z is down


def box(scene, name, size, place=(0, 0, 0), density=1.0, inertial=True):
    mass = density * size[0] * size[1] * size[2] * GRAM if inertial else 0
    at = f' pos="{row(place, CM)}"' if any(place) else ""
    scene.line(f'<geom name="{name}" class="object" type="box" size="{row(size, CM / 2)}"{at} '
               f'mass="{number(mass)}"/>')


def corners(size, place=(0, 0, 0)):
    return [[place[k] + s[k] * size[k] / 2 for k in range(3)]
            for s in ((x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1))]


def ground(scene, z):
    scene.line(f'<geom name="ground" class="object" type="plane" size="0.5 0.5 0.01" '
               f'pos="0 0 {number(z * CM)}"/>')


def slides(scene, axes, force):
    names = [f"base_{a}" for a in axes]
    lines = []
    for a, name in zip(axes, names):
        kind = "hinge" if a == "turn" else "slide"
        axis = {"x": "1 0 0", "y": "0 1 0", "z": "0 0 1", "turn": "0 0 1"}[a]
        damping = 1e4 * (TURN if a == "turn" else SLIDE)
        lines.append(f'<joint name="{name}" type="{kind}" axis="{axis}" '
                     f'damping="{number(damping)}"/>')
        scene.motors(name, force, TORQUE if a == "turn" else FORCE)
    return lines


SQUARE = 1 / (CM * CM)


def every(hold, first=None, last=None):
    when = {"every": hold}
    if first is not None:
        when["from"] = first
    if last is not None:
        when["to"] = last
    return when


def reach(scene):
    scene.robot([0, 0, 0], "", [], 6e5, (0.5, 1))
    targets = [(10, -5, -5), (10, -5, 5), (20, 10, 10), (20, 10, -10)]
    loss = [{"type": "effort", "weight": 0.1, "when": every(20)}]
    for i, target in enumerate(targets):
        # A hold counts for the target that holds when it begins.
        ends = [20 * (k + 1) for k in range(30) if 20 * k // 150 == i]
        loss.append({"type": "position", "site": "tip1", "target": [x * CM for x in target],
                     "norm": True, "weight": 10 / CM, "when": every(20, ends[0], ends[-1])})
    return dict(timestep=0.005, steps=600, hold=20, gravity=(0, 0, 0), bounds=(0.5, 4), loss=loss,
                optimizer={"iterations": 500})


def rotate(scene):
    base = slides(scene, ["x", "y", "turn"], 3e5)
    scene.robot([0, 0, 4], TURNED, base, 3e5, (1, 0), fixed=("knuckle",))
    scene.line('<body name="base" pos="0 0 -0.08">')
    scene.depth += 1
    box(scene, "base", (6, 6, 4), density=0.3)
    scene.line('<body name="box" pos="0 0 0.03">')
    scene.depth += 1
    scene.line(f'<joint name="box" axis="0 0 1" damping="{number(1e4 * TURN)}"/>')
    box(scene, "box", (6, 6, 2), density=0.3)
    scene.close()
    scene.close()
    for name in ("base", "box"):
        scene.fingers(name, 1e6, 5e3, 1e3, 1.5)
    ground(scene, -10)
    scene.fingers("ground", 1e6, 5e3, 30, 1.5)
    loss = [{"type": "effort", "weight": 5, "when": every(5)},
            {"type": "distance", "site": "tip1", "body2": "base", "weight": 0.1 * SQUARE,
             "when": every(5)},
            {"type": "qpos", "joint": "box", "target": -math.pi / 2, "weight": 1000}]
    return dict(timestep=0.005, steps=200, hold=5, gravity=(0, 0, 0), bounds=(0.5, 2), loss=loss,
                optimizer={"iterations": 150})


def flip(scene):
    base = slides(scene, ["x", "z"], 6e5)
    scene.robot([0, 0, 0], TURNED, base, 1.5e5, (0.5, 1))
    scene.line('<body name="box" pos="0.15 0 -0.1">')
    scene.depth += 1
    scene.line(f'<joint name="box" axis="0 -1 0" damping="{number(1e4 * TURN)}"/>')
    box(scene, "box", (6, 6, 6), (3, 0, 3))
    scene.line('<site name="touch" pos="0.06 0 0.04" size="0.002"/>')
    scene.close()
    scene.fingers("box", 5e5, 2.5e3, 300, 1.5)
    ground(scene, -10)
    scene.fingers("ground", 1e6, 5e3, 30, 1.5)
    scene.contact("box_ground", "box", "ground", 5e6, 5e3, 300, 0.8)
    scene.points("box", corners((6, 6, 6)))
    loss = [{"type": "effort", "weight": 5, "when": every(5)},
            {"type": "qpos", "joint": "box", "target": math.pi / 2, "weight": 50,
             "when": every(5)},
            {"type": "distance", "site": "tip1", "site2": "touch", "weight": SQUARE,
             "when": every(5, None, 75)}]
    return dict(timestep=0.005, steps=150, hold=5, gravity=(0, 0, -980), bounds=(0.5, 3), loss=loss,
                optimizer={"radius": 3, "iterations": 100})


def planar(scene, name, turn_damping):
    for a, axis in (("x", "1 0 0"), ("y", "0 1 0")):
        scene.line(f'<joint name="{name}_{a}" type="slide" axis="{axis}" '
                   f'damping="{number(turn_damping * SLIDE)}"/>')
    scene.line(f'<joint name="{name}_turn" axis="0 0 1" damping="{number(turn_damping * TURN)}"/>')


def face_grid(size, n):
    """n x n points on each face of a box."""
    line = [k / (n - 1) - 0.5 for k in range(n)]
    return [[x * size[0], y * size[1], z * size[2]] for x in line for y in line for z in line
            if 0.5 in (abs(x), abs(y), abs(z))]


def assemble(scene):
    base = slides(scene, ["x", "y"], 6e5)
    scene.robot([0, 0, 4], TURNED, base, 6e5, (0.5, 1))
    scene.line('<body name="block" pos="0 0 -0.07">')
    scene.depth += 1
    planar(scene, "block", 1e3)
    parts = [((3, 8, 6), (-1.5, 0, 0)), ((3, 3, 3), (1.5, 0, 1.5)), ((3, 2.5, 6), (1.5, -2.75, 0)),
             ((3, 2.5, 6), (1.5, 2.75, 0))]
    for i, (size, place) in enumerate(parts):
        box(scene, f"block{i}", size, place, density=0.2)
    scene.line('<site name="hole" pos="0.015 0 -0.015" size="0.002"/>')
    scene.close()
    scene.line('<body name="peg" pos="0.08 0.02 -0.086">')
    scene.depth += 1
    planar(scene, "peg", 1e3)
    box(scene, "peg", (2.8, 2.8, 2.8), density=0.2)
    scene.close()
    for name in ["peg"] + [f"block{i}" for i in range(4)]:
        scene.fingers(name, 1e5, 5e3, 1e3, 1.0)
    for i in range(4):
        scene.contact(f"peg_block{i}", "peg", f"block{i}", 1e5, 1e3, 1e3, 1.0)
    ends = [p.name for p in scene.part if p.module.word == "tip" or
            p.module in [m for m in scene.structure.modules
                         if m.word != "tip" and any(
                             n.word == "tip" and n.place - m.place in (1, 2)
                             for n in scene.structure.modules)]]
    ends = [n for n in ends if not (n.startswith("joint") and not n.endswith("_end"))]
    ground(scene, -10)
    scene.fingers("ground", 1e6, 5e3, 30, 1.5, ends)
    scene.points("peg", face_grid((2.8, 2.8, 2.8), 6))
    for i in range(4):
        scene.custom.append(f'    <numeric name="dijoco_point_count/block{i}" data="0"/>')
    weight = {"when": every(5)}
    loss = [{"type": "distance", "site": "tip1", "body2": "peg", "weight": SQUARE, **weight},
            {"type": "distance", "site": "tip2", "body2": "block", "weight": SQUARE, **weight},
            {"type": "position", "body": "block", "index": [0, 1], "target": [0, 0],
             "weight": 15 * SQUARE, **weight},
            {"type": "distance", "site": "hole", "body2": "peg", "weight": 5 * SQUARE, **weight},
            {"type": "qpos", "joint": "block_turn", "joint2": "peg_turn", "target": 0,
             "weight": 50, **weight}]
    stages = [{"set": {"contact/penalty/scale": [s]}, "iterations": 100} for s in (0.01, 0.1, 1)]
    nq = 2 + 6 + 3 + 3
    return dict(timestep=0.001, steps=500, hold=5, gravity=(0, 0, -980), loss=loss,
                bounds=(0.5, [6] + 16 * [3]), optimizer={"stages": stages},
                initial={"qpos": (nq - 1) * [0] + [math.pi / 6]})


def arm(scene, start, axis, lengths, torque, damping=1e4, square=1):
    """Boxes on hinges, one behind the other; returns their names."""
    place, names = start, []
    for i, length in enumerate(lengths):
        name = f"link{i + 1}"
        scene.line(f'<body name="{name}" pos="{row(place, CM)}">')
        scene.depth += 1
        scene.line(f'<joint name="{name}" axis="{axis}" damping="{number(damping * TURN)}"/>')
        scene.motors(name, torque, TORQUE)
        box(scene, name, (length, square, square), (length / 2, 0, 0))
        place = [length, 0, 0]
        names.append(name)
    scene.line(f'<site name="tip" pos="{row(place, CM)}" size="0.002"/>')
    for _ in lengths:
        scene.close()
    return names


def to_target(scene, start, lengths, target, integrator):
    arm(scene, start, "0 1 0", lengths, 1e5)
    loss = [{"type": "position", "site": "tip", "target": [x * CM for x in target],
             "weight": SQUARE},
            {"type": "effort", "weight": 0.01, "when": every(1)}]
    return dict(timestep=0.01, steps=100, hold=1, gravity=(0, 0, -980), loss=loss,
                integrator=integrator, optimizer={"iterations": 100})


def double_pendulum(scene):
    return to_target(scene, [0, 0, 0], [10, 10], (10, 0, 0), "bdf1")


def finger_torque(scene):
    return to_target(scene, [0, 0, 10], [4, 2, 1], (3, 0, 5), "bdf2")


FLICK = dict(gain=(10, 2, 3), goal=10.5, qpos=[0, math.pi / 2, math.pi / 4, 0, 0, 0])


def flick(scene):
    """In the plane of x and y, as published; the controls to begin with are record()'s."""
    names = arm(scene, [0, 3.2, 0], "0 0 -1", [4, 2, 1], 1e5)
    scene.line('<body name="box" pos="0.052 0.005 0">')
    scene.depth += 1
    for a, axis in (("x", "1 0 0"), ("y", "0 1 0")):
        scene.line(f'<joint name="box_{a}" type="slide" axis="{axis}"/>')
    scene.line('<joint name="box_turn" axis="0 0 1"/>')
    box(scene, "box", (1, 1, 1))
    scene.close()
    scene.line('<geom name="ground" class="object" type="plane" size="0.5 0.5 0.01" '
               'zaxis="0 1 0"/>')
    for name in names + ["box"]:
        scene.contact(f"{name}_ground", name, "ground", 1e4, 1e2, 1e3, 0.2)
    for name in names:
        scene.contact(f"{name}_box", name, "box", 1e4, 0, 0, 0)
    for name in names + ["box"]:
        scene.custom.append(f'    <numeric name="dijoco_point_count/{name}" data="24"/>')
    loss = [{"type": "position", "body": "box", "index": [0],
             "target": [(5.2 + FLICK["goal"]) * CM], "weight": SQUARE}]
    return dict(timestep=0.0005, steps=1000, hold=0, gravity=(0, -980, 0), loss=loss,
                initial={"qpos": FLICK["qpos"]}, ctrl="ctrl.csv",
                optimizer={"radius": 1, "iterations": 100})


def record(folder, scene):
    """The controls of flick: gain (-q) of each hinge, as it runs. Needs the package dijoco."""
    import dijoco  # pylint: disable=import-outside-toplevel
    task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    model = dijoco.Model.load(str(scene), timestep=task["timestep"],
                              integrator=task["integrator"], contact=task["contact"]["model"])
    data = dijoco.Data(model)
    data.qpos[:] = FLICK["qpos"]
    lines = ["ctrl[0],ctrl[1],ctrl[2]"]
    for _ in range(task["horizon"]):
        u = [min(max(-p * q, -1.0), 1.0) for p, q in zip(FLICK["gain"], data.qpos)]
        data.ctrl[:] = u
        data.step()
        lines.append(",".join(f"{x:.9g}" for x in u))
    (folder / "ctrl.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


TASKS = {
    "double_pendulum": (double_pendulum, None, 1.0), "finger_torque": (finger_torque, None, 1.0),
    "flick": (flick, None, 1.0),
    "reach": (reach, FINGER, 1.0), "rotate": (rotate, FINGER, 1.0), "flip": (flip, FINGER, 1.0),
    "assemble": (assemble, TWO, 0.1),
}


def task_of(name, words, density=None):
    """(scene.xml, task) of a structure."""
    build, _, usual = TASKS[name]
    scene = Scene(Structure(words) if words else None, usual if density is None else density)
    made = build(scene)
    task = {
        "scene": "scene.xml",
        "integrator": made.get("integrator", "bdf2"),
        "timestep": made["timestep"],
        "contact": {"model": "penalty"} if scene.pair else {"model": "none"},
        "horizon": made["steps"],
    }
    if "initial" in made:
        task["initial"] = made["initial"]
    if "ctrl" in made:
        task["ctrl"] = made["ctrl"]
        task["variables"] = [{"name": "ctrl"}]
    else:
        rows = -(-made["steps"] // made["hold"])
        task["free"] = {"action": {"value": rows * len(scene.motor) * [0], "min": -1, "max": 1}}
        task["maps"] = [{"type": "tanh", "from": "action", "hold": made["hold"]}]
        task["variables"] = [{"name": "action"}]
    if words:
        low, high = made["bounds"]
        n = len(scene.structure.variables)
        task["free"]["cage"] = {"value": n * [1], "min": low, "max": high}
        task["maps"] += scene.maps()
        task["variables"].append({"name": "cage"})
    task["loss"] = made["loss"]
    task["optimizer"] = {"type": "lbfgsb", **made["optimizer"]}
    return scene.xml(made["gravity"], made["timestep"]), task


def tidy(value):
    """Numbers without what rounding left."""
    if isinstance(value, float):
        value = float(f"{value:.12g}")
        return int(value) if value == int(value) and abs(value) < 1e15 else value
    if isinstance(value, list):
        return [tidy(v) for v in value]
    if isinstance(value, dict):
        return {k: tidy(v) for k, v in value.items()}
    return value


def text_of(task):
    """A key in a line, a map or a term, too."""
    out = []
    for key, value in tidy(task).items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            items = ",\n    ".join(json.dumps(v) for v in value)
            out.append(f'  "{key}": [\n    {items}]')
        else:
            out.append(f'  "{key}": {json.dumps(value)}')
    return "{\n" + ",\n".join(out) + "\n}\n"


def write(folder, xml, task):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "scene.xml").write_text(xml, encoding="utf-8")
    (folder / "task.json").write_text(text_of(task), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("word", nargs="*", help="modules from the palm on, after one another")
    parser.add_argument("--task", default="reach", choices=TASKS, help="what it is to do")
    parser.add_argument("--density", type=float, help="g/cm3")
    parser.add_argument("--out", default=".", type=pathlib.Path, help="folder of what is written")
    parser.add_argument("--record", nargs="?", const=HERE / "flick/scene.xml", metavar="SCENE",
                        help="flick/ctrl.csv anew, by the package dijoco; SCENE: what `convert` made")
    parser.add_argument("--all", action="store_true", help="all tasks, beside this file")
    options = parser.parse_args()
    if options.all:
        for name, (_, words, _) in TASKS.items():
            write(HERE / name, *task_of(name, words))
        return 0
    if options.record:
        record(HERE / "flick", options.record)
        return 0
    if not TASKS[options.task][1]:
        parser.error(f"{options.task} has no structure")
    words = [w for word in options.word for w in word.replace(",", " ").split()]
    try:
        made = task_of(options.task, words, options.density)
    except ValueError as e:
        print(f"generate.py: {e}", file=sys.stderr)
        return 2
    write(options.out, *made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
