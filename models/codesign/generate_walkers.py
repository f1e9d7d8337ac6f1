#!/usr/bin/env python3
"""Writes scene.xml, task.json and controls.json of a spider and a biped whose feet are designed.

  generate_walkers.py [FOLDER]

FOLDER is that of this file unless given. What is chosen is in the tables at the top; README.md says
why."""
import json
import math
import pathlib
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent

# Of each task: timestep (s), steps, radii of design and control, gains k_p, k_d of SDRS eq. 5
# (twice these are MuJoCo's kp, kv), stages and their iterations; density of feet (kg/m3), friction;
# epsilon of Adam's direction (m2 by m, rad or Hz) where it is not the optimizer's own.
TASKS = {
    "chain_reach": dict(dt=0.01, steps=250, design=0.02, control=0.1, kp=5e3, kd=5e2, stages=2,
                        iterations=60, density=500, friction=0.3),
    "spider": dict(dt=0.01, steps=550, design=4e-3, control=0.02, kp=1e2, kd=1e1, stages=3,
                   iterations=100, density=500, friction=0.7, epsilon=1),
    "biped": dict(dt=0.01, steps=400, design=4e-3, control=1e-2, kp=1e3, kd=1e2, stages=16,
                  iterations=25, density=80, friction=1),
}
# Cells of the cages: 26 and 96 corners, most along the foot.
GRIDS = {"spider": {"cage_coarse.json": [2, 2, 2], "cage_fine.json": [3, 4, 5]},
         "biped": {"cage_coarse.json": [2, 2, 2], "cage_fine.json": [3, 5, 4]}}
RINGS, RING = 3, 10           # of a hull, beside two points within it: 32
BLUE, GREY, ORANGE = "0.35 0.5 0.7 1", "0.6 0.6 0.65 1", "0.85 0.6 0.3 1"

# ---- spider
SLOPE = math.radians(15)
# Half sizes and mass of the trunk; length, radius and mass of the upper links.
TRUNK = dict(half=(0.2, 0.15, 0.05), mass=4.0)
UPPER = dict(length=0.2, radius=0.03, mass=0.4)
# Of the feet over the ground at the start, and by how much a design may lengthen them (m): it cannot
# begin in the ground.
CLEAR, LONGER = 0.03, 0.02
TIP = 0.0745                  # of the lowest hull, below its centre of mass
# Hulls of a foot from the knee down: rings as (depth, radius).
FOOT = [[(0.0, 0.025), (0.05, 0.025), (0.11, 0.022)],
        [(0.09, 0.023), (0.15, 0.021), (0.20, 0.018)],
        [(0.18, 0.019), (0.26, 0.014), (0.30, 0.006)]]
LEGS = (("fl", 1, 1), ("fr", 1, -1), ("bl", -1, 1), ("br", -1, -1))
# Four sines of each joint at the start: Hz; the first has an amplitude.
HZ = (1.25, 0.75, 1.75, 0.5)


def number(x):
    text = "%.6g" % (round(x, 9) + 0.0)
    return text


def row(values):
    return " ".join(number(v) for v in values)


class Xml:
    """Lines of a scene."""

    def __init__(self):
        self.lines, self.depth = [], 0

    def _put(self, start, attributes, end):
        indent = "  " * self.depth
        line = indent + "<" + start
        for key, value in attributes.items():
            if isinstance(value, (tuple, list)):
                value = row(value)
            elif isinstance(value, (int, float)):
                value = number(value)
            words = (' %s="%s"' % (key.rstrip("_"), value)).split(" ")[1:]
            for i, word in enumerate(words):
                if len(line) + 1 + len(word) + (len(end) if i == len(words) - 1 else 0) > 98:
                    self.lines.append(line)
                    line = indent + " " * (1 + len(start))
                line += " " + word
        self.lines.append(line + end)

    def one(self, start, **attributes):
        self._put(start, attributes, "/>")

    def open(self, start, **attributes):
        self._put(start, attributes, ">")
        self.depth += 1

    def close(self, *names):
        for name in names:
            self.depth -= 1
            self.lines.append("  " * self.depth + "</%s>" % name)

    def text(self):
        return "\n".join(self.lines) + "\n"


def hull(rings, inner, squeeze=1.0):
    """32 points about the z axis: rings as (depth, radius), and two within."""
    points = []
    for k, (depth, radius) in enumerate(rings):
        for j in range(RING):
            a = 2 * math.pi * (j + 0.5 * (k % 2)) / RING
            points.append((radius * math.cos(a), squeeze * radius * math.sin(a), -depth))
    return points + list(inner)


def foot_hulls(rings):
    """Hulls of a foot and its ties: (points of each, [(hull, point, hull, point)]). The first point
    within the first hull is the knee; each pair that overlaps shares a point in the middle of what
    both cover."""
    shared = [(0, 0, -(b[0][0] + a[-1][0]) / 2) for a, b in zip(rings, rings[1:])]
    last = (0, 0, -rings[-1][-1][0])
    inner = [(0, 0, 0)] + shared + [last]
    hulls = [hull(r, (inner[i], inner[i + 1])) for i, r in enumerate(rings)]
    n = RINGS * RING
    return hulls, [(i, n + 1, i + 1, n) for i in range(len(rings) - 1)], (0, n)


def sines(first, hz=HZ):
    """Rows of four sines, the first given by amplitude and phase."""
    return [[first[0] if k == 0 else 0, f, first[1] if k == 0 else 0] for k, f in enumerate(hz)]


def cages(feet, hulls, grid, longer=None):
    """Free vectors, maps and variables of a lattice of cells about each foot, whose uppermost nodes
    stay where the foot is attached; those below go down by `longer` at most."""
    low = [round(min(p[k] for h in hulls for p in h) - 0.001, 6) for k in range(3)]
    high = [round(max(p[k] for h in hulls for p in h) + 0.001, 6) for k in range(3)]
    nodes = [(i, j, k) for k in range(grid[2] + 1) for j in range(grid[1] + 1)
             for i in range(grid[0] + 1)
             if i in (0, grid[0]) or j in (0, grid[1]) or k in (0, grid[2])]
    index = [3 * n + c for n, node in enumerate(nodes) if node[2] < grid[2] for c in range(3)]
    free = {"cage_" + body: {"value": 3 * len(nodes) * [0]} for body in feet}
    for cage in free.values() if longer else []:
        cage["min"] = len(nodes) * [-1, -1, -longer]
    maps = [{"type": "cage", "from": "cage_" + body, "body": body, "box": [low, high],
             "grid": grid} for body in feet]
    return free, maps, [{"name": name, "index": index} for name in free]


def begin(name, text, dt, feet):
    """The scene up to its bodies; feet: {mesh: points}."""
    x = Xml()
    lines = textwrap.wrap("Written by ../generate_walkers.py. %s -->" % text, 93)
    x.lines.append("<!-- " + "\n     ".join(lines))
    x.open("mujoco", model=name)
    x.one("option", timestep=dt, integrator="discrete", impratio=100, cone="elliptic")
    x.open("default")
    x.one("geom", friction=TASKS[name]["friction"], contype=0, conaffinity=0, rgba=GREY)
    x.open("default", class_="foot")
    x.one("geom", type="mesh", density=TASKS[name]["density"], contype=1, conaffinity=2, rgba=BLUE)
    x.close("default", "default")
    x.open("asset")
    for mesh, points in feet.items():
        x.one("mesh", name=mesh, inertia="convex", vertex=[v for p in points for v in p])
    x.close("asset")
    return x


def motors(x, joints, row_):
    x.open("actuator")
    for joint in joints:
        x.one("position", name=joint, joint=joint, kp=2 * row_["kp"])
    for joint in joints:
        x.one("velocity", name=joint + "_rate", joint=joint, kv=2 * row_["kd"])
    x.close("actuator")


def foot(x, name, count):
    for i in range(count):
        x.one("geom", name="%s_%d" % (name, i), class_="foot", mesh="%s_%d" % (name, i))


def ties(name, joint, tied, attached):
    out = [{"a": {"geom": "%s_%d" % (name, attached[0]), "vertex": attached[1]},
            "b": {"joint": joint}}]
    return out + [{"a": {"geom": "%s_%d" % (name, a), "vertex": i},
                   "b": {"geom": "%s_%d" % (name, b), "vertex": j}} for a, i, b, j in tied]


def spider():
    row_ = TASKS["spider"]
    hulls, tied, attached = foot_hulls(FOOT)
    feet = {"foot_%s_%d" % (leg, i): h for leg, _, _ in LEGS for i, h in enumerate(hulls)}
    x = begin("spider", "Four legs of two links, each joint of two hinges, on a slope of 15 "
              "degrees; the mark is 10 m up the slope.", row_["dt"], feet)
    up, tilt = 0.1, 0.15    # of the upper links above, of the feet outward of the vertical (rad)
    knee = UPPER["length"] * math.sin(up)
    height = FOOT[-1][-1][0] * math.cos(tilt) - knee + CLEAR
    c, s = math.cos(SLOPE / 2), math.sin(SLOPE / 2)
    normal = (-math.sin(SLOPE), 0, math.cos(SLOPE))
    x.open("worldbody")
    x.one("light", pos=(0, -2, 4))
    x.one("geom", name="ground", type="plane", size=(12, 12, 0.1),
          pos=[-height * n for n in normal], quat=(c, 0, -s, 0), contype=2, conaffinity=1,
          rgba="0.8 0.8 0.75 1")
    goal = (10 * math.cos(SLOPE), 0, 10 * math.sin(SLOPE))
    x.one("site", name="mark", pos=goal, size=0.1, rgba="0.8 0.2 0.2 1")
    x.open("body", name="trunk", quat=(c, 0, -s, 0))
    x.one("freejoint", name="trunk")
    x.one("geom", name="trunk", type="box", size=TRUNK["half"], mass=TRUNK["mass"], contype=1,
          conaffinity=2)
    joints, connect, start = [], [], {}
    for leg, sx, sy in LEGS:
        out = (0.6 * sx, 0.8 * sy)                      # horizontal direction of the leg
        level = (-out[1], out[0], 0)                    # turns that way lower the leg
        x.open("body", name="upper_" + leg, pos=(TRUNK["half"][0] * sx, TRUNK["half"][1] * sy, 0))
        x.one("joint", name=leg + "_swing", axis=(0, 0, 1))
        x.one("joint", name=leg + "_lift", axis=level)
        end = [UPPER["length"] * math.cos(up) * o for o in out] + [knee]
        x.one("geom", name="upper_" + leg, type="capsule", fromto=[0, 0, 0] + end,
              size=UPPER["radius"], mass=UPPER["mass"])
        turn = [-math.sin(tilt / 2) * v for v in level]
        x.open("body", name="foot_" + leg, pos=end, quat=[math.cos(tilt / 2)] + turn)
        x.one("joint", name=leg + "_knee", axis=level)
        x.one("joint", name=leg + "_twist", axis=(*out, 0))
        foot(x, "foot_" + leg, len(hulls))
        x.close("body", "body")
        joints += ["%s_%s" % (leg, j) for j in ("swing", "lift", "knee", "twist")]
        connect += ties("foot_" + leg, leg + "_knee", tied, attached)
        phase = 0 if sx * sy > 0 else math.pi
        # Turning by z moves a left leg's foot back, a right leg's forward.
        start[leg + "_swing"] = sines((0.15, phase if sy > 0 else phase + math.pi))
        start[leg + "_lift"] = sines((0.15, phase + math.pi / 2))
        start[leg + "_knee"] = sines((0.0, 0.0))
        start[leg + "_twist"] = sines((0.0, 0.0))
    x.close("body", "worldbody")
    motors(x, joints, row_)
    x.close("mujoco")
    low = [v for f in HZ for v in (-0.2, round(0.9 * f, 3), -20)]
    high = [v for f in HZ for v in (0.2, round(1.1 * f, 3), 20)]
    task = {
        "free": {j: {"value": start[j], "min": low, "max": high} for j in joints},
        "maps": [{"type": "sines", "from": j, "to": "ctrl", "actuator": j, "velocity": j + "_rate"}
                 for j in joints],
        "loss": [{"type": "com", "target": goal}],
        "variables": [{"name": j} for j in joints],
    }
    caged = ["foot_" + leg for leg, _, _ in LEGS], hulls, LONGER
    # The lowest hull's tip is where z is least in MuJoCo's frame of it, as nothing else is.
    design = [{"name": "mesh/foot_*_%d/vert" % i} for i in range(len(hulls))]
    design[-1]["min"] = -TIP - LONGER
    return x.text(), task, design, connect, caged


# ---- biped
# Half sizes and mass of the trunk; of its legs: places, lengths, masses, half the knees' bend.
SCALE = 1.5
BODY = dict(half=[SCALE * v for v in (0.12, 0.08, 0.2)], mass=9.0)
LEG = dict(x=0.09 * SCALE, thigh=0.3 * SCALE, shank=0.3 * SCALE, mass=(1.5, 1.0), bend=0.35)
SOLE = dict(x=0.08 * SCALE, up=0.05 * SCALE, back=0.14 * SCALE, front=0.14 * SCALE,
            rise=0.02 * SCALE)
BIPED_Z = 0.9392            # of the ground below the centre of mass
GAIT = dict(Hz=0.95, stride=0.15, lift=0.15, sway=0.0)
# Loss of the biped: seconds at the end over which the distance is averaged, weight of its upright
# trunk; speed of the starts that are pushed. Of runs that only have to stay upright: speed, seconds
# and weight.
LAST, UPRIGHT, PUSH = 1.0, 5, 0.2
SHOVE = dict(speed=0.3, time=1.2, weight=20)


def sole():
    """Hulls of a foot along y and its ties; the ankle is at 0. Rings across y rise to both ends."""
    length, middle = SOLE["back"] + SOLE["front"], -0.5 * SOLE["up"]
    at = [(t * length) - SOLE["back"] for t in (0, 0.21, 0.33, 0.71, 0.83, 1)]
    spans = [(at[0], at[2]), (at[1], at[4]), (at[3], at[5])]
    shared = [(0, 0.5 * (b[0] + a[1]), middle) for a, b in zip(spans, spans[1:])]
    inner = [shared[:1], [*shared, (0, 0, 0)], [shared[1], (0, 0.9 * SOLE["front"], middle)]]
    hulls = []
    for k, (start, end) in enumerate(spans):
        points = []
        for t in (0, 0.5, 1):
            y = start + t * (end - start)
            rise = SOLE["rise"] * (2 * (y + SOLE["back"]) / length - 1) ** 2
            for j in range(RING):
                c, s = (math.copysign(abs(v) ** 0.6, v) for v in
                        (math.cos(2 * math.pi * (j + 0.5) / RING),
                         math.sin(2 * math.pi * (j + 0.5) / RING)))
                points.append((SOLE["x"] * c, y, middle + rise * (s < 0) + 0.5 * SOLE["up"] * s))
        hulls.append(points + inner[k])
    n = RINGS * RING
    return hulls, [(0, n, 1, n), (1, n + 1, 2, n)], (1, n + 2)


def wave(sine, cosine):
    """Amplitude and phase of a sum of a sine and a cosine."""
    return math.hypot(sine, cosine), math.atan2(cosine, sine)


def biped():
    row_ = TASKS["biped"]
    hulls, tied, attached = sole()
    feet = {"foot_%s_%d" % (leg, i): h for leg in "lr" for i, h in enumerate(hulls)}
    x = begin("biped", "Two legs of six hinges, whose feet are round below; the mark is "
              "3 m ahead, along y.", row_["dt"], feet)
    bend, thigh, shank = LEG["bend"], LEG["thigh"], LEG["shank"]
    drop = (thigh + shank) * math.cos(bend) + SOLE["up"]
    x.open("worldbody")
    x.one("light", pos=(2, 0, 3))
    x.one("geom", name="ground", type="plane", size=(5, 5, 0.1), pos=(0, 0, -BIPED_Z), contype=2,
          conaffinity=1, rgba="0.8 0.8 0.75 1")
    x.one("site", name="mark", pos=(0, 3, 0), size=0.05, rgba="0.8 0.2 0.2 1")
    x.open("body", name="trunk", pos=(0, -0.0085, round(drop + 0.002 - BIPED_Z, 6)))
    x.one("freejoint", name="trunk")
    x.one("geom", name="trunk", type="box", size=BODY["half"], pos=(0, 0, BODY["half"][2]),
          mass=BODY["mass"], contype=1, conaffinity=2)
    g, connect, start = GAIT, [], {}
    hz = (g["Hz"], 2 * g["Hz"], 0.5 * g["Hz"], 3 * g["Hz"])
    for leg, side in (("l", -1), ("r", 1)):
        x.open("body", name="thigh_" + leg, pos=(LEG["x"] * side, 0, 0),
               quat=(math.cos(bend / 2), math.sin(bend / 2), 0, 0))
        for joint, axis in (("yaw", (0, 0, 1)), ("roll", (0, 1, 0)), ("pitch", (1, 0, 0))):
            x.one("joint", name="%s_%s" % (leg, joint), axis=axis)
        x.one("geom", name="thigh_" + leg, type="capsule", fromto=(0, 0, 0, 0, 0, -thigh),
              size=0.04 * SCALE, mass=LEG["mass"][0])
        x.open("body", name="shank_" + leg, pos=(0, 0, -thigh),
               quat=(math.cos(bend), -math.sin(bend), 0, 0))
        x.one("joint", name=leg + "_knee", axis=(1, 0, 0))
        x.one("geom", name="shank_" + leg, type="capsule", fromto=(0, 0, 0, 0, 0, -shank),
              size=0.03 * SCALE, mass=LEG["mass"][1])
        x.open("body", name="foot_" + leg, pos=(0, 0, -shank),
               quat=(math.cos(bend / 2), math.sin(bend / 2), 0, 0))
        x.one("joint", name=leg + "_ankle", axis=(1, 0, 0))
        x.one("joint", name=leg + "_tilt", axis=(0, 1, 0))
        foot(x, "foot_" + leg, len(hulls))
        x.close("body", "body", "body")
        connect += ties("foot_" + leg, leg + "_ankle", tied, attached)
        # The left leg swings while cos(2 pi Hz t) > 0.
        sign, lift = -side, g["lift"]
        waves = {"yaw": (0, 0), "roll": (0, g["sway"]), "pitch": (sign * g["stride"],
                                                                  sign * lift / 2),
                 "knee": (0, -sign * lift), "ankle": (-sign * g["stride"], sign * lift / 2),
                 "tilt": (0, -g["sway"])}
        start.update({"%s_%s" % (leg, j): sines(wave(*w), hz) for j, w in waves.items()})
    x.close("body", "worldbody")
    motors(x, start, row_)
    x.close("mujoco")
    last = round(LAST / row_["dt"])

    def upright(weight):
        return {"type": "orientation", "body": "trunk", "target": (1, 0, 0, 0), "when": "running",
                "weight": weight}

    def pushed(name, speed, **more):
        return {"name": name, "initial": {"qvel": [0, speed] + (4 + len(start)) * [0]}, **more}

    shove = {"horizon": round(SHOVE["time"] / row_["dt"]), "loss": [upright(SHOVE["weight"])]}
    low = [v for f in hz for v in (-0.25, round(0.9 * f, 3), -20)]
    high = [v for f in hz for v in (0.25, round(1.1 * f, 3), 20)]
    task = {
        "free": {j: {"value": v, "min": low, "max": high} for j, v in start.items()},
        "maps": [{"type": "sines", "from": j, "to": "ctrl", "actuator": j, "velocity": j + "_rate"}
                 for j in start],
        "loss": [{"type": "com", "target": (0, 3, 0), "weight": 1 / last,
                  "when": {"every": 1, "from": row_["steps"] - last + 1, "to": row_["steps"]}},
                 upright(UPRIGHT)],
        "scenes": [{"name": "still"}, pushed("forward", PUSH), pushed("backward", -PUSH),
                   pushed("shoved_forward", SHOVE["speed"], **shove),
                   pushed("shoved_backward", -SHOVE["speed"], **shove)],
        "variables": [{"name": j} for j in start],
    }
    return x.text(), task, [{"name": "mesh/foot_*/vert"}], connect, (["foot_l", "foot_r"], hulls)


# ---- chains
LINKS, LINK = 8, dict(length=0.15, half=0.02, tip=0.13)
BASES = (("a", -0.5, 1, 6), ("b", 0.0, 2, 5), ("c", 0.35, 4, 3))     # x, contype, conaffinity
REACH = (0.1, 0, -1.6)


def prism(end):
    """A square prism from a joint down, and the point where the next link is attached."""
    h, points = LINK["half"], []
    for depth, half in ((-h / 2, h / 2), (h / 2, h), (LINK["tip"] - h, h), (LINK["tip"], h / 2)):
        points += [(x * half, y * half, -depth) for x, y in ((1, 1), (-1, 1), (-1, -1), (1, -1))]
    return points + [(0, 0, -end)]


def chain_reach():
    row_ = TASKS["chain_reach"]
    meshes = {"%s%d" % (c, i): prism(LINK["length"]) for c, *_ in BASES for i in range(LINKS + 1)}
    x = begin("chain_reach", "Three chains of eight links beside each other; the base of the "
              "first is moved along x, its tip is to reach the mark.", row_["dt"], meshes)
    x.open("worldbody")
    x.one("light", pos=(0, -2, 1))
    x.one("site", name="mark", pos=REACH, size=0.02, rgba="0.8 0.2 0.2 1")
    for chain, place, contype, conaffinity in BASES:
        x.open("body", name=chain + "0", pos=(place, 0, 0))
        if chain == "a":
            x.one("joint", name="base", type="slide", axis=(1, 0, 0))
        for i in range(LINKS + 1):
            x.one("geom", name="%s%d" % (chain, i), class_="foot", mesh="%s%d" % (chain, i),
                  contype=contype, conaffinity=conaffinity, rgba=GREY if chain == "a" else ORANGE)
            if i == LINKS:
                if chain == "a":
                    x.one("site", name="tip", pos=(0, 0, -LINK["length"]), size=0.01)
            else:
                x.open("body", name="%s%d" % (chain, i + 1), pos=(0, 0, -LINK["length"]))
                x.one("joint", name="%s%d" % (chain, i + 1), axis=(0, 1, 0), damping=0.02)
        x.close(*(LINKS + 1) * ["body"])
    x.close("worldbody")
    motors(x, ["base"], row_)
    x.close("mujoco")
    n = len(meshes["a0"]) - 1
    task = {
        "free": {"base": {"value": [0, 0.05, 0.1, 0.15], "min": -0.5, "max": 0.4}},
        "maps": [{"type": "spline", "from": "base", "actuator": "base", "velocity": "base_rate"}],
        "loss": [{"type": "position", "site": "tip", "target": REACH}],
        "variables": [{"name": "base"}],
    }
    design = [{"name": ["body/a%d/pos" % (i + 1) for i in range(LINKS)], "index": [2], "min": -0.3,
               "max": -0.1},
              {"name": ["mesh/a%d/vert" % i for i in range(LINKS)],
               "index": [3 * n, 3 * n + 1, 3 * n + 2]}]
    connect = [{"a": {"geom": "a%d" % i, "vertex": n}, "b": {"body": "a%d" % (i + 1)}}
               for i in range(LINKS)]
    return x.text(), task, design, connect, None


def tidy(value):
    if isinstance(value, float):
        value = round(value, 6)
        return int(value) if value == int(value) else value
    if isinstance(value, (list, tuple)):
        return [tidy(v) for v in value]
    if isinstance(value, dict):
        return {k: tidy(v) for k, v in value.items()}
    return value


def text_of(task):
    """A key in a line, an item of a list or an object's member, too."""
    out = []
    for key, value in tidy(task).items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            items = ",\n    ".join(json.dumps(v) for v in value)
            out.append('  "%s": [\n    %s]' % (key, items))
        elif key == "free":
            items = ",\n    ".join(json.dumps({k: v})[1:-1] for k, v in value.items())
            out.append('  "%s": {\n    %s}' % (key, items))
        else:
            out.append('  "%s": %s' % (key, json.dumps(value)))
    return "{\n" + ",\n".join(out) + "\n}\n"


def write(folder, name, made):
    scene, task, design, connect, caged = made
    row_ = TASKS[name]
    folder = folder / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "scene.xml").write_text(scene, encoding="utf-8")
    optimizer = {"type": "trust_region", "direction": "adam", "radius": row_["design"],
                 "control_radius": row_["control"],
                 "stages": row_["stages"] * [{"iterations": row_["iterations"]}]}
    if "epsilon" in row_:
        optimizer["epsilon"] = row_["epsilon"]
    head = {"scene": "scene.xml", "integrator": row_.get("integrator", "variational"),
            "timestep": row_["dt"], "horizon": row_["steps"],
            "contact": {"model": "separating_plane", "vertices": "all", "skin": 0,
                        "preset": "smooth"},
            "inertia_from_geom": True}
    whole = {**head, **task, "optimizer": optimizer}
    (folder / "controls.json").write_text(text_of(whole), encoding="utf-8")
    whole["variables"] = task["variables"] + design
    whole["connect"] = connect
    (folder / "task.json").write_text(text_of(whole), encoding="utf-8")
    for file, grid in GRIDS.get(name, {}).items():
        free, maps, variables = cages(*caged[:2], grid, *caged[2:])
        whole = {**head, **task, "free": {**task["free"], **free}, "maps": task["maps"] + maps,
                 "variables": task["variables"] + variables, "optimizer": optimizer}
        (folder / file).write_text(text_of(whole), encoding="utf-8")


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for name in TASKS:
        write(folder, name, globals()[name]())
    return 0


if __name__ == "__main__":
    sys.exit(main())
