"""Writes scene.xml of ten_bodies, soft_arm and quadrotor, the arm's tension and the quadrotor's
flight beside this file. What is chosen is in the tables at the top; README.md of each says why."""
import csv
import itertools
import json
import math
import pathlib
import random
import textwrap

HERE = pathlib.Path(__file__).resolve().parent

# ---- ten bodies --------------------------------------------------------------------------------

THROW = dict(radius=6, speed=3, density=1, stiffness=3000, timestep=0.005, seed=3)

# Of each body a primitive (type, sizes), a cone (radius, x of base and top) or the rings (number of
# vertices, radius, x) of a mesh's hull; a ring of one vertex is an apex. x is about the centre of
# mass, and exact as MuJoCo stores it, in single precision.
PHI = (1 + 5**0.5) / 2
BODIES = {
    "cone": ("cone", [(0.6, -0.375), (0, 1.125)]),
    "cube": ("box", [0.5, 0.5, 0.5]),
    "cuboid": ("box", [0.7, 0.45, 0.35]),
    "cylinder": ("cylinder", [0.45, 0.6]),
    "ellipsoid": ("ellipsoid", [0.75, 0.5, 0.4]),
    "frustum": ("cone", [(0.64, -0.34375), (0.32, 0.53125)]),
    "polytope": ("vertices", [tuple(0.42 * c for c in v) for s in (-1, 1) for t in (-PHI, PHI)
                              for v in ((0, s, t), (s, t, 0), (t, 0, s))]),
    "pyramid": ("rings", [(4, 0.875, -0.3125), (1, 0, 0.9375)]),
    "sphere": ("sphere", [0.55]),
    "tetrahedron": ("vertices", [tuple(0.6 * c for c in v) for v in
                                 ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1))]),
}
# Sharpness of the surfaces. MuJoCo's cones have so many sides; ours are truncated_cone, at the tip
# of a radius of at least this.
SHARP = dict(beta=20, n=8)
CONE = dict(sides=32, tip=0.02)
COLOURS = ["0.85 0.35 0.3 1", "0.9 0.75 0.25 1", "0.35 0.65 0.4 1", "0.3 0.5 0.8 1",
           "0.6 0.4 0.7 1"]

# ---- soft arm ----------------------------------------------------------------------------------

# SI. A silicone rod, tapered from its base to its tip, clamped at a height, straight along x. The
# tendon runs at a part of the radius beside the axis, to the left (+y).
ARM = dict(segments=20, length=1.0, base=0.02, tip=0.01, young=2.5e6, poisson=0.5, density=1000,
           damping=0.05, height=0.1, tendon=0.8, sides=24, beta=20)
PULL = dict(tension=40, time=5)
CUBE = dict(half=0.05, place=(0.965, 0.30))
POST = dict(radius=0.13, half=0.06, place=(0.53, 0.21))
ARM_STEP = dict(timestep=0.005, stiffness=2e4)

# ---- quadrotor ---------------------------------------------------------------------------------

# Obstacles are those of scene.json, the way is path.csv; a servo on each axis follows it.
FLIGHT = dict(mass=1, frequency=100, time=5, timestep=0.005, sides=32)


def text(values):
    """Numbers as attributes show them."""
    return " ".join("%g" % (round(v, 6) + 0.0) for v in values)


def ring(count, radius, x):
    """Vertices of a regular polygon about the x axis. With four digits of cosines all numbers of a
    scene have the six that MuJoCo saves, and frames stay at centres of mass."""
    circle = [[round(f(2 * math.pi * k / count), 4) for f in (math.cos, math.sin)]
              for k in range(count)]
    return [(x, radius * c, radius * s) for c, s in circle]


def hull(kind, parts, sides):
    """A mesh's vertices about the centre of mass."""
    if kind == "vertices":
        return parts
    if kind == "cone":
        parts = [(sides if radius else 1, radius, x) for radius, x in parts]
    return [v for one in parts for v in ring(*one)]


def surface(name, parts, beta, tip=0):
    """What <custom> has of a cone between both ends."""
    (base, low), (top, high) = parts
    return '    <text name="dijoco_shape/%s" data="truncated_cone %s"/>' % (
        name, text([base, max(top, tip), -low, high, beta]))


def directions(count):
    """Points spread over the unit sphere."""
    found = []
    for i in range(count):
        z = 1 - (2 * i + 1) / count
        turn = i * math.pi * (3 - 5**0.5)
        found.append([(1 - z * z)**0.5 * math.cos(turn), (1 - z * z)**0.5 * math.sin(turn), z])
    return found


def any_turn(source):
    """A quaternion, evenly distributed."""
    q = [source.gauss(0, 1) for _ in range(4)]
    length = math.hypot(*q)
    return [x / length for x in q]


def wrapped(start, words, end, columns=100):
    """One element whose long attribute is broken into lines."""
    return "\n".join(textwrap.wrap(start + words + end, columns, break_long_words=False,
                                   subsequent_indent=" " * 10, break_on_hyphens=False))


def ten_bodies():
    row = THROW
    source = random.Random(row["seed"])
    places = directions(len(BODIES))
    source.shuffle(places)
    assets, surfaces, bodies, velocities = [], [], [], []
    for number, (name, (kind, parts)) in enumerate(BODIES.items()):
        if kind == "cone":
            surfaces.append(surface(name, parts, SHARP["beta"], CONE["tip"]))
        elif kind not in ("sphere", "ellipsoid"):
            sharp = SHARP["beta" if kind in ("rings", "vertices") else "n"]
            surfaces.append('    <numeric name="dijoco_sharpness/%s" data="%g"/>' % (name, sharp))
        if kind in ("cone", "rings", "vertices"):
            vertices = text(c for v in hull(kind, parts, CONE["sides"]) for c in v)
            assets.append(wrapped('    <mesh name="%s" vertex="' % name, vertices, '"/>'))
            shape = 'type="mesh" mesh="%s"' % name
        else:
            shape = 'type="%s" size="%s"' % (kind, text(parts))
        place = places[number]
        bodies.append('    <body name="%s" pos="%s"\n          quat="%s">'
                      % (name, text(row["radius"] * x for x in place), text(any_turn(source))))
        bodies.append('      <freejoint name="%s"/>' % name)
        bodies.append('      <geom name="%s" %s rgba="%s"/>'
                      % (name, shape, COLOURS[number % len(COLOURS)]))
        bodies.append('    </body>')
        velocities += [-row["speed"] * x for x in place] + [0, 0, 0]
    scene = """<!-- Ten convex bodies on a sphere of radius 6, which the keyframe throws at its centre. Nothing else
     acts: momentum and energy stay what they are. Written by ../generate.py. -->
<mujoco model="ten_bodies">
  <option timestep="%g" gravity="0 0 0" integrator="implicitfast"/>
  <size memory="32M"/>
  <custom>
    <text name="dijoco_contact" data="implicit_surface"/>
    <text name="dijoco_integrator" data="midpoint"/>
    <text name="dijoco_restitution" data="given"/>
    <numeric name="dijoco_tolerance" data="1e-09"/>
    <numeric name="dijoco_contact/implicit_surface/stiffness" data="%g"/>
%s
  </custom>
  <visual>
    <map zfar="100"/>
    <global offwidth="640" offheight="480"/>
  </visual>
  <default>
    <geom density="%g" friction="0" condim="1"/>
  </default>
  <asset>
    <texture type="skybox" builtin="flat" width="64" height="384" rgb1="0.95 0.95 0.93"
             rgb2="0.95 0.95 0.93"/>
%s
  </asset>
  <worldbody>
    <light pos="4 -8 10" dir="-0.3 0.6 -0.75"/>
    <light pos="-8 -10 2" dir="0.6 0.75 -0.15" diffuse="0.4 0.4 0.4"/>
    <camera name="side" pos="0 -16.5 5" xyaxes="1 0 0 0 0.287 0.958"/>
%s
  </worldbody>
  <keyframe>
%s
  </keyframe>
</mujoco>
""" % (row["timestep"], row["stiffness"], "\n".join(surfaces), row["density"], "\n".join(assets),
       "\n".join(bodies),
       wrapped('    <key name="thrown" qvel="', text(velocities), '"/>'))
    (HERE / "ten_bodies" / "scene.xml").write_text(scene)


def segment(number):
    """Of a segment: length, radii of both ends; of the joint at its start: stiffness against bending
    and twist, arm of the tendon. The joint stands for the rod from the middle of the segment before
    it, or the clamp, to the middle of its own, of radius r(s) and bending stiffness E pi/4 r^4: its
    compliance is theirs, and so is its angle under the tendon's moment, at a part of r."""
    row = ARM
    length = row["length"] / row["segments"]
    slope = (row["tip"] - row["base"]) / row["length"]
    start, end = (row["base"] + slope * length * (number + k) for k in (0, 1))
    low = start if number == 0 else start - slope * length / 2
    high = start + slope * length / 2
    cube = (high**-3 - low**-3) / (-3 * slope)      # integrals of r^-4 and r^-3 along the rod
    square = (high**-2 - low**-2) / (-2 * slope)
    bend = row["young"] * math.pi / 4 / cube
    return length, start, end, bend, bend / (1 + row["poisson"]), row["tendon"] * square / cube


def soft_arm():
    row = ARM
    assets, surfaces, bodies, tendon = [], [], [], []
    pad, ends = "    ", []
    for i in range(row["segments"]):
        length, start, end, bend, twist, arm = segment(i)
        name = "segment%d" % i
        cone = [(start, -length / 2), (end, length / 2)]
        surfaces.append(surface(name, cone, row["beta"]))
        vertices = text(c for v in hull("cone", cone, row["sides"]) for c in v)
        assets.append(wrapped('    <mesh name="%s" vertex="' % name, vertices, '"/>'))
        place = "0 0 %g" % row["height"] if i == 0 else text([length, 0, 0])
        bodies.append('%s<body name="%s" pos="%s">' % (pad, name, place))
        for joint, axis, stiffness in (("bend", "0 0 1", bend), ("lift", "0 1 0", bend),
                                       ("twist", "1 0 0", twist)):
            bodies.append('%s  <joint name="%s%d" axis="%s" stiffness="%.4g" damping="%.4g"/>'
                          % (pad, joint, i, axis, stiffness, row["damping"] * stiffness))
        bodies.append('%s  <geom name="%s" class="arm" mesh="%s" pos="%s"/>'
                      % (pad, name, name, text([length / 2, 0, 0])))
        tendon.append('      <joint joint="bend%d" coef="%.4g"/>' % (i, arm))
        ends.append("%s</body>" % pad)
        pad += "  "
    bodies.append('%s<site name="tip" pos="%s" size="0.012" rgba="0.9 0.3 0.2 1"/>'
                  % (pad, text([length, 0, 0])))
    bodies += reversed(ends)
    x, y = CUBE["place"]
    cube = 'size="%s" pos="%s"' % (text([CUBE["half"]] * 3), text([x, y, CUBE["half"]]))
    x, y = POST["place"]
    post = 'size="%s" pos="%s"' % (text([POST["radius"], POST["half"]]),
                                   text([x, y, POST["half"]]))
    scene = """<!-- A slender tapered arm of segments that turn about three axes at a point, with the stiffness of
     a rod in bending and twist. It is clamped over the ground, falls on it by gravity, and a tendon
     on its left bends it past a cube round a cylinder. No Cosserat rod: see README.md.
     Written by ../generate.py. -->
<mujoco model="soft_arm">
  <option timestep="%g" integrator="discrete"/>
  <custom>
    <text name="dijoco_contact" data="implicit_surface"/>
    <text name="dijoco_integrator" data="position"/>
    <text name="dijoco_restitution" data="given"/>
    <numeric name="dijoco_contact/implicit_surface/stiffness" data="%g"/>
%s
  </custom>
  <visual>
    <map znear="0.01"/>
    <global offwidth="640" offheight="480"/>
  </visual>
  <default>
    <geom contype="2" conaffinity="1" friction="0" condim="1"/>
    <default class="arm">
      <geom type="mesh" contype="1" conaffinity="2" density="%g" rgba="0.35 0.6 0.75 1"/>
    </default>
  </default>
  <asset>
%s
  </asset>
  <worldbody>
    <light pos="0.5 -1 2" dir="0 0.45 -0.9"/>
    <camera name="above" pos="0.5 -0.35 0.85" xyaxes="1 0 0 0 0.85 0.53" fovy="42"/>
    <geom name="ground" type="plane" size="4 4 0.1" rgba="0.9 0.9 0.88 1"/>
    <geom name="cube" type="box" %s rgba="0.85 0.6 0.25 1"/>
    <geom name="cylinder" type="cylinder" %s rgba="0.4 0.65 0.45 1"/>
%s
  </worldbody>
  <tendon>
    <fixed name="tendon">
%s
    </fixed>
  </tendon>
  <actuator>
    <motor name="tension" tendon="tendon" ctrlrange="0 %g"/>
  </actuator>
</mujoco>
""" % (ARM_STEP["timestep"], ARM_STEP["stiffness"], "\n".join(surfaces), row["density"],
       "\n".join(assets), cube, post,
       "\n".join(bodies), "\n".join(tendon), PULL["tension"])
    (HERE / "soft_arm" / "scene.xml").write_text(scene)
    steps = round(PULL["time"] / ARM_STEP["timestep"])
    (HERE / "soft_arm" / "tension.csv").write_text(
        "ctrl[0]\n" + "".join("%g\n" % (PULL["tension"] * k / steps) for k in range(1, steps + 1)))


def corners(A, b):
    """Of the polytope A y <= b."""
    found = []
    for rows in itertools.combinations(range(len(b)), 3):
        (p, q, r), (k, m, n) = [A[i] for i in rows], [b[i] for i in rows]
        qr, rp, pq = ([u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                       u[0] * v[1] - u[1] * v[0]] for u, v in ((q, r), (r, p), (p, q)))
        det = sum(x * y for x, y in zip(p, qr))
        if abs(det) < 1e-9:
            continue
        y = [(k * qr[i] + m * rp[i] + n * pq[i]) / det for i in range(3)]
        inside = all(sum(x * z for x, z in zip(A[i], y)) <= b[i] + 1e-9 for i in range(len(b)))
        if inside and not any(math.dist(y, z) < 1e-6 for z in found):
            found.append(y)
    return found


def obstacle(name, shape):
    """Of one: its mesh or None, its number or text in <custom>, its geom's type and size."""
    custom = '    <text name="dijoco_shape/%s" data="' % name
    family, mesh = shape["shape"], 'mesh="%s"' % name
    if family == "superellipsoid":
        return (None, '    <numeric name="dijoco_sharpness/%s" data="%g"/>' % (name, shape["n"]),
                'type="box" size="%s"' % text(shape["size"]))
    if family == "smooth_polytope":
        vertices = corners(shape["A"], shape["b"])
        numbers = [x for row in shape["A"] for x in row] + shape["b"] + [shape["L"], shape["beta"]]
    else:
        if family == "truncated_cone":
            numbers = [shape[k] for k in ("Rb", "Rt", "a", "b", "beta")]
            ends = [(shape["Rb"], -shape["a"]), (shape["Rt"], shape["b"])]
        else:
            numbers = [shape[k] for k in ("R", "h", "n")]
            ends = [(shape["R"], -shape["h"]), (shape["R"], shape["h"])]
        vertices = hull("cone", ends, FLIGHT["sides"])
    vertex = text(c for v in vertices for c in v)
    return (wrapped('    <mesh name="%s" vertex="' % name, vertex, '"/>'),
            wrapped(custom, family + " " + text(numbers), '"/>'), 'type="mesh" ' + mesh)


def flight(path, start, steps):
    """Along the straight pieces of a path, from rest to rest: places beside the start."""
    lengths = [math.dist(a, b) for a, b in zip(path, path[1:])]
    rows, k, before = [], 0, 0
    for step in range(1, steps + 1):
        t = step / steps
        way = sum(lengths) * t**3 * (10 - 15 * t + 6 * t * t)
        while k < len(lengths) - 1 and way > before + lengths[k]:
            before += lengths[k]
            k += 1
        part = (way - before) / lengths[k]
        rows.append([a + part * (b - a) - o for a, b, o in zip(path[k], path[k + 1], start)])
    return rows


def quadrotor():
    row, folder = FLIGHT, HERE / "quadrotor"
    plan = json.loads((folder / "scene.json").read_text())
    with open(folder / "path.csv", newline="") as file:
        path = [[float(x) for x in knot] for knot in list(csv.reader(file))[1:]]
    assets, surfaces, geoms = [], [], []
    for number, shape in enumerate(plan["obstacles"]):
        name = "obstacle%d" % number
        mesh, surface_text, kind = obstacle(name, shape)
        assets += [mesh] if mesh else []
        surfaces.append(surface_text)
        geoms.append('    <geom name="%s" %s pos="%s" quat="%s"\n          rgba="%s"/>'
                     % (name, kind, text(shape["pose"][:3]), text(shape["pose"][3:]),
                        COLOURS[number % len(COLOURS)]))
    stiffness = row["mass"] * row["frequency"]**2
    scene = """<!-- The quadrotor of quadrotor_path among its obstacles: three slides carry it, servos take it along
     the path that was found for seed 16. Nothing touches it. Written by ../generate.py. -->
<mujoco model="quadrotor">
  <option timestep="%g" gravity="0 0 0" integrator="implicitfast"/>
  <custom>
    <text name="dijoco_contact" data="implicit_surface"/>
%s
  </custom>
  <visual>
    <global offwidth="640" offheight="480"/>
  </visual>
  <default>
    <geom contype="2" conaffinity="1"/>
    <position kp="%g" kv="%g"/>
  </default>
  <asset>
%s
  </asset>
  <worldbody>
    <light pos="-2 -3 6" dir="0.3 0.4 -0.85"/>
    <camera name="above" pos="0 -5.5 5.5" xyaxes="1 0 0 0 0.62 0.78"/>
%s
    <body name="quadrotor" pos="%s">
      <joint name="x" type="slide" axis="1 0 0"/>
      <joint name="y" type="slide" axis="0 1 0"/>
      <joint name="z" type="slide" axis="0 0 1"/>
      <geom name="quadrotor" type="ellipsoid" size="%s" mass="%g" contype="1" conaffinity="2"/>
    </body>
  </worldbody>
  <actuator>
    <position name="x" joint="x"/>
    <position name="y" joint="y"/>
    <position name="z" joint="z"/>
  </actuator>
</mujoco>
""" % (row["timestep"], "\n".join(surfaces), stiffness, 2 * row["mass"] * row["frequency"],
       "\n".join(assets), "\n".join(geoms), text(plan["start"]), text(plan["quadrotor"]["size"]),
       row["mass"])
    (folder / "scene.xml").write_text(scene)
    places = flight(path, plan["start"], round(row["time"] / row["timestep"]))
    (folder / "flight.csv").write_text("ctrl[0],ctrl[1],ctrl[2]\n" + "".join(
        "%.6f,%.6f,%.6f\n" % tuple(p) for p in places))


if __name__ == "__main__":
    ten_bodies()
    soft_arm()
    quadrotor()
