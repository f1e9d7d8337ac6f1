"""Writes scene.xml, task.json, controls.json and the cages of the gripper tasks beside this file.
What is chosen is in the tables at the top; README.md says why."""
import json
import math
import pathlib
import textwrap

HERE = pathlib.Path(__file__).resolve().parent

# The plate of blocks of single_jaw and of each jaw of parallel_jaw: 12 x 13 blocks (m).
COLUMNS, ROWS = 12, 13

# single_jaw: block (y, z), thickness of the plate; the X: length and radius of its arms, their
# height over the floor, half of its hub; masses (kg), friction; the node of blocks (from the left,
# from the bottom) that the first controls lead onto the arm; where they lead it.
SINGLE = dict(block=0.015, thick=0.016, arm=0.08, radius=0.007, straight=0, height=0.045, hub=0.02,
              jaw=0.4, mass=0.2, friction=0.1, floor=1, node=(6, 2), kp=(1000, 10), kv=(50, 0.5),
              tilt=-0.6, steps=480, dt=0.005, knots=13, support=1e-4, room=(0.01, 0.1))

# The steps at which single_jaw has grasped, and begins to raise.
STAGES = 240, 340


def text(values):
    """Numbers as attributes show them."""
    return " ".join("%g" % (round(v, 7) + 0.0) for v in values)


def shown(key, value):
    """A value of a task as lines of 100 columns, after its key."""
    pad = " " * (7 + len(key))
    if isinstance(value, list) and value and isinstance(value[0], dict):
        ends, parts = "[]", [json.dumps(one) for one in value]
    elif key == "free":
        ends, parts = "{}", [json.dumps({k: v})[1:-1] for k, v in value.items()]
    else:
        ends, parts = ["", ""], [json.dumps(value)]
    parts = ["\n".join(textwrap.wrap(part, 97, initial_indent=pad, subsequent_indent=pad + " "))
             .lstrip() for part in parts]
    return ends[0] + (",\n" + pad).join(parts) + ends[1]


def write(name, file, task):
    blocks = ['  "%s": %s' % (key, shown(key, value)) for key, value in task.items()]
    (HERE / name / file).write_text("{\n" + ",\n".join(blocks) + "\n}\n")


class Plate:
    """A plate of blocks in the plane of y and z of its body's frame, centred in it. Each pair of
    blocks that share a face has one vertex more, in the middle of this face, by which it is tied."""

    def __init__(self, name, size, thick, rows=ROWS, columns=COLUMNS):
        self.name, self.size, self.thick = name, size, thick
        self.rows, self.columns = rows, columns
        self.blocks = {(i, j): self._block(i, j) for i in range(columns) for j in range(rows)}

    def _block(self, i, j):
        b, t = self.size, self.thick / 2
        y, z = (i - self.columns / 2) * b, (j - self.rows / 2) * b
        corners = [(x, y + p * b, z + q * b) for x in (-t, t) for p in (0, 1) for q in (0, 1)]
        faces = {}
        for side, (p, q) in {"left": (0, .5), "right": (1, .5), "low": (.5, 0),
                             "high": (.5, 1)}.items():
            di, dj = {"left": (-1, 0), "right": (1, 0), "low": (0, -1), "high": (0, 1)}[side]
            if 0 <= i + di < self.columns and 0 <= j + dj < self.rows:
                faces[side] = len(corners)
                corners.append((0, y + p * b, z + q * b))
        return corners, faces

    def label(self, i, j):
        return "%s_%d_%d" % (self.name, i, j)

    def node(self, i, j):
        """Where the i-th and j-th lines between blocks meet, in the body's frame."""
        return 0, (i - self.columns / 2) * self.size, (j - self.rows / 2) * self.size

    def meshes(self):
        lines = []
        for (i, j), (corners, _) in self.blocks.items():
            lines.append('    <mesh name="%s" inertia="exact"' % self.label(i, j))
            numbers = "  ".join(text(c) for c in corners)
            lines += textwrap.wrap('vertex="' + numbers + '"/>', 99, initial_indent=" " * 10,
                                   subsequent_indent=" " * 18)
        return lines

    def geoms(self, more):
        return ['<geom name="%s" type="mesh" mesh="%s" %s/>' % (self.label(i, j),
                                                                 self.label(i, j), more)
                for i, j in self.blocks]

    def ties(self):
        out = []
        for (i, j), (_, faces) in self.blocks.items():
            for side, other, di, dj in (("right", "left", 1, 0), ("high", "low", 0, 1)):
                if side in faces:
                    out.append({"a": {"geom": self.label(i, j), "vertex": faces[side]},
                                "b": {"geom": self.label(i + di, j + dj),
                                      "vertex": self.blocks[i + di, j + dj][1][other]}})
        return out


def rod(length, straight, radius, axis, sides=8):
    """Vertices of a rod with a point at both ends, straight up to this distance from its middle."""
    out = [(-length, 0, 0), (length, 0, 0)]
    for k in range(sides):
        a = 2 * math.pi * (k + .5) / sides
        out += [(x, radius * math.cos(a), radius * math.sin(a)) for x in sorted({-straight, straight})]
    return [v if axis == 0 else (-v[1], v[0], v[2]) for v in out]


def staged(stages):
    """Stages of an optimizer: friction of all geoms, iterations of each."""
    return [{"set": {"geom/*/friction": [mu, .005, .0001]}, "iterations": n} for mu, n in stages]


def surface_nodes(cells):
    """How many nodes the surface of a lattice of cells has."""
    inner = [max(c - 1, 0) for c in cells]
    return math.prod(c + 1 for c in cells) - math.prod(inner)


def write_cages(name, task, controls, bodies, optimizer, bound):
    """cage_coarse.json and cage_fine.json: the same with lattices of 4 x 4 x 4 and 16 x 16 x 16
    cells about each body in `bodies` (half sides, middle), in place of vertices."""
    for file, n in (("cage_coarse.json", 4), ("cage_fine.json", 16)):
        cells = [n] * 3
        zeros = [0] * (3 * surface_nodes(cells))
        free = dict(task.get("free", {}))
        maps = list(task.get("maps", []))
        for body, half, middle in bodies:
            free["cage_" + body] = {"value": zeros, "min": -bound, "max": bound}
            box = [[round(m + s * 1.001 * h, 7) for m, h in zip(middle, half)] for s in (-1, 1)]
            maps.append({"type": "cage", "from": "cage_" + body, "body": body, "box": box,
                         "grid": cells,
                         "to": ["mesh/%s_*/vert" % body]})
        write(name, file, {**task, "free": free, "maps": maps,
                           "variables": controls + [{"name": ["cage_" + b[0] for b in bodies]}],
                           "optimizer": optimizer})


def eased(t, at, values):
    """Piecewise from value to value by 3 s^2 - 2 s^3; at: steps."""
    if t <= at[0]:
        return values[0]
    for k in range(len(at) - 1):
        if t <= at[k + 1]:
            s = (t - at[k]) / (at[k + 1] - at[k])
            return values[k] + (values[k + 1] - values[k]) * s * s * (3 - 2 * s)
    return values[-1]


def single_jaw():
    c = SINGLE
    folder = HERE / "single_jaw"
    folder.mkdir(exist_ok=True)
    plate = Plate("jaw", c["block"], c["thick"])
    node = plate.node(*c["node"])
    # The first path of the node: down, onto the arm, back to the first turn, up.
    at = [0, 110, 230, 240, 330, 340, 480]
    x = [-c["arm"] - .03] * 2 + [-.035] * 5
    z = c["height"] + 1.8 * c["support"]
    z = [z + .08] + [z] * 5 + [z + .15]
    turn = [c["tilt"], 0, 0, 0, c["tilt"], c["tilt"], c["tilt"]]
    free = {k: [] for k in ("x", "y", "z", "roll", "pitch", "yaw")}
    for k in range(c["knots"]):
        t = k * (c["steps"] - 1) / (c["knots"] - 1)
        a = eased(t, at, turn)
        px = eased(t, at, x) - (node[2] * math.sin(a))
        pz = eased(t, at, z) - (node[2] * math.cos(a))
        for key, value in zip(free, (px, 0, pz, 0, a, 0)):
            free[key].append(round(value, 6) + 0.0)
    start = [free[k][0] for k in free]

    def mesh(name, vertices):
        numbers = "  ".join(text(v) for v in vertices)
        return ['    <mesh name="%s" inertia="exact"' % name] + textwrap.wrap(
            'vertex="' + numbers + '"/>', 99, initial_indent=" " * 10, subsequent_indent=" " * 18)

    # The floor bears the X at a distance of some .9 of twice the support.
    h, hub, lift = c["height"], c["hub"], 1.8 * c["support"]
    lines = ['<!-- A jaw of blocks, moved in six dofs, and an X of two rods on a hub: written by',
             '     generate_grippers.py. -->',
             '<mujoco model="single_jaw">',
             '  <option timestep="%g" integrator="implicitfast" cone="elliptic" impratio="10"/>' %
             c["dt"],
             '  <asset>']
    lines += plate.meshes() + mesh("rod_x", rod(
        c["arm"], c["straight"], c["radius"], 0)) + mesh(
        "rod_y", rod(c["arm"], c["straight"], c["radius"], 1))
    lines += ['  </asset>', '  <default>', '    <geom friction="%g" solref="0.01 1"/>' %
              c["friction"], '  </default>', '  <worldbody>', '    <light pos="0 -1 2"/>',
              '    <camera name="side" pos="-.2 -.7 .35" xyaxes="1 -.3 0 .1 .35 1"/>',
              '    <geom name="floor" type="plane" size="1 1 0.1" friction="%g"/>' % c["floor"],
              '    <body name="jaw" gravcomp="1">']
    for kind, axes in (("slide", "xyz"), ("hinge", ("roll", "pitch", "yaw"))):
        for k, name in enumerate(axes):
            axis = ["0"] * 3
            axis[k] = "1"
            lines.append('      <joint name="%s" type="%s" axis="%s"/>' % (name, kind,
                                                                          " ".join(axis)))
    density = c["jaw"] / (COLUMNS * ROWS * c["block"] ** 2 * c["thick"])
    lines += ["      " + g for g in plate.geoms('density="%g" rgba="0.35 0.5 0.7 1"' % density)]
    lines += ['    </body>', '    <body name="cross" pos="0 0 %g">' % (h + lift),
              '      <freejoint name="cross"/>']
    look = 'mass="%g" rgba="0.8 0.5 0.2 1"' % (c["mass"] / 4)
    lines += ['      <geom name="rod_x" type="mesh" mesh="rod_x" %s/>' % look,
              '      <geom name="rod_y" type="mesh" mesh="rod_y" %s/>' % look,
              '      <geom name="hub" type="box" size="%g %g %g" pos="0 0 %g" mass="%g"' %
              (hub, hub, (h + .01) / 2 - 5e-5, (.01 - h) / 2 + 5e-5, c["mass"] / 2),
              '            rgba="0.8 0.5 0.2 1"/>',
              '    </body>', '  </worldbody>', '  <actuator>']
    for k, name in enumerate(free):
        lines.append('    <position name="%s" joint="%s" kp="%g"/>' % (name, name,
                                                                        c["kp"][k // 3]))
    for k, name in enumerate(free):
        lines.append('    <velocity name="%s_rate" joint="%s" kv="%g"/>' % (name, name,
                                                                             c["kv"][k // 3]))
    lines += ['  </actuator>', '  <keyframe>', '    <key name="start" qpos="%s' % text(start),
              '                           0 0 %g 1 0 0 0"/>' % (h + lift),
              '  </keyframe>', '</mujoco>']
    (folder / "scene.xml").write_text("\n".join(lines) + "\n")

    grasp, raising = STAGES
    com = [0, 0, (c["mass"] / 2 * (.01 - h) / 2) / c["mass"] + h + lift]
    last = [round(x[-1] - node[2] * math.sin(turn[-1]), 6), 0,
            round(z[-1] - node[2] * math.cos(turn[-1]), 6)]
    loss = [{"type": "com", "body": "cross", "target": [0, 0, round(com[2], 6)], "weight": 300,
             "when": {"from": 1, "to": grasp}},
            {"type": "relative", "body": "cross", "body2": "jaw", "weight": 5,
             "when": {"from": grasp, "to": raising}},
            {"type": "relative", "body": "cross", "body2": "jaw", "weight": 60,
             "when": {"from": raising, "to": c["steps"]}},
            {"type": "com", "body": "jaw", "target": last, "when": "final", "weight": 30}]
    task = {"scene": "scene.xml", "integrator": "position", "timestep": c["dt"],
            "horizon": c["steps"], "initial": {"keyframe": "start"},
            "contact": {"model": "separating_plane", "vertices": "all", "skin": 0,
                        "support": c["support"]},
            "inertia_from_geom": True,
            "free": {k: {"value": v, "min": [round(w - c["room"][i // 3], 6) for w in v],
                         "max": [round(w + c["room"][i // 3], 6) for w in v]}
                     for i, (k, v) in enumerate(free.items())},
            "maps": [{"type": "spline", "from": k, "actuator": k, "velocity": k + "_rate"}
                     for k in free],
            "loss": loss}
    controls = [{"name": list(free)}]
    optimizer = {"type": "trust_region", "direction": "gradient", "radius": 2e-3,
                 "control_radius": 5e-2, "iterations": 100}
    write("single_jaw", "task.json", {**task, "connect": plate.ties(), "variables": controls +
          [{"name": "mesh/jaw_*/vert", "min": -.02, "max": .02}], "optimizer": optimizer})
    half = [c["thick"] / 2, COLUMNS * c["block"] / 2, ROWS * c["block"] / 2]
    write_cages("single_jaw", task, controls, [("jaw", half, (0, 0, 0))], optimizer, .02)
    write("single_jaw", "controls.json", {**task, "variables": controls, "optimizer": optimizer})


# parallel_jaw: block and thickness of the jaws' plates, density, where their inner faces begin, how
# high their lower edges are, the closed pose (how far they would pass the middle), gains; objects
# are of capsules: radius, mass; half sides of the stand they lie on; the part of the way's time after
# which the palm goes aside, and how much faster it goes up; radius of the optimizer; its stages:
# friction, iterations.
PARALLEL = dict(block=0.007, thick=0.012, density=1000, open=0.034, above=0.014, closed=0.010,
                friction=0.1, mass=0.055, kp=(500, 60), kv=(50, 20), steps=180, dt=0.01, close=50,
                rest=10, palm=0.3, radius=0.009, stand=(0.006, 0.04, 0.011), support=2.5e-4,
                bound=0.012, aside=0.45, up=2, step=5e-3, solimp=".99 .999 .001",
                stages=(*((mu, 6) for mu in (.28, .26, .24, .225, .21, .2, .186, .174, .162, .152,
                                             .142, .133, .124, .116, .108, .101, .095)), (.1, 10)))


def capsule(name, a, b, r, mass):
    return '<geom name="%s" type="capsule" fromto="%s %s" size="%g" mass="%g" %s/>' % (
        name, text(a), text(b), r, mass, 'rgba="0.8 0.5 0.2 1"')


def chain(name, points, r, mass):
    n = len(points) - 1
    return [capsule("%s_%d" % (name, k), points[k], points[k + 1], r, mass / n) for k in range(n)]


def parallel_objects(c):
    """Geoms of each object, and its height over the floor."""
    r = c["radius"]
    ring = [(.02 * math.cos(2 * math.pi * k / 10), .02 * math.sin(2 * math.pi * k / 10), 0)
            for k in range(11)]
    ring[-1] = ring[0]
    d = .018
    cross = [capsule("cross_0", (-d, -d, 0), (d, d, 0), r, c["mass"] / 2),
             capsule("cross_1", (-d, d, 0), (d, -d, 0), r, c["mass"] / 2)]
    ball = '<geom name="dumbbell_%d" type="sphere" size="0.013" pos="0 %g 0" mass="%g" %s/>'
    dumbbell = [ball % (k, y, c["mass"] * .4, 'rgba="0.8 0.5 0.2 1"')
                for k, y in ((0, -.024), (1, .024))]
    dumbbell.append(capsule("dumbbell_2", (0, -.02, 0), (0, .02, 0), .006, c["mass"] * .2))
    bent = chain("bent", [(-.010, -.028, 0), (.008, 0, 0), (-.010, .028, 0)], r, c["mass"])
    return {"torus": (chain("torus", ring, r, c["mass"]), r), "cross": (cross, r),
            "dumbbell": (dumbbell, .013), "bent": (bent, r)}


def parked(k):
    """Where objects that are not in use lie."""
    return -.3, .25 * (k - 1.5)


def path(target, c):
    """Positions and rates of a base that stays until the grasp and then moves to a target: straight,
    or first up, where c has parts of the time."""
    rows = []
    last = c["steps"] - c["rest"]
    parts = [(c.get("aside", 0), 1)] * 2 + [(0, 1 / c.get("up", 1))]
    for t in range(c["steps"]):
        at, rates = [], []
        for v, (low, high) in zip(target, parts):
            s = (t + 1 - c["close"]) / (last - c["close"])
            s = min(max((s - low) / (high - low), 0), 1)
            at.append(v * (s ** 3 * (10 - 15 * s + 6 * s * s)))
            rates.append(v * (30 * s * s * (1 - s) ** 2 /
                              ((last - c["close"]) * c["dt"] * (high - low))))
        rows.append((at, rates))
    return rows


def parallel_jaw(targets=None):
    c = PARALLEL
    folder = HERE / "parallel_jaw"
    folder.mkdir(exist_ok=True)
    plates = {"left": Plate("left", c["block"], c["thick"]),
              "right": Plate("right", c["block"], c["thick"])}
    height = ROWS * c["block"] / 2 + c["above"]
    lines = ['<!-- A palm with two jaws of blocks, and four objects: written by generate_grippers.py.',
             '     -->', '<mujoco model="parallel_jaw">',
             '  <option timestep="%g" integrator="discrete" cone="elliptic" impratio="100"/>' %
             c["dt"], '  <asset>']
    lines += plates["left"].meshes() + plates["right"].meshes()
    lines += ['  </asset>', '  <default>', '    <geom friction="%g" solref="0.02 1" solimp="%s"/>' %
              (c["friction"], c["solimp"]), '  </default>', '  <worldbody>',
              '    <light pos="0 -1 2"/>',
              '    <camera name="side" pos="-.1 -.4 .15" xyaxes="1 -.2 0 .05 .25 1"/>',
              '    <geom name="floor" type="plane" size="1 1 0.1"/>',
              '    <geom name="stand" type="box" size="%s" pos="0 0 %g"/>' %
              (text(c["stand"]), c["stand"][2]),
              '    <body name="palm" pos="0 0 %g" gravcomp="1">' % height]
    for k, name in enumerate("xyz"):
        axis = ["0"] * 3
        axis[k] = "1"
        lines.append('      <joint name="%s" type="slide" axis="%s"/>' % (name, " ".join(axis)))
    lines.append('      <geom name="palm" type="box" size="0.06 0.02 0.01" pos="0 0 %g" mass="%g"' %
                 (ROWS * c["block"] / 2 + .012, c["palm"]))
    lines.append('            contype="0" conaffinity="0" rgba="0.5 0.5 0.5 1"/>')
    for name, sign in (("left", -1), ("right", 1)):
        lines.append('      <body name="%s" pos="%g 0 0" gravcomp="1">' %
                     (name, sign * (c["open"] + c["thick"] / 2)))
        lines.append('        <joint name="%s" type="slide" axis="%d 0 0"/>' % (name, -sign))
        lines += ["        " + g for g in plates[name].geoms(
            'density="%g" rgba="0.35 0.5 0.7 1"' % c["density"])]
        lines.append('      </body>')
    lines.append('    </body>')
    objects = parallel_objects(c)
    for name, (geoms, z) in objects.items():
        lines.append('    <body name="%s" pos="0 0 %g">' % (name, z))
        lines.append('      <freejoint name="%s"/>' % name)
        lines += ["      " + g for g in geoms] + ['    </body>']
    lines += ['  </worldbody>', '  <contact>', '    <exclude body1="left" body2="right"/>',
              '  </contact>', '  <actuator>']
    joints = ["x", "y", "z", "left", "right"]
    for k, name in enumerate(joints):
        lines.append('    <position name="%s" joint="%s" kp="%g"/>' % (name, name,
                                                                        c["kp"][k > 2]))
    for k, name in enumerate(joints):
        lines.append('    <velocity name="%s_rate" joint="%s" kv="%g"/>' % (name, name,
                                                                             c["kv"][k > 2]))
    lines += ['  </actuator>', '  <keyframe>']
    for name in objects:
        qpos = [0] * 5
        for k, (other, (_, z)) in enumerate(objects.items()):
            x, y, below = (0, 0, 2 * c["stand"][2]) if other == name else (*parked(k), 0)
            qpos += [x, y, below + z + 1.8 * c["support"], 1, 0, 0, 0]
        lines.append('    <key name="%s" qpos="%s"/>' % (name, text(qpos)))
    lines += ['  </keyframe>', '</mujoco>']
    (folder / "scene.xml").write_text("\n".join(lines) + "\n")
    closed = c["open"] + c["closed"]
    scenes = []
    targets = targets or {"torus": (.08, .05, .15), "cross": (-.06, .08, .12),
                          "dumbbell": (.02, -.1, .15), "bent": (-.07, -.03, .14)}
    for name, target in targets.items():
        rows = [p + [closed, closed] + v + [0, 0] for p, v in path(target, c)]
        file = "ctrl_%s.csv" % name
        head = ",".join("ctrl[%d]" % k for k in range(10))
        (folder / file).write_text(head + "\n" + "\n".join(
            ",".join("%.6g" % v for v in row) for row in rows) + "\n")
        loss = [{"type": "relative", "body": name, "body2": "palm", "weight": 100,
                 "when": {"from": c["close"], "to": c["steps"]}}]
        scenes.append({"name": name, "initial": {"keyframe": name}, "ctrl": file, "loss": loss})
    task = {"scene": "scene.xml", "integrator": "position", "timestep": c["dt"],
            "horizon": c["steps"],
            "contact": {"model": "separating_plane", "vertices": "all", "skin": 0,
                        "support": c["support"]},
            "inertia_from_geom": True, "scenes": scenes}
    optimizer = {"type": "trust_region", "direction": "adam", "radius": c["step"],
                 "stages": staged(c["stages"])}
    write("parallel_jaw", "task.json", {
        **task, "variables": [{"name": ["mesh/left_*/vert", "mesh/right_*/vert"],
                               "min": -c["bound"], "max": c["bound"]}],
        "connect": plates["left"].ties() + plates["right"].ties(), "optimizer": optimizer})
    half = [c["thick"] / 2, COLUMNS * c["block"] / 2, ROWS * c["block"] / 2]
    write_cages("parallel_jaw", task, [], [(name, half, (0, 0, 0)) for name in plates], optimizer,
                .012)


# three_finger: lengths of the two links of a finger, their section, the circle on which fingers
# begin and its height, where they start and close (rad), density, gains (twice k_p, k_d = 3e2, 3).
FINGER = dict(links=(0.4, 0.35), width=0.1, ring=0.32, height=0.86, start=(-0.1, 0.15),
              closed=(0.25, 0.55), density=500, kp=600, kv=6, friction=0.1, mass=38, radius=0.2,
              steps=200, dt=0.01, close=70, rest=10, base=(2000, 400), parts=4, support=1e-3,
              stages=((.4, 50), (.32, 50), (.26, 50), (.21, 50), (.17, 50), (.14, 60), (.115, 60),
                      (.095, 70), (.1, 60)))


def column(name, width, length, parts):
    """Vertices of boxes in a row along -z from the origin, each with a vertex more in the middle of
    the faces between them and at both ends: (corners, upper, lower) of each."""
    out = []
    w, step = width / 2, length / parts
    for k in range(parts):
        top, low = -k * step, -(k + 1) * step
        corners = [(x, y, z) for x in (-w, w) for y in (-w, w) for z in (low, top)]
        out.append(("%s_%d" % (name, k), corners + [(0, 0, top), (0, 0, low)], 8, 9))
    return out


def finger_objects(c):
    """Geoms of each object, its height over the floor."""
    r, mass = c["radius"], c["mass"]
    look = 'rgba="0.8 0.5 0.2 1"'
    ball = ['<geom name="ball" type="sphere" size="%g" mass="%g" %s/>' % (r, mass, look)]
    egg = ['<geom name="egg" type="ellipsoid" size="%g %g %g" mass="%g" %s/>' %
           (r * 1.1, r * .95, r * .9, mass, look)]
    parts = [  # body, head, two ears, tail, two feet: centre and half axes in parts of the radius
        ("trunk", (0, 0, 0), (1, .85, .85), .6), ("head", (.75, 0, .75), (.5, .45, .45), .2),
        ("ear_0", (.6, .2, 1.35), (.15, .12, .45), .04),
        ("ear_1", (.6, -.2, 1.35), (.15, .12, .45), .04),
        ("tail", (-1, 0, .1), (.22, .22, .22), .04), ("foot_0", (.5, .45, -.6), (.45, .2, .25), .04),
        ("foot_1", (.5, -.45, -.6), (.45, .2, .25), .04)]
    bunny = ['<geom name="bunny_%s" type="ellipsoid" pos="%s" size="%s" mass="%g" %s/>' %
             (name, text([r * v for v in at]), text([r * v for v in size]), share * mass,
              look) for name, at, size, share in parts]
    return {"ball": (ball, r), "egg": (egg, .9 * r), "bunny": (bunny, r * .85)}


def three_finger(targets=None):
    c = FINGER
    folder = HERE / "three_finger"
    folder.mkdir(exist_ok=True)
    assets, bodies, ties, joints = [], [], [], []
    for f in range(3):
        angle = 2 * math.pi * f / 3
        names = ["near_%d" % f, "far_%d" % f]
        columns = [column(n, c["width"], length, c["parts"])
                   for n, length in zip(names, c["links"])]
        pad = "      "
        bodies.append(pad + '<body name="%s" pos="%s" quat="%s" gravcomp="1">' % (
            names[0], text([c["ring"] * math.cos(angle), c["ring"] * math.sin(angle), 0]),
            text([math.cos(angle / 2), 0, 0, math.sin(angle / 2)])))
        for k, (name, parts) in enumerate(zip(names, columns)):
            if k:
                pad += "  "
                bodies.append(pad + '<body name="%s" pos="0 0 %g" gravcomp="1">' %
                              (name, -c["links"][0]))
            bodies.append(pad + '  <joint name="%s" axis="0 1 0" damping="1"/>' % name)
            joints.append(name)
            for label, corners, upper, lower in parts:
                assets.append('    <mesh name="%s" inertia="exact"' % label)
                assets += textwrap.wrap('vertex="' + "  ".join(text(v) for v in corners) + '"/>',
                                        99, initial_indent=" " * 10, subsequent_indent=" " * 18)
                bodies.append(pad + '  <geom name="%s" type="mesh" mesh="%s" density="%g" %s/>' %
                              (label, label, c["density"], 'rgba="0.35 0.5 0.7 1"'))
            ties.append({"a": {"geom": parts[0][0], "vertex": parts[0][2]}, "b": {"joint": name}})
            for one, other in zip(parts, parts[1:]):
                ties.append({"a": {"geom": one[0], "vertex": one[3]},
                             "b": {"geom": other[0], "vertex": other[2]}})
            if not k:
                ties.append({"a": {"geom": parts[-1][0], "vertex": parts[-1][3]},
                             "b": {"body": names[1]}})
        bodies += [pad + '</body>', "      </body>"]
    lines = ['<!-- A hand of three fingers on a base that moves, and three objects: written by',
             '     generate_grippers.py. -->', '<mujoco model="three_finger">',
             '  <option timestep="%g" integrator="discrete" cone="elliptic" impratio="100"/>' %
             c["dt"], '  <asset>'] + assets
    lines += ['  </asset>', '  <default>', '    <geom friction="%g" solref="0.02 1"/>' %
              c["friction"], '  </default>', '  <worldbody>', '    <light pos="0 -3 5"/>',
              '    <camera name="side" pos="-1 -3 1.2" xyaxes="1 -.3 0 .05 .25 1"/>',
              '    <geom name="floor" type="plane" size="8 8 0.1"/>',
              '    <body name="base" pos="0 0 %g" gravcomp="1">' % c["height"]]
    for k, name in enumerate("xyz"):
        axis = ["0"] * 3
        axis[k] = "1"
        lines.append('      <joint name="%s" type="slide" axis="%s"/>' % (name, " ".join(axis)))
    lines.append('      <geom name="base" type="cylinder" size="0.4 0.04" pos="0 0 0.1" mass="5"')
    lines.append('            contype="0" conaffinity="0" rgba="0.5 0.5 0.5 1"/>')
    lines += bodies + ['    </body>']
    objects = finger_objects(c)
    for name, (geoms, z) in objects.items():
        lines.append('    <body name="%s" pos="0 0 %g">' % (name, z))
        lines.append('      <freejoint name="%s"/>' % name)
        lines += ["      " + g for g in geoms] + ['    </body>']
    lines.append('  </worldbody>')
    lines.append('  <contact>')
    for a in range(3):
        for b in range(a):
            for one in ("near", "far"):
                for other in ("near", "far"):
                    lines.append('    <exclude body1="%s_%d" body2="%s_%d"/>' % (one, a, other, b))
    lines += ['  </contact>', '  <actuator>']
    everything = list("xyz") + joints
    for k, name in enumerate(everything):
        kp, kv = c["base"] if k < 3 else (c["kp"], c["kv"])
        lines.append('    <position name="%s" joint="%s" kp="%g"/>' % (name, name, kp))
    for k, name in enumerate(everything):
        kp, kv = c["base"] if k < 3 else (c["kp"], c["kv"])
        lines.append('    <velocity name="%s_rate" joint="%s" kv="%g"/>' % (name, name, kv))
    lines += ['  </actuator>', '  <keyframe>']
    for name in objects:
        qpos = [0] * 3 + list(c["start"]) * 3
        for k, (other, (_, z)) in enumerate(objects.items()):
            x, y = (0, 0) if other == name else (-3, 1.5 * (k - 1))
            qpos += [x, y, z, 1, 0, 0, 0]
        lines.append('    <key name="%s" qpos="%s"/>' % (name, text(qpos)))
    lines += ['  </keyframe>', '</mujoco>']
    (folder / "scene.xml").write_text("\n".join(lines) + "\n")
    targets = targets or {"ball": [(.5, .3, .8), (-.6, 0, .6), (.3, -.8, .5)],
                          "egg": [(-.4, .5, .7), (.6, .2, .4), (-.8, -.3, .5)],
                          "bunny": [(.2, -.6, .8), (0, .7, .5), (-.8, .3, .5)]}
    scenes = []
    for name, k in [(name, k) for name, to in targets.items() for k in range(len(to))]:
        label, target = "%s_%d" % (name, k), targets[name][k]
        rows = [p + list(c["closed"]) * 3 + v + [0] * 6 for p, v in path(target, c)]
        file = "ctrl_%s.csv" % label
        head = ",".join("ctrl[%d]" % k for k in range(18))
        (folder / file).write_text(head + "\n" + "\n".join(
            ",".join("%.6g" % v for v in row) for row in rows) + "\n")
        loss = [{"type": "relative", "body": name, "body2": "base",
                 "when": {"from": c["close"], "to": c["steps"]}}]
        scenes.append({"name": label, "initial": {"keyframe": name}, "ctrl": file, "loss": loss})
    w = c["width"]
    task = {"scene": "scene.xml", "integrator": "position", "timestep": c["dt"],
            "horizon": c["steps"],
            "contact": {"model": "separating_plane", "vertices": "all", "skin": 0,
                        "support": c["support"]},
            "inertia_from_geom": True, "scenes": scenes}
    optimizer = {"type": "adam", "rate": 1e-3, "stages": staged(c["stages"])}
    write("three_finger", "task.json", {
        **task, "variables": [{"name": ["mesh/near_*/vert", "mesh/far_*/vert"], "min": -1.5 * w,
                               "max": 1.5 * w}],
        "connect": ties, "optimizer": optimizer})
    write_cages("three_finger", task, [],
                [(n, (w / 2, w / 2, length / 2), (0, 0, -length / 2))
                 for f in range(3) for n, length in zip(("near_%d" % f, "far_%d" % f), c["links"])],
                optimizer, w)


if __name__ == "__main__":
    single_jaw()
    parallel_jaw()
    three_finger()
