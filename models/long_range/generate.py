"""Writes scene.xml, task.json, plain.json and long_range.json of the long-range tasks beside this
file. What is chosen is in the tables at the top; README.md says why."""
import json
import math
import pathlib
import random
import textwrap

HERE = pathlib.Path(__file__).resolve().parent

# Of each task: dt (s), steps H, window of the receding horizon, rate and iterations of Adam, as
# published; steps of a window that are executed (apply: 1), plans it begins with the best of (candidates:
# 1) and their spread (rad), preset of contact, factor on its support,
# whether Adam normalizes (it does); tail coefficient (J), in derivatives alone (backward) or in the run too;
# tolerance (m).
TASKS = {
    "billiards": dict(dt=0.04, steps=100, window=None, rate=3e-2, iterations=400, guide=1e-5,
                      support_scale=20, normalize=False, tolerance=0.06),
    "push": dict(dt=0.04, steps=200, window=48, rate=1e-2, iterations=50, guide=1e-3,
                 backward=True, tolerance=0.05),
    "sort": dict(dt=0.04, steps=700, window=16, apply=4, preset="smooth", rate=1e-2,
                 iterations=100, guide=1e-2, backward=True, tolerance=0.5),
    "gather": dict(dt=0.04, steps=300, window=32, apply=4, preset="smooth", rate=1e-2,
                   iterations=60, guide=1e-4, backward=True, tolerance=0.5),
    "gather_bunny": dict(dt=0.04, steps=550, window=32, apply=4, preset="smooth",
                         rate=1e-2, iterations=60, guide=1e-4, backward=True, tolerance=0.5),
    "ant_push": dict(dt=0.02, steps=240, window=None, rate=3e-2, iterations=100, guide=2e-3,
                     tolerance=0.2),
    "puck": dict(dt=0.04, steps=200, window=48, apply=4, rate=1e-2, iterations=50, guide=1e-3,
                 backward=True, tolerance=0.05),
    "button": dict(dt=0.04, steps=120, window=48, apply=12, candidates=128, spread=1.0, rate=2e-2,
                   iterations=30, guide=1e-4, backward=True, tolerance=0.015),
    "franka_push": dict(dt=0.04, steps=120, window=32, rate=1e-2, iterations=60, guide=3e-5,
                        backward=True, tolerance=0.05),
}

# Of the tasks under contact between triangles (long_range.json): settings of contact and how high
# above its place (m) what lies on the floor rests at its coefficient.
TRIANGLES = {
    "push": dict(contact=dict(stiffness=1e-6, friction_eps=1e-4), lift=0.0027),
    "billiards": dict(contact=dict(stiffness=1e-7, friction_eps=1e-4), lift=0.0006),
    "ant_push": dict(stiffness=1e-5, friction_eps=1e-4),
    # shortened: fewer bodies, of these places; fewer steps, iterations a window; the rod begins nearer
    "sort": dict(contact=dict(stiffness=1e-6, friction_eps=1e-4), lift=0.0025, places=(0, 1),
                 rod=(0, -0.6, 0.14), steps=150, iterations=20),
    "gather": dict(contact=dict(stiffness=1e-6, friction_eps=1e-4), lift=0.0025, places=(4, 5, 7),
                   rod=(0, -0.4, 0.06), steps=150, iterations=10, apply=8),
    "gather_bunny": dict(contact=dict(stiffness=1e-6, friction_eps=1e-4), lift=0.0025,
                         places=(4, 5), rod=(0, -0.4, 0.06), steps=150, iterations=10, apply=8),
    "franka_push": dict(contact=dict(stiffness=1e-6, friction_eps=1e-4), lift=0.0025, steps=120,
                        iterations=10, apply=4),
}

RED, GREEN, BLUE = "0.8 0.2 0.2 1", "0.2 0.6 0.3 1", "0.3 0.45 0.7 1"
WHITE, WOOD, STEEL = "0.9 0.9 0.85 1", "0.8 0.5 0.2 1", "0.35 0.5 0.7 1"

BALL = dict(r=0.06, mass=0.2)
BOX = dict(half=0.1, mass=0.5)
CUBE = dict(half=0.05, mass=0.15)
ANT_BOX = dict(half=0.2, mass=1.0)

# The arm: modified DH parameters a, d (m), alpha (quarter turns) of a Franka Emika Panda as its
# manual gives them, limits (rad) and masses (kg) as identified by Gaz et al. 2019; servos' kp, kv.
ARM = [
    # a, d, alpha, low, high, mass, kp, kv, start
    (0, 0.333, 0, -2.8973, 2.8973, 4.97, 600, 60, -0.483),
    (0, 0, -1, -1.7628, 1.7628, 0.647, 600, 60, 0.255),
    (0, 0.316, 1, -2.8973, 2.8973, 3.229, 600, 60, 0),
    (0.0825, 0, 1, -3.0718, -0.0698, 3.588, 600, 60, -2.483),
    (-0.0825, 0.384, -1, -2.8973, 2.8973, 1.226, 150, 15, 0),
    (0, 0, 1, -0.0175, 3.7525, 1.667, 150, 15, 2.739),
    (0.088, 0, 1, -2.8973, 2.8973, 0.736, 150, 15, 0.785),
]
# Capsules (from, to, radius) of the links, in their frames.
LINKS = [
    [((0, 0, -0.19), (0, 0, 0), 0.06)],
    [((0, 0, 0), (0, -0.19, 0), 0.06)],
    [((0, 0, -0.12), (0, 0, -0.04), 0.06), ((0, 0, 0), (0.0825, 0, 0), 0.055)],
    [((0, 0, 0), (-0.0825, 0.1, 0), 0.055)],
    [((0, 0, -0.26), (0, 0, 0), 0.05)],
    [((0, 0, 0), (0.088, 0, 0), 0.05)],
    [((0, 0, 0.03), (0, 0, 0.09), 0.04)],
]


def rounded(value):
    """A number without the noise of its computation."""
    return round(value, 4) + 0.0 if isinstance(value, float) else value


def shown(key, value):
    """A value of a task as lines of 100 columns, after its key."""
    pad = " " * (7 + len(key))
    if isinstance(value, list) and isinstance(value[0], dict):
        ends, parts = "[]", [json.dumps(one) for one in value]
    elif key == "free":
        ends, parts = "{}", [json.dumps({k: v})[1:-1] for k, v in value.items()]
    else:
        ends, parts = ["", ""], [json.dumps(value)]
    parts = ["\n".join(textwrap.wrap(part, 97, initial_indent=pad, subsequent_indent=pad + " "))
             .lstrip() for part in parts]
    return ends[0] + (",\n" + pad).join(parts) + ends[1]


def write_task(name, task, guided=None, file="task"):
    """FILE.json, and for task.json plain.json, without a guide. `guided`: the pairs of bodies that
    it acts between, if not all."""
    row = TASKS[name]
    optimizer = {"type": "adam", "rate": row["rate"], "beta1": 0.3, "beta2": 0.5,
                 "epsilon": 1e-30, "iterations": row["iterations"]}
    if row.get("normalize", True):
        optimizer["normalize"] = 1
    if row["window"]:
        optimizer["receding"] = {"horizon": row["window"], "apply": row.get("apply", 1)}
    if "candidates" in row:
        optimizer["receding"].update(candidates=row["candidates"], spread=row["spread"], seed=1)
    contact = {"model": "separating_plane", "guide": row["guide"]}
    for key in ("preset", "support_scale"):
        if key in row:
            contact[key] = row[key]
    if "backward" in row:
        contact["guide_backward_only"] = True
    if guided:
        contact["guide_bodies"] = guided
    whole = {"scene": "scene.xml", "integrator": "position", "timestep": row["dt"],
             "horizon": row["steps"], "contact": contact, **task, "optimizer": optimizer}
    for stem in (file, "plain") if file == "task" else (file,):
        blocks = ['  "%s": %s' % (key, shown(key, value)) for key, value in whole.items()]
        (HERE / name / (stem + ".json")).write_text("{\n" + ",\n".join(blocks) + "\n}\n")
        contact["guide"] = 0
        contact.pop("guide_bodies", None)
        contact.pop("guide_backward_only", None)


def write_triangles(name, **more):
    """long_range.json: the task under contact between triangles, with other keys."""
    task = json.loads((HERE / name / "task.json").read_text())
    if "contact" in TRIANGLES[name]:
        task["contact"] = {"model": "long_range", **TRIANGLES[name]["contact"]}
    whole = {}
    for key, value in {**task, **more}.items():
        whole[key] = value
        if key == "contact" and "initial" in more:
            whole["initial"] = more["initial"]
    if "steps" in TRIANGLES[name]:
        whole["horizon"] = TRIANGLES[name]["steps"]
        whole["optimizer"]["iterations"] = TRIANGLES[name]["iterations"]
        if "apply" in TRIANGLES[name]:
            whole["optimizer"]["receding"]["apply"] = TRIANGLES[name]["apply"]
    blocks = ['  "%s": %s' % (key, shown(key, value)) for key, value in whole.items()]
    (HERE / name / "long_range.json").write_text("{\n" + ",\n".join(blocks) + "\n}\n")


def com(name, body, place, z, **more):
    """The loss of a body whose centre of mass is to be at a place, within the task's tolerance."""
    return {"type": "com", "body": body, "target": [*place, rounded(z)],
            "tolerance": TASKS[name]["tolerance"], **more}


def text(values):
    """Numbers as attributes show them."""
    return " ".join("%g" % (round(v, 6) + 0.0) for v in values)


class Xml:
    """Lines of a scene."""

    def __init__(self):
        self.lines, self.depth = [], 0

    def _put(self, start, attributes, end):
        indent = "  " * self.depth
        line = indent + "<" + start
        for key, value in attributes.items():
            if isinstance(value, (tuple, list)):
                value = text(value)
            elif isinstance(value, (int, float)):
                value = text([value])
            word = ' %s="%s"' % (key.rstrip("_"), value)
            if len(line) + len(word) + len(end) > 100:
                self.lines.append(line)
                line = indent + " " * (1 + len(start))
            line += word
        self.lines.append(line + end)

    def one(self, tag, /, **attributes):
        self._put(tag, attributes, "/>")

    def open(self, tag, /, **attributes):
        self._put(tag, attributes, ">")
        self.depth += 1

    def close(self, *tags):
        for tag in tags:
            self.depth -= 1
            self.lines.append("  " * self.depth + "</%s>" % tag)

    def free(self, name, pos, color, quat=None, geoms=None, **geom):
        """A free body of one geom, or of several."""
        turn = {} if quat is None else {"quat": quat}
        self.open("body", name=name, pos=pos, **turn)
        self.one("freejoint", name=name)
        for more in geoms or [geom]:
            self.one("geom", **{"name": name, **more, "rgba": color})
        self.close("body")


def begin(name, what, eye, dt, size, **option):
    """The head of a scene, up to the floor and the marks."""
    x = Xml()
    x.lines += textwrap.wrap("<!-- " + what + " -->", 100, subsequent_indent="     ")
    x.open("mujoco", model=name)
    if name in ("button", "franka_push"):
        x.one("compiler", angle="radian")
    x.one("option", timestep=dt, integrator="implicitfast", cone="elliptic", impratio=10, **option)
    x.eye, x.floor = eye, size
    return x


def world(x, **floor):
    x.open("worldbody")
    height, back = x.eye
    x.one("light", pos=(0, -1, 3))
    length = math.hypot(height, back)
    x.one("camera", name="above", pos=(0, -back, height),
          xyaxes=(1, 0, 0, 0, height / length, back / length))
    x.one("geom", name="floor", type="plane", size=(x.floor, x.floor, 0.1), **floor)


def mark(x, name, pos, radius, color):
    x.one("site", name=name, type="cylinder", pos=(pos[0], pos[1], 0.001), size=(radius, 0.001),
          rgba=color[:-1] + "0.6")


def end(x, name, file="scene.xml"):
    x.close("mujoco")
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    (folder / file).write_text("\n".join(x.lines) + "\n")


def scatter(seed, n, spread, apart, taken=()):
    """n places (m, whole centimetres) in the box `spread`, no two closer than `apart`."""
    draw = random.Random(seed)
    places = []
    while len(places) < n:
        p = (round(draw.uniform(*spread[0]), 2), round(draw.uniform(*spread[1]), 2))
        if all(math.dist(p, q) >= apart for q in places + list(taken)):
            places.append(p)
    return places


def slides(x, body="rod", axes="xyz"):
    for axis in axes:
        x.one("joint", name="%s_%s" % (body, axis), type="slide",
              axis=tuple(int(axis == other) for other in "xyz"))


def servos(x, reach, kv, unit=1, body="rod"):
    """Servos of a body's slides. `unit`: metres that a control of 1 stands for."""
    turn = {} if unit == 1 else {"gear": 1 / unit}
    for axis, limit in zip("xyz", reach):
        name = "%s_%s" % (body, axis)
        x.one("position", name=name, joint=name, kp=100 * unit**2,
              kv=kv * unit**2, ctrlrange=tuple(bound / unit for bound in limit), **turn)


# Billiards

BALLS = dict(red=(-0.8, 0.0), green=[(0.0, 0.15), (0.2, -0.15)], mark=[(0.4, 0.35), (0.35, -0.5)],
             cut=dict(red=(-0.8, 0.55), mark=[(0.52, 0.15), (0.6, -0.3)]))


def balls(red=BALLS["red"]):
    """Names, places and colours of the balls, the red one first."""
    greens = BALLS["green"]
    rest = scatter(3, 13, ((0.5, 1.6), (-0.9, 0.9)), 0.28, greens)
    colors = [WHITE, BLUE, WOOD]
    return ([("red", red, RED)] +
            [("green%d" % i, p, GREEN) for i, p in enumerate(greens)] +
            [("ball%d" % i, p, colors[i % 3]) for i, p in enumerate(rest)])


def split_octahedron(r):
    """The corners of an octahedron and the middles of its edges, on a sphere: 32 triangles."""
    axes = [tuple(s * (k == axis) for k in range(3)) for axis in range(3) for s in (1, -1)]
    middles = [tuple((a[k] + b[k]) / math.sqrt(2) for k in range(3))
               for i, a in enumerate(axes) for b in axes[i + 1:] if a != tuple(-c for c in b)]
    return [tuple(r * c for c in v) for v in axes + middles]


def table(what, file, red, marks, friction, height, **ball):
    x = begin("billiards", what, (2.2, 2), TASKS["billiards"]["dt"], 3, viscosity=0.12)
    if "mesh" in ball:
        x.open("asset")
        rows = [text(v) for v in split_octahedron(BALL["r"])]
        lines = ["  ".join(rows[i:i + 3]) for i in range(0, len(rows), 3)]
        x.one("mesh", name="ball", inertia="convex", vertex=("\n" + 18 * " ").join(lines))
        x.close("asset")
    x.open("default")
    x.one("geom", friction=friction)
    x.close("default")
    world(x)
    for i, p in enumerate(marks):
        mark(x, "mark%d" % i, p, BALL["r"], GREEN)
    for name, p, color in balls(red):
        x.free(name, (*p, height), color, **ball, mass=BALL["mass"])
    x.close("worldbody")
    end(x, "billiards", file)


def billiards(dt):
    what = ("Sixteen balls on a table. The red one is to be shot so that both green ones come to "
            "rest on their marks and the others stay; the viscosity of the medium stands for what "
            "stops rolling balls.")
    r = BALL["r"]
    table(what, "scene.xml", BALLS["red"], BALLS["mark"], 0.2, r, type="sphere", size=r)

    def loss(marks):
        return ([com("billiards", "green%d" % i, p, r) for i, p in enumerate(marks)] +
                [com("billiards", ball, p, r, weight=0.1) for ball, p, _ in balls()
                 if ball.startswith("ball")])
    write_task("billiards", {
        "loss": loss(BALLS["mark"]),
        "variables": [{"name": "qpos0[joint/red]", "index": [0, 1], "min": [-1.2, -0.8],
                       "max": [-0.3, 0.8]},
                      {"name": "qvel0[joint/red]", "index": [0, 1], "min": -4, "max": 4}]})
    cut = BALLS["cut"]
    # on the face in the middle of an octant
    face = (1 - 3**-0.5) / math.sqrt(2 - 2 * 3**-0.5)
    side = 3**-0.5 / math.sqrt(2 - 2 * 3**-0.5)
    table("Sixteen balls of 32 triangles each, which lie on a face and glide rather than roll. The "
          "red one is to be shot so that both green ones come to rest on their marks and the "
          "others stay.", "long_range.xml", cut["red"], cut["mark"], 0.05,
          rounded(r * math.sqrt(2 / 3) + TRIANGLES["billiards"]["lift"]), type="mesh", mesh="ball",
          quat=(face, -side, side, 0))
    write_triangles("billiards", scene="long_range.xml", loss=loss(cut["mark"]))


# Push

PUSH = dict(box=(0, 0), rod=(0.4, -0.12, 0.1), mark=(0.7, 0.15),
            reach=((-1.2, 0.15), (-0.5, 0.6), (-0.05, 0.5)))


def push(dt):
    x = begin("push",
              "A rod that servos turn and move, and a box. The box is to be pushed to the "
              "mark, on whose side the rod is at first. Controls are the rod's displacement "
              "and turn.",
              (1.6, 1.2), dt, 2)
    x.open("default")
    x.one("geom", friction=0.5)
    x.close("default")
    world(x)
    mark(x, "mark", PUSH["mark"], 0.1, RED)
    x.open("body", name="rod", pos=PUSH["rod"], gravcomp=1)
    slides(x)
    x.one("joint", name="rod_turn", type="ball", armature=0.002)
    x.one("geom", name="rod", type="capsule", fromto=(0, -0.2, 0, 0, 0.2, 0), size=0.04, mass=1,
          rgba=STEEL)
    x.close("body")
    half = BOX["half"]
    x.free("box", (*PUSH["box"], half), WOOD, type="box", size=(half,) * 3, mass=BOX["mass"])
    x.close("worldbody")
    x.open("actuator")
    servos(x, PUSH["reach"], 15)
    for axis in range(3):
        x.one("position", name="rod_turn_" + "xyz"[axis], joint="rod_turn", kp=5, kv=0.5,
              gear=tuple(float(k == axis) for k in range(3)) + (0, 0, 0), ctrlrange=(-1.5, 1.5))
    x.close("actuator")
    end(x, "push")
    write_task("push", {
        "loss": [com("push", "box", PUSH["mark"], half)],
        "variables": [{"name": "ctrl"}]
    }, [["rod", "box"]])
    rod = [0, 0, 0, 1, 0, 0, 0]
    write_triangles("push", initial={"qpos": [*rod, *PUSH["box"],
                                              rounded(half + TRIANGLES["push"]["lift"]),
                                              1, 0, 0, 0]})


# Puck

PUCK = dict(at=(0.2, 0.2, 0.1), marks=((0.7, 0), (0, -0.2), (-0.4, -0.4)),
            cylinder=dict(size=(0.06, 0.08), mass=1.0), disc=dict(size=(0.07, 0.04), mass=0.5),
            reach=((-1.5, 1.5), (-1.5, 1.5)))


def puck(dt):
    x = begin("puck",
              "A disc on the floor and an upright cylinder that servos move. The disc is to be "
              "pushed to one of three marks. The cylinder is off the line from the mark to the "
              "disc by 135 degrees, 45 and 0. Controls are its displacement.",
              (1.6, 1.2), dt, 2)
    x.open("default")
    x.one("geom", friction=0.5)
    x.close("default")
    world(x)
    for i, place in enumerate(PUCK["marks"]):
        mark(x, "mark%d" % i, place, TASKS["puck"]["tolerance"], (RED, GREEN, BLUE)[i])
    x.open("body", name="cylinder", pos=PUCK["at"], gravcomp=1)
    slides(x, "cylinder", "xy")
    x.one("geom", name="cylinder", type="cylinder", **PUCK["cylinder"], rgba=STEEL)
    x.close("body")
    x.free("disc", (0, 0, PUCK["disc"]["size"][1]), WOOD, type="cylinder", **PUCK["disc"])
    x.close("worldbody")
    x.open("actuator")
    servos(x, PUCK["reach"], 15, body="cylinder")
    x.close("actuator")
    end(x, "puck")
    for i, place in enumerate(PUCK["marks"]):
        write_task("puck", {
            "loss": [com("puck", "disc", place, PUCK["disc"]["size"][1])],
            "variables": [{"name": "ctrl"}]
        }, [["cylinder", "disc"]], "task%d" % i if i else "task")


# Sort and gather

def cubes(x, places, color):
    half = CUBE["half"]
    for i, p in enumerate(places):
        x.free("cube%d" % i, (*p, half), color(i), type="box", size=(half,) * 3,
               mass=CUBE["mass"])


def pairs(seed, n):
    """n places in rows of two, 0.15 m apart, one right and one left of the middle."""
    draw = random.Random(seed)
    return [(round((-1 if i % 2 else 1) * draw.uniform(0.08, 0.12), 2),
             round(0.15 * (i // 2 - (n // 2 - 1) / 2), 2)) for i in range(n)]


SORT = dict(places=pairs(2, 10), marks=((0.57, 0), (-0.57, 0)), rod=(0, -0.8, 0.14),
            reach=((-0.05, 0.05), (-0.05, 1.5), (-0.01, 0.05)))


def sort_scene(dt, many, places, rod, file):
    x = begin("sort",
              many + " cubes of two kinds, mixed, and an upright rod that servos move: each kind "
              "is to be pushed into its region. Controls are half the rod's displacement; a "
              "spring holds it upright.",
              (1.9, 1.4), dt, 2)
    x.open("default")
    x.one("geom", friction=0.5)
    x.close("default")
    world(x)
    for i, color in enumerate((RED, BLUE)):
        mark(x, "mark%d" % i, SORT["marks"][i], TASKS["sort"]["tolerance"], color)
    x.open("body", name="rod", pos=rod, gravcomp=1)
    slides(x)
    x.one("joint", name="rod_turn", type="ball", stiffness=40, damping=2)
    x.one("geom", name="rod", type="capsule", fromto=(0, 0, 0, 0, 0, 0.15), size=0.13, mass=1,
          rgba=STEEL)
    x.close("body")
    cubes(x, places, lambda i: BLUE if i % 2 else RED)
    x.close("worldbody")
    x.open("actuator")
    servos(x, SORT["reach"], 60, 2)
    x.close("actuator")
    end(x, "sort", file)


def sort(dt):
    sort_scene(dt, "Ten", SORT["places"], SORT["rod"], "scene.xml")
    loss = [com("sort", "cube%d" % i, SORT["marks"][i % 2], CUBE["half"]) for i in range(10)]
    write_task("sort", {"loss": loss, "variables": [{"name": "ctrl"}]}, [["rod", "cube*"]])
    row, free = TRIANGLES["sort"], [0, 0, 0, 1, 0, 0, 0]
    places = [SORT["places"][i] for i in row["places"]]
    sort_scene(dt, "Two", places, row["rod"], "long_range.xml")
    write_triangles("sort", scene="long_range.xml", loss=loss[:2],
                    initial={"qpos": lifted(free[:3] + [1, 0, 0, 0], places, row, CUBE["half"])})


def lifted(start, places, row, height, turns=None):
    """qpos of what begins with `start`, then bodies at places, `lift` above where they lie."""
    for i, p in enumerate(places):
        yaw = turns[i] if turns else 0
        start = start + [*p, rounded(height + row["lift"]), rounded(math.cos(yaw / 2)), 0, 0,
                         rounded(math.sin(yaw / 2))]
    return start


GATHER = dict(places=scatter(7, 10, ((-0.35, 0.35), (-0.65, 0.25)), 0.24), mark=(0, 0.9),
              rod=(0, -1.0, 0.06), reach=((-0.25, 0.25), (-0.1, 2), (-0.01, 0.05)))


def gather_rod(x, pos, **geom):
    x.open("body", name="rod", pos=pos, gravcomp=1)
    slides(x)
    x.one("joint", name="rod_yaw", axis=(0, 0, 1))
    x.one("joint", name="rod_pitch", axis=(0, 1, 0), stiffness=40, damping=4)
    x.one("joint", name="rod_roll", axis=(1, 0, 0), stiffness=40, damping=4)
    shape = geom or dict(type="capsule", fromto=(-0.6, 0, 0, 0.6, 0, 0), size=0.04)
    x.one("geom", name="rod", **shape, mass=1, rgba=STEEL)
    x.close("body")


def gather_end(x, name, file):
    x.close("worldbody")
    x.open("actuator")
    servos(x, GATHER["reach"], 60)
    x.one("position", name="rod_yaw", joint="rod_yaw", kp=10, kv=6, ctrlrange=(-0.4, 0.4))
    x.close("actuator")
    end(x, name, file)


def gather_tasks(name, body, height, rest, turns=None):
    """rest: the height of bodies of long_range.xml."""
    loss = [com(name, "%s%d" % (body, i), GATHER["mark"], height) for i in range(10)]
    write_task(name, {"loss": loss, "variables": [{"name": "ctrl"}]}, [["rod", body + "*"]])
    row = TRIANGLES[name]
    places = [GATHER["places"][i] for i in row["places"]]
    loss = [com(name, "%s%d" % (body, i), GATHER["mark"], rest[1]) for i in range(len(places))]
    write_triangles(name, scene="long_range.xml", loss=loss,
                    initial={"qpos": lifted(6 * [0], places, row, rest[0], turns)})


def gather_scene(dt, many, places, rod, file):
    x = begin("gather",
              many + " cubes and a rod that servos move and turn about the vertical: all cubes "
              "are to be brought into one region. Controls are the rod's displacement and "
              "yaw; springs hold it level.",
              (2.2, 1.6), dt, 2)
    x.open("default")
    x.one("geom", friction=0.5)
    x.close("default")
    world(x)
    mark(x, "mark", GATHER["mark"], TASKS["gather"]["tolerance"], RED)
    gather_rod(x, rod)
    cubes(x, places, lambda i: WOOD)
    gather_end(x, "gather", file)


def gather(dt):
    gather_scene(dt, "Ten", GATHER["places"], GATHER["rod"], "scene.xml")
    row = TRIANGLES["gather"]
    gather_scene(dt, "Three", [GATHER["places"][i] for i in row["places"]], row["rod"],
                 "long_range.xml")
    gather_tasks("gather", "cube", CUBE["half"], (CUBE["half"], CUBE["half"]))


# The blob: hulls of rings (radius, height) of `sides` points, the x axis stretched; moved and
# tilted about x.

BLOB = {
    "torso": dict(sides=5, rings=((0.045, 0), (0.06, 0.04), (0.035, 0.09)), stretch=1.3),
    "head": dict(sides=5, rings=((0.018, 0), (0.034, 0.03), (0.02, 0.06)), at=(0.06, 0, 0.07)),
    "ear_left": dict(sides=4, rings=((0.01, 0), (0.016, 0.05), (0.006, 0.09)), tilt=-0.35,
                     at=(0.055, 0.014, 0.115)),
    "ear_right": dict(sides=4, rings=((0.01, 0), (0.016, 0.05), (0.006, 0.09)), tilt=0.35,
                      at=(0.055, -0.014, 0.115)),
}
DENSITY = 300


def placed(part, point):
    c, s = math.cos(part.get("tilt", 0)), math.sin(part.get("tilt", 0))
    at = part.get("at", (0, 0, 0))
    return (point[0] + at[0], c * point[1] - s * point[2] + at[1],
            s * point[1] + c * point[2] + at[2])


def vertices(part):
    out = []
    for r, z in part["rings"]:
        for k in range(part["sides"]):
            a = 2 * math.pi * k / part["sides"]
            out.append(placed(part, (part.get("stretch", 1) * r * math.cos(a), r * math.sin(a), z)))
    return out


def center(part):
    """Volume and centre of a stack of frusta."""
    n, volume, moment = part["sides"], 0, 0
    unit = 0.5 * n * math.sin(2 * math.pi / n) * part.get("stretch", 1)
    for (r, low), (q, high) in zip(part["rings"], part["rings"][1:]):
        h = high - low
        v = unit * h * (r * r + r * q + q * q) / 3
        c = h * (r * r + 2 * r * q + 3 * q * q) / (4 * (r * r + r * q + q * q))
        volume, moment = volume + v, moment + v * (low + c)
    return volume, placed(part, (0, 0, moment / volume))


def blob_center():
    """Centre of mass of a blob in its body's frame."""
    parts = [center(part) for part in BLOB.values()]
    total = sum(v for v, _ in parts)
    return tuple(sum(v * c[k] for v, c in parts) / total for k in range(3))


def blob_assets(x):
    x.open("asset")
    for name, part in BLOB.items():
        x.lines.append('    <mesh name="%s" inertia="convex"' % name)
        points = [text([round(v, 3) for v in p]) for p in vertices(part)]
        rows = ["  ".join(points[i:i + 4]) for i in range(0, len(points), 4)]
        x.lines.append('          vertex="' + ("\n" + 18 * " ").join(rows) + '"/>')
    x.close("asset")


def blob(x, name, pos, yaw, color, **more):
    geoms = [dict(name="%s_%s" % (name, part), type="mesh", mesh=part, **more) for part in BLOB]
    x.free(name, (*pos, 0), color, quat=(round(math.cos(yaw / 2), 4), 0, 0,
                                         round(math.sin(yaw / 2), 4)), geoms=geoms)


# The blob as one closed mesh: along each ray from the middle of a ball, cut by the floor, the ball
# and bumps (direction, height, sharpness) for a head and two ears; sides and stacks: 272 triangles.
WHOLE = dict(middle=0.05, radius=0.065, sides=17, stacks=9,
             bumps=(((0.8, 0, 0.6), 0.05, 8), ((0.5, 0.35, 0.8), 0.06, 30),
                    ((0.5, -0.35, 0.8), 0.06, 30)))


def whole_radius(u):
    r = WHOLE["radius"]
    for toward, height, sharp in WHOLE["bumps"]:
        along = sum(a * b for a, b in zip(u, toward)) / math.hypot(*toward)
        r += height * math.exp(sharp * (along - 1))
    return min(r, -WHOLE["middle"] / u[2]) if u[2] < 0 else r


def whole_mesh():
    """Vertices and triangles, outward."""
    n, m = WHOLE["sides"], WHOLE["stacks"]
    rays = [(0, 0, -1)]
    for j in range(1, m):
        for i in range(n):
            a, b = 2 * math.pi * i / n, math.pi * (j / m - 0.5)
            rays.append((math.cos(a) * math.cos(b), math.sin(a) * math.cos(b), math.sin(b)))
    rays.append((0, 0, 1))
    points = [tuple(round(whole_radius(u) * c + (k == 2) * WHOLE["middle"], 4)
                    for k, c in enumerate(u)) for u in rays]
    faces = []
    for i in range(n):
        k = (i + 1) % n
        faces.append((0, 1 + k, 1 + i))
        for j in range(m - 2):
            a, b = 1 + j * n, 1 + (j + 1) * n
            faces += [(a + i, a + k, b + k), (a + i, b + k, b + i)]
        faces.append((1 + (m - 2) * n + i, 1 + (m - 2) * n + k, len(rays) - 1))
    return points, faces


def whole_center():
    """Height of its centre of mass."""
    points, faces = whole_mesh()
    volume = moment = 0
    for a, b, c in (tuple(points[i] for i in face) for face in faces):
        v = (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
             a[2] * (b[0] * c[1] - b[1] * c[0])) / 6
        volume, moment = volume + v, moment + v * (a[2] + b[2] + c[2]) / 4
    return moment / volume


def mesh_asset(x, name, points, faces):
    x.lines.append('    <mesh name="%s" inertia="exact"' % name)
    for key, rows in (("vertex", points), ("face", faces)):
        lines = textwrap.wrap("  ".join(text(row) for row in rows), 80)
        x.lines.append("          %s=\"" % key + ("\n" + 18 * " ").join(lines) +
                       ("\"" if key == "vertex" else "\"/>"))


def whole_asset(x):
    x.open("asset")
    mesh_asset(x, "blob", *whole_mesh())
    x.close("asset")


# The rod of gather as a mesh: rings as a capsule of 64 triangles has them, and others between, so
# that no triangle is much longer than it is wide: 240.
ROD = dict(half=0.6, radius=0.04, around=8, parts=12)


def rod_mesh():
    """Vertices and triangles, outward; rings of odd number are turned by half a side."""
    half, radius, m, parts = ROD["half"], ROD["radius"], ROD["around"], ROD["parts"]
    side = radius * math.sqrt(0.5)
    rings = ([(-half - side, side), (-half, radius)] +
             [(half * (2 * k / parts - 1), radius) for k in range(1, parts)] +
             [(half, radius), (half + side, side)])
    points = [(-half - radius, 0.0, 0.0)]
    for k, (at, r) in enumerate(rings):
        turns = [2 * math.pi * (i + 0.5 * (k % 2)) / m for i in range(m)]
        points += [(at, r * math.cos(a), r * math.sin(a)) for a in turns]
    points.append((half + radius, 0.0, 0.0))
    faces, last = [], len(points) - 1
    for i in range(m):
        j = (i + 1) % m
        faces += [(0, 1 + j, 1 + i), (last, last - m + i, last - m + j)]
        for k in range(len(rings) - 1):
            low, high = 1 + k * m, 1 + (k + 1) * m
            if k % 2 == 0:
                faces += [(low + i, low + j, high + i), (low + j, high + j, high + i)]
            else:
                faces += [(low + i, high + j, high + i), (low + i, low + j, high + j)]
    return [tuple(round(c, 4) for c in p) for p in points], faces


YAWS = (0.3, 2.1, -1.2, 0.9, 2.8, -2.4, -0.5, 1.5, -1.9, 0)


def bunny_scene(dt, says, assets, put, rod, file, **shape):
    """assets(x), put(x): what is to be gathered; shape: of the rod, if it is no capsule."""
    x = begin("gather_bunny", says, (2.2, 1.6), dt, 2)
    assets(x)
    x.open("default")
    x.one("geom", friction=0.5, density=DENSITY)
    x.close("default")
    world(x)
    mark(x, "mark", GATHER["mark"], TASKS["gather_bunny"]["tolerance"], RED)
    gather_rod(x, rod, **shape)
    put(x)
    gather_end(x, "gather_bunny", file)


def gather_bunny(dt):
    row = TRIANGLES["gather_bunny"]

    def hulls(x):
        for i, (p, yaw) in enumerate(zip(GATHER["places"], YAWS)):
            blob(x, "blob%d" % i, p, yaw, WOOD)

    def whole_assets(x):
        x.open("asset")
        mesh_asset(x, "blob", *whole_mesh())
        mesh_asset(x, "rod", *rod_mesh())
        x.close("asset")

    def wholes(x):
        for i, k in enumerate(row["places"]):
            x.free("blob%d" % i, (*GATHER["places"][k], 0), WOOD, type="mesh", mesh="blob")

    bunny_scene(dt, "Ten concave bodies, each a union of four hulls, and a rod that servos move and "
                "turn about the vertical: all are to be brought into one region. Controls are "
                "as in gather.", blob_assets, hulls, GATHER["rod"], "scene.xml")
    bunny_scene(dt, "Two concave bodies of 272 triangles each, and a rod that servos move and turn "
                "about the vertical: both are to be brought into one region. Controls are as in "
                "gather.", whole_assets, wholes, row["rod"], "long_range.xml", type="mesh",
                mesh="rod")
    gather_tasks("gather_bunny", "blob", blob_center()[2], (0, whole_center()),
                 [YAWS[k] for k in row["places"]])


# The ant: sizes of Gymnasium's, legs of three hinges, built as it stands.

ANT = dict(knee=1.0, box=(1.45, 0.25), mark=(2.1, 0.4), density=50, Hz=(0.5, 1, 1.5, 2))
LEGS = (("front_left", 1, 1), ("front_right", 1, -1), ("back_left", -1, 1), ("back_right", -1, -1))


def ant_push(dt):
    x = begin("ant_push",
              "An ant whose base moves along x, y, z and turns about the vertical, with legs "
              "of two hinges at the hip and one at the knee, and a box that it is to push to "
              "the mark. Controls are the hinges' targets.",
              (2.6, 2.6), dt, 4)
    x.open("default")
    x.one("geom", friction=1, density=ANT["density"])
    x.open("default", class_="ant")
    x.one("geom", type="capsule", size=0.08, contype=1, conaffinity=2, rgba=STEEL)
    x.one("joint", damping=0.5, armature=0.01)
    x.one("position", kp=200, kv=10, ctrlrange=(-0.8, 0.8))
    x.close("default", "default")
    world(x, contype=3, conaffinity=3)
    mark(x, "mark", ANT["mark"], 0.2, RED)
    knee = ANT["knee"]
    reach, drop = 0.4 * math.sqrt(2) * math.cos(knee), 0.4 * math.sqrt(2) * math.sin(knee)
    x.open("body", name="ant", pos=(0, 0, round(drop + 0.08, 4)), childclass="ant")
    for axis, name in zip(((1, 0, 0), (0, 1, 0), (0, 0, 1)), "xyz"):
        x.one("joint", name="ant_" + name, type="slide", axis=axis, damping=0, armature=0)
    x.one("joint", name="ant_yaw", axis=(0, 0, 1), damping=0, armature=0)
    x.one("geom", name="ant", type="sphere", size=0.25)
    for leg, sx, sy in LEGS:
        x.one("geom", name=leg + "_hip", fromto=(0, 0, 0, 0.2 * sx, 0.2 * sy, 0))
    for leg, sx, sy in LEGS:
        out, level = (0.2 * sx, 0.2 * sy, 0), (-sy, sx, 0)
        foot = (round(reach / math.sqrt(2), 4) * sx, round(reach / math.sqrt(2), 4) * sy,
                -round(drop, 4))
        x.open("body", name=leg + "_upper", pos=out)
        x.one("joint", name=leg + "_swing", axis=(0, 0, 1))
        x.one("joint", name=leg + "_lift", axis=level)
        x.one("geom", name=leg + "_upper", fromto=(0, 0, 0, *out))
        x.open("body", name=leg + "_lower", pos=out)
        x.one("joint", name=leg + "_knee", axis=level)
        x.one("geom", name=leg + "_lower", fromto=(0, 0, 0, *foot))
        x.close("body", "body")
    x.close("body")
    half = ANT_BOX["half"]
    x.free("box", (*ANT["box"], half), WOOD, type="box", size=(half,) * 3, mass=ANT_BOX["mass"],
           contype=2, conaffinity=3)
    x.close("worldbody")
    x.open("actuator")
    for leg, _, _ in LEGS:
        for joint in ("swing", "lift", "knee"):
            x.one("position", name="%s_%s" % (leg, joint), class_="ant",
                  joint="%s_%s" % (leg, joint))
    x.close("actuator")
    end(x, "ant_push")
    hinges = ["%s_%s" % (leg, joint) for leg, _, _ in LEGS for joint in ("swing", "lift", "knee")]
    write_task("ant_push", {
        "free": {hinge: {"value": [[0, f, 0] for f in ANT["Hz"]]} for hinge in hinges},
        "maps": [{"type": "sines", "from": hinge, "to": "ctrl", "actuator": hinge}
                 for hinge in hinges],
        "loss": [com("ant_push", "box", ANT["mark"], half)],
        "variables": [{"name": hinge} for hinge in hinges]
    }, [["ant", "box"], ["*_upper", "box"], ["*_lower", "box"]])
    ant_triangles()
    write_triangles("ant_push", scene="long_range.xml", contact={
        "model": "separating_plane", "friction_eps": TRIANGLES["ant_push"]["friction_eps"]})


def ant_triangles():
    """The scene with contact between triangles of both front feet and the box."""
    row = TRIANGLES["ant_push"]
    x = Xml()
    x.lines.append("<!-- The scene with contact between triangles of front legs and the box. -->")
    x.open("mujoco", model="ant_push")
    x.one("include", file="scene.xml")
    x.open("contact")
    for leg in ("front_left", "front_right"):
        x.one("pair", name=leg, geom1=leg + "_lower", geom2="box",
              friction=(1, 1, 0.005, 0.0001, 0.0001))
    x.close("contact")
    x.open("custom")
    for leg in ("front_left", "front_right"):
        x.one("text", name="dijoco_contact/" + leg, data="long_range")
    for key in ("stiffness", "friction_eps"):
        x.one("numeric", name="dijoco_contact/long_range/" + key, data=row[key])
    x.close("custom")
    end(x, "ant_push", "long_range.xml")


# The button

BUTTON = dict(at=(0.8, 0, 0.1), pressed=0.025, reach=0.06, lengths=(0.45, 0.45, 0.36),
              start=(1.745, -2.094, -1.396), plate=dict(pos=(0.55, 0, 0.1), size=(0.01, 0.26, 0.1)))


def button(dt):
    x = begin("button",
              "An arm of three joints about the vertical behind a plate, and a button on a spring "
              "beyond it, which the hand is to press away from the plate. Controls are the "
              "joints' targets.",
              (1.6, 1.2), dt, 2)
    x.open("default")
    x.one("geom", friction=0.5, density=300, contype=2, conaffinity=1)
    x.open("default", class_="arm")
    x.one("geom", contype=1, conaffinity=2, rgba=STEEL)
    x.one("joint", axis=(0, 0, 1), damping=0.5, armature=0.02, range=(-2.9, 2.9))
    x.close("default", "default")
    world(x, contype=0, conaffinity=0)
    x.one("geom", name="plate", type="box", **BUTTON["plate"], rgba=WHITE)
    at = (0, 0, BUTTON["at"][2])
    for name, joint, length in zip(("link1", "link2", "hand"), ("joint1", "joint2", "joint3"),
                                   BUTTON["lengths"]):
        x.open("body", name=name, pos=at, gravcomp=1, childclass="arm")
        x.one("joint", name=joint)
        x.one("geom", name=name, type="capsule", fromto=(0, 0, 0, length, 0, 0), size=0.03)
        at = (length, 0, 0)
    x.close(*3 * ["body"])
    x.open("body", name="button", pos=BUTTON["at"], gravcomp=1)
    x.one("joint", name="button", type="slide", axis=(1, 0, 0), stiffness=100, damping=5,
          range=(0, BUTTON["reach"]))
    x.one("geom", name="button", type="cylinder", size=(0.04, 0.02), euler=(0, math.pi / 2, 0),
          mass=0.1, rgba=RED)
    x.close("body", "worldbody")
    x.open("actuator")
    for joint, kp, kv in (("joint1", 200, 12), ("joint2", 200, 12), ("joint3", 100, 6)):
        x.one("position", name=joint, joint=joint, kp=kp, kv=kv, ctrlrange=(-2.9, 2.9))
    x.close("actuator")
    x.open("keyframe")
    x.one("key", name="start", qpos=(*BUTTON["start"], 0), ctrl=BUTTON["start"])
    x.close("keyframe")
    end(x, "button")
    place = (rounded(BUTTON["at"][0] + BUTTON["pressed"]), BUTTON["at"][1])
    write_task("button", {
        "initial": {"keyframe": "start"},
        "loss": [com("button", "button", place, BUTTON["at"][2])],
        "variables": [{"name": "ctrl"}]
    }, [["hand", "button"]])


# The arm

FRANKA = dict(blob=(0.5, 0), yaw=1.2, mark=(0.45, 0.3))


def franka_scene(dt, file):
    triangles = file != "scene.xml"
    x = begin("franka_push",
              "An arm of seven joints with the lengths, limits and masses of a Franka Emika "
              "Panda, its links capsules, and a concave body that its finger is to push to "
              "the mark. Controls are the joints' targets.",
              (1.5, 1.6), dt, 2)
    if triangles:
        whole_asset(x)
    else:
        blob_assets(x)
    x.open("default")
    x.one("geom", friction=0.5, density=DENSITY)
    x.open("default", class_="arm")
    x.one("geom", contype=0, conaffinity=0, rgba=WHITE)
    x.one("joint", axis=(0, 0, 1), damping=1, armature=0.1)
    x.close("default", "default")
    world(x, contype=2, conaffinity=3)
    mark(x, "mark", FRANKA["mark"], 0.08, RED)
    x.open("body", name="arm", childclass="arm", gravcomp=1)
    x.one("geom", name="base", type="capsule", fromto=(0, 0, 0.06, 0, 0, 0.1), size=0.07)
    for i, ((a, d, turn, low, high, mass, *_), shapes) in enumerate(zip(ARM, LINKS), 1):
        angle = 0.5 * math.pi * turn
        x.open("body", name="link%d" % i, gravcomp=1, pos=(a, -d * turn, d * (turn == 0)),
               quat=(round(math.cos(angle / 2), 6), round(math.sin(angle / 2), 6), 0, 0))
        x.one("joint", name="joint%d" % i, range=(low, high))
        for k, (p, q, r) in enumerate(shapes):
            x.one("geom", name="link%d%s" % (i, "ab"[k] if len(shapes) > 1 else ""),
                  type="capsule", fromto=p + q, size=r, mass=mass / len(shapes))
    x.open("body", name="hand", pos=(0, 0, 0.107), gravcomp=1)
    x.one("geom", name="hand", type="capsule", fromto=(0, -0.06, 0.03, 0, 0.06, 0.03), size=0.03,
          mass=0.6, contype=1, conaffinity=2)
    x.one("geom", name="finger", type="capsule", fromto=(0, 0, 0.05, 0, 0, 0.14), size=0.02,
          mass=0.1, contype=1, conaffinity=2, rgba=STEEL)
    x.close(*9 * ["body"])
    yaw = FRANKA["yaw"]
    turn = (round(math.cos(yaw / 2), 4), 0, 0, round(math.sin(yaw / 2), 4))
    if triangles:
        x.free("blob0", (*FRANKA["blob"], 0), WOOD, quat=turn, type="mesh", mesh="blob", contype=2,
               conaffinity=3)
    else:
        blob(x, "blob0", FRANKA["blob"], yaw, WOOD, contype=2, conaffinity=3)
    x.close("worldbody")
    x.open("actuator")
    for i, (_, _, _, low, high, _, kp, kv, _) in enumerate(ARM, 1):
        x.one("position", name="joint%d" % i, joint="joint%d" % i, kp=kp, kv=kv,
              ctrlrange=(low, high))
    x.close("actuator")
    start = [row[8] for row in ARM]
    lift = TRIANGLES["franka_push"]["lift"] if triangles else 0
    x.open("keyframe")
    x.one("key", name="start", qpos=start + [*FRANKA["blob"], lift, *turn], ctrl=start)
    x.close("keyframe")
    end(x, "franka_push", file)


def franka_push(dt):
    franka_scene(dt, "scene.xml")
    write_task("franka_push", {
        "initial": {"keyframe": "start"},
        "loss": [com("franka_push", "blob0", FRANKA["mark"], blob_center()[2])],
        "variables": [{"name": "ctrl"}]
    }, [["hand", "blob0"]])
    franka_scene(dt, "long_range.xml")
    write_triangles("franka_push", scene="long_range.xml",
                    loss=[com("franka_push", "blob0", FRANKA["mark"], whole_center())])


def main():
    for name, task in TASKS.items():
        globals()[name](task["dt"])


if __name__ == "__main__":
    main()
