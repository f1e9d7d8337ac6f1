"""Writes the scenes and tasks of damped contact: FOLDER/scene.json and FOLDER/task*.json.

Masses, sizes, friction and coefficients are ours: the paper (Lee, Lee and Lee) publishes none. They
were chosen once, before any optimisation.
"""

import json
import math
import pathlib

FOLDER = pathlib.Path(__file__).parent
STEP, STEPS = 0.01, 80


def write(path, data):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(data, indent=1) + "\n")


def free(name, pos, mass, inertia):
    return ({"name": name, "parent": "world", "pos": pos, "mass": mass, "inertia": inertia},
            {"name": name, "type": "free", "body": name})


def scene(name, bodies, joints, geoms, **option):
    return {"dijoco_model": 1, "name": name,
            "option": {"timestep": STEP, "integrator": "midpoint", "contact": "damped", **option},
            "bodies": [{"name": "world"}, *bodies], "joints": joints, "geoms": geoms}


def models(folder, task, alpha, coefficients):
    """task.json, and three without what it proposes: 1 a varying set, perturbed; 2 perturbed; 3
    penalty, all undamped."""
    def with_(**contact):
        return {**task, "contact": {"model": "damped", **coefficients, **contact}}

    write(folder / "task.json", with_(law="perturbed", alpha=alpha))
    write(folder / "task_penalty.json", with_(law="smooth_penalty", alpha=alpha))
    write(folder / "task_model1.json", with_(law="perturbed", alpha=0, invariant=False))
    write(folder / "task_model2.json", with_(law="perturbed", alpha=0))
    write(folder / "task_model3.json", with_(law="smooth_penalty", alpha=0))


def fall():
    """A particle of 1 kg falls from .3 to 1 m; where is it after 80 steps of 10 ms?"""
    body, _ = free("particle", [0, 0, 0], 1, [1, 1, 1])
    write(FOLDER / "fall" / "scene.json",
          scene("fall", [body],
                [{"name": "height", "type": "slide", "axis": [0, 0, 1], "body": "particle"}],
                [{"name": "floor", "type": "plane", "body": "world"},
                 {"name": "particle", "type": "sphere", "body": "particle", "size": [1e-4, 0, 0]}]))
    task = {"scene": "scene.json", "horizon": STEPS, "initial": {"qpos": [0.65]},
            "loss": [{"type": "position", "body": "particle", "target": [0, 0, 0.5]}],
            "variables": [{"name": "qpos0", "min": 0.3, "max": 1}]}
    write(FOLDER / "fall" / "task_plain.json", {**task, "contact": {"model": "penalty", "kn": 1000}})
    models(FOLDER / "fall", task, 9, {"sigma": 1e-3, "kn": 1000, "detect": 0.01})


def blob():
    """400 points of a ball with two ears, by a spiral of equal areas."""
    points = []
    ears = ((0.05, 0.035, 0.1), (-0.05, 0.035, 0.1))
    for i in range(400):
        z = 1 - (2 * i + 1) / 400
        t, r = math.pi * (1 + math.sqrt(5)) * i, math.sqrt(1 - z * z)
        u = (r * math.cos(t), r * math.sin(t), z)
        length = 0.1
        for e in ears:
            n = math.sqrt(sum(x * x for x in e))
            along = sum(a * b / n for a, b in zip(u, e))
            length += 0.06 * math.exp(-(1 - along) / 0.03)
        points.append([round(length * x, 6) for x in u])
    return points


def roll():
    """A blob with two ears and an initial spin: what alpha, and damping of detected contacts, leave."""
    body, joint = free("blob", [0, 0, 0.12], 1, [0.004, 0.004, 0.004])
    write(FOLDER / "roll" / "scene.json",
          scene("roll", [body], [joint],
                [{"name": "floor", "type": "plane", "body": "world", "friction": [0.8, 0, 0]},
                 {"name": "blob", "type": "sphere", "body": "blob", "size": [0.1, 0, 0],
                  "friction": [0.8, 0, 0], "points": blob()}]))
    task = {"scene": "scene.json", "horizon": 200,
            "initial": {"qpos": [0, 0, 0.12, 1, 0, 0, 0], "qvel": [0, 0, 0, 0, 12, 0]},
            "loss": [{"type": "position", "body": "blob", "target": [1, 0, 0.1]}],
            "variables": [{"name": "qvel0", "index": [4]}]}
    models(FOLDER / "roll", task, 1.5, {"sigma": 1e-5, "kn": 1000, "detect": 0.005})


def box_flip():
    """A box on a floor that rises and tilts, and comes back: sines of a period of .8 s, whose
    amplitudes are their first velocities over 2 pi/.8 s. How far is the box from where it began?"""
    box, joint = free("box", [0, 0, 0.101], 1, [0.01 / 1.5] * 3)
    floor = {"name": "floor", "parent": "world", "mass": 1, "inertia": [1, 1, 1]}
    heavy = 1e6
    spring = {"armature": heavy, "stiffness": heavy * (2 * math.pi / 0.8) ** 2, "body": "floor"}
    write(FOLDER / "box_flip" / "scene.json",
          scene("box_flip", [floor, box],
                [{"name": "lift", "type": "slide", "axis": [0, 0, 1], **spring},
                 {"name": "tilt", "type": "hinge", "axis": [0, 1, 0], "pos": [-0.3, 0, 0], **spring},
                 joint],
                [{"name": "floor", "type": "plane", "body": "floor", "friction": [0.5, 0, 0]},
                 {"name": "box", "type": "box", "body": "box", "size": [0.1, 0.1, 0.1],
                  "friction": [0.5, 0, 0], "point_count": 98}]))
    task = {"scene": "scene.json", "horizon": STEPS,
            "initial": {"qpos": [0, 0, 0, 0, 0.101, 1, 0, 0, 0],
                        "qvel": [1.5, -3, 0, 0, 0, 0, 0, 0]},
            "loss": [{"type": "position", "body": "box", "target": [0, 0, 0.101]},
                     {"type": "orientation", "body": "box", "target": [1, 0, 0, 0],
                      "weight": 0.1}],
            "variables": [{"name": "qvel0", "index": [0, 1]}]}
    models(FOLDER / "box_flip", task, 9, {"sigma": 1e-3, "kn": 1000, "detect": 0.005})


def ball_in_sphere():
    """A ball on 64 points in a hollow sphere: where is it after .8 s, by its start?"""
    radius, ball = 0.5, 0.1
    body, joint = free("ball", [0, 0, -0.3], 1, [0.004, 0.004, 0.004])
    points = []
    for i in range(64):
        z = 1 - (2 * i + 1) / 64
        t, r = math.pi * (1 + math.sqrt(5)) * i, math.sqrt(1 - z * z)
        points.append([round(ball * x, 6) for x in (r * math.cos(t), r * math.sin(t), z)])
    write(FOLDER / "ball_in_sphere" / "scene.json",
          scene("ball_in_sphere", [body], [joint],
                [{"name": "hollow", "type": "sphere", "body": "world", "size": [radius, 0, 0],
                  "friction": [0.5, 0, 0], "inside": 1},
                 {"name": "ball", "type": "sphere", "body": "ball", "size": [ball, 0, 0],
                  "friction": [0.5, 0, 0], "points": points}]))
    task = {"scene": "scene.json", "horizon": STEPS,
            "loss": [{"type": "position", "body": "ball", "target": [0.1, 0.2, -0.25]}],
            "initial": {"qpos": [-0.2, 0.05, -0.25, 1, 0, 0, 0], "qvel": [1, -0.5, 0, 0, 0, 0]},
            "variables": [{"name": "qvel0", "index": [0, 1]}, {"name": "qpos0", "index": [0, 1]}]}
    coefficients = {"sigma": 1e-2, "kn": 1000, "detect": 0.05}
    models(FOLDER / "ball_in_sphere", task, 0.25, coefficients)
    for name, off in (("normals", {"coordinate_derivative": False}), ("set", {"invariant": False})):
        write(FOLDER / "ball_in_sphere" / f"task_without_{name}.json",
              {**task, "contact": {"model": "damped", "law": "perturbed", "alpha": 0.25,
                                   **coefficients, **off}})


def cloth_flip():
    """A cloth of N x N vertices on the floor, two corners of which are held by position actuators.
    Splines of their targets take the held edge over the free one: the cloth then lies upside down,
    and its free corners are to lie at two goals. scene.xml is one that MuJoCo runs as it is."""
    n, side, mass, radius = 6, 0.3, 0.1, 0.005
    step, start = side / (n - 1), radius + 0.05

    def place(i):
        return side / 2 - step * (i // n), step * (i % n) - side / 2, start

    names = {0: "held_right", n - 1: "held_left", n * (n - 1): "free_right", n * n - 1: "free_left"}
    bodies, actuators, elements = [], [], []
    for i in range(n * n):
        name, held = names.get(i, f"v{i}"), names.get(i, "").startswith("held")
        axes = ["1 0 0", "0 1 0", "0 0 1"]
        joints = "".join('<joint%s type="slide" axis="%s"/>' % (
            f' name="{name}_{k}"' if held else "", a) for k, a in zip("xyz", axes))
        bodies.append('    <body name="%s" pos="%g %g %g">%s<inertial pos="0 0 0" mass="%g" '
                      'diaginertia="1e-7 1e-7 1e-7"/></body>'
                      % (name, *place(i), joints, mass / n**2))
        if held:
            actuators += [f'    <position name="{name}_{k}" joint="{name}_{k}" kp="200" kv="2"/>'
                          for k in "xyz"]
    for a in range(n - 1):
        for b in range(n - 1):
            i = a * n + b
            elements += [(i, i + 1, i + n + 1), (i, i + n + 1, i + n)]
    lines = ["<!-- Written by generate.py. -->", '<mujoco model="cloth_flip">',
             f'  <option timestep="{STEP}" integrator="discrete"/>', "  <worldbody>",
             '    <geom name="floor" type="plane" size="2 2 .1" friction=".5"/>', *bodies,
             "  </worldbody>", "  <deformable>",
             f'    <flex name="cloth" dim="2" radius="{radius}"',
             '          body="%s"' % " ".join(names.get(i, f"v{i}") for i in range(n * n)),
             '          element="%s">' % "  ".join("%d %d %d" % e for e in elements),
             '      <elasticity young="2e4" poisson=".2" thickness=".002" damping=".005"',
             '                  elastic2d="both"/>',
             '      <contact selfcollide="none" friction=".5"/>',
             "    </flex>", "  </deformable>", "  <actuator>", *actuators, "  </actuator>",
             "</mujoco>"]
    folder = FOLDER / "cloth_flip"
    folder.mkdir(exist_ok=True)
    (folder / "scene.xml").write_text("\n".join(lines) + "\n")
    knots = 6
    free, maps, variables = {}, [], []
    for name in ("held_right", "held_left"):
        for k, axis in enumerate("xyz"):
            # targets count from where the corner begins: over, along half an ellipse, and down
            t = [j / (knots - 1) for j in range(knots)]
            path = {"x": [-side * (1 - math.cos(math.pi * u)) for u in t], "y": [0] * knots,
                    "z": [0.2 * math.sin(math.pi * u) for u in t]}[axis]
            free[f"{name}_{axis}"] = {"value": [round(x, 4) for x in path]}
            maps.append({"type": "spline", "from": f"{name}_{axis}", "actuator": f"{name}_{axis}"})
            variables.append({"name": f"{name}_{axis}", "index": list(range(1, knots))})
    task = {"scene": "scene.xml", "integrator": "midpoint", "timestep": STEP, "horizon": STEPS,
            "loss": [{"type": "position", "body": f"free_{hand}",
                      "target": [-side / 2 - 0.1, y * side / 2, radius]}
                     for hand, y in (("right", -1), ("left", 1))],
            "free": free, "maps": maps, "variables": variables,
            "optimizer": {"type": "lbfgsb", "iterations": 25}}
    coefficients = {"sigma": 1e-5, "kn": 100, "detect": 0.001}
    for name, alpha, off in (("task", 0.3, {}), ("task_undamped", 0, {}),
                             ("task_without_set", 0.3, {"invariant": False})):
        write(folder / f"{name}.json",
              {**task, "contact": {"model": "damped", "law": "smooth_penalty", "alpha": alpha,
                                   **coefficients, **off}})


def vertex(name, place, mass, held=False, geom=""):
    """A body on three slides, whose joints have names where it is held."""
    joints = "".join('<joint%s type="slide" axis="%s"/>' % (
        f' name="{name}_{k}"' if held else "", a)
        for k, a in zip("xyz", ("1 0 0", "0 1 0", "0 0 1")))
    inertial = "" if geom else ('<inertial pos="0 0 0" mass="%g" diaginertia="1e-7 1e-7 1e-7"/>'
                                % mass)
    return '    <body name="%s" pos="%g %g %g">%s%s%s</body>' % (name, *place, joints, inertial, geom)


def held_by(names, kp, kv):
    return [f'    <position name="{n}_{k}" joint="{n}_{k}" kp="{kp}" kv="{kv}"/>'
            for n in names for k in "xyz"]


def save_flex(folder, name, option, fixed, bodies, flex, actuators):
    """scene.xml, which MuJoCo runs as it is."""
    folder.mkdir(exist_ok=True)
    lines = ["<!-- Written by generate.py. -->", f'<mujoco model="{name}">',
             f"  <option {option}/>", "  <worldbody>", *fixed, *bodies,
             "  </worldbody>", "  <deformable>", *flex, "  </deformable>", "  <actuator>",
             *actuators, "  </actuator>", "</mujoco>"]
    (folder / "scene.xml").write_text("\n".join(lines) + "\n")


def splines(paths, timestep, seconds):
    """A path for each held body and axis, {name: (x, y, z)}, the first knot of which stays."""
    free, maps, variables = {}, [], []
    for name, path in paths.items():
        for axis, knots in zip("xyz", path):
            free[f"{name}_{axis}"] = {"value": [round(x, 4) for x in knots]}
            maps.append({"type": "spline", "from": f"{name}_{axis}", "actuator": f"{name}_{axis}"})
            variables.append({"name": f"{name}_{axis}", "index": list(range(1, len(knots)))})
    return {"scene": "scene.xml", "integrator": "midpoint", "timestep": timestep,
            "horizon": round(seconds / timestep), "free": free, "maps": maps, "variables": variables}


def rope_ring():
    """A rope of N vertices on the floor, the head of which is held: it goes through a ring of
    capsules that stands on edge, and the rope's middle is to end in the ring's."""
    n, length, mass, radius = 14, 0.39, 0.06, 0.008
    step, ring, tube, high = length / (n - 1), 0.06, 0.012, 0.12
    names = ["head", *(f"v{i}" for i in range(1, n - 1)), "tail"]
    middle = names[n // 2]
    bodies = [vertex(name, (-0.1 - step * i, 0, radius), mass / n, name == "head")
              for i, name in enumerate(names)]
    fixed = ['    <geom name="floor" type="plane" size="2 2 .1" friction=".3"/>']
    pieces = 12
    for i in range(pieces):
        ends = [(0, ring * math.sin(2 * math.pi * k / pieces),
                 high + ring * math.cos(2 * math.pi * k / pieces)) for k in (i, i + 1)]
        fixed.append('    <geom name="ring%d" type="capsule" size="%g" fromto="%s" friction=".3"/>'
                     % (i, tube, " ".join("%.6g" % x for e in ends for x in e)))
    flex = [f'    <flex name="rope" dim="1" radius="{radius}" body="{" ".join(names)}"',
            '          element="%s">' % "  ".join(f"{i} {i + 1}" for i in range(n - 1)),
            '      <edge stiffness="150" damping=".1"/>',
            '      <contact selfcollide="none" friction=".3"/>', "    </flex>"]
    folder = FOLDER / "rope_ring"
    save_flex(folder, "rope_ring", 'timestep="0.004" integrator="implicitfast"', fixed, bodies, flex, held_by(["head"], 100, 1))
    # up before the ring, and through it
    path = ([0, 0.02, 0.1, 0.2, 0.27], [0, 0, 0, 0, 0], [0, 0.09, 0.13, 0.12, 0.06])
    write(folder / "task.json",
          {**splines({"head": path}, 0.004, 1),
           "loss": [{"type": "position", "body": middle, "target": [0, 0, round(high - ring + tube + radius, 4)]}],
           "optimizer": {"type": "gauss_newton", "iterations": 25},
           "contact": {"model": "damped", "law": "smooth_penalty", "damping_time": 0.003,
                       "sigma": 1.5e-5, "kn": 400}})


def gripper_fold():
    """A cloth of N x N vertices that hangs beside a bar, two corners of which are in grippers: they
    take its upper edge over the bar and down, and the free corners are to hang as high."""
    n, side, mass, radius = 7, 0.3, 0.1, 0.005
    step, bar, high = side / (n - 1), 0.03, 0.3
    low, front = 0.12, bar + radius + 0.01

    def place(i):
        return front, step * (i % n) - side / 2, low + side - step * (i // n)

    names = {0: "grip_right", n - 1: "grip_left", n * (n - 1): "free_right", n * n - 1: "free_left"}
    bodies, elements = [], []
    for i in range(n * n):
        name = names.get(i, f"v{i}")
        held = name.startswith("grip")
        geom = ('<geom name="%s" type="sphere" size=".012" mass=".02" contype="0" '
                'conaffinity="0"/>' % name)
        bodies.append(vertex(name, place(i), mass / n**2, held, geom if held else ""))
    for a in range(n - 1):
        for b in range(n - 1):
            i = a * n + b
            elements += [(i, i + 1, i + n + 1), (i, i + n + 1, i + n)]
    fixed = ['    <geom name="floor" type="plane" size="2 2 .1" friction=".5"/>',
             f'    <geom name="bar" type="capsule" size="{bar}" fromto="0 -.25 {high} 0 .25 {high}" '
             'friction=".5"/>']
    flex = [f'    <flex name="cloth" dim="2" radius="{radius}"',
            '          body="%s"' % " ".join(names.get(i, f"v{i}") for i in range(n * n)),
            '          element="%s">' % "  ".join("%d %d %d" % e for e in elements),
            '      <elasticity young="2e4" poisson=".2" thickness=".002" damping=".02"',
            '                  elastic2d="both"/>',
            '      <contact selfcollide="none" friction=".5"/>', "    </flex>"]
    folder = FOLDER / "gripper_fold"
    save_flex(folder, "gripper_fold", f'timestep="{STEP}" integrator="discrete"', fixed, bodies,
              flex, held_by(["grip_right", "grip_left"], 200, 2))
    # over the bar, and down on its other side, but not as far as half the cloth
    path = ([0, -front, -2 * front, -2 * front, -2 * front], [0] * 5, [0, 0, -0.05, -0.1, -0.14])
    hang = high - (side - math.pi * (bar + radius)) / 2
    write(folder / "task.json",
          {**splines({"grip_right": path, "grip_left": path}, STEP, 1),
           "loss": [{"type": "position", "body": f"free_{hand}",
                     "target": [round(bar + radius, 4), y * side / 2, round(hang, 4)]}
                    for hand, y in (("right", -1), ("left", 1))],
           "optimizer": {"type": "lbfgsb", "iterations": 25},
           "contact": {"model": "damped", "law": "smooth_penalty", "alpha": 0.3, "sigma": 1e-5,
                       "kn": 100, "normal": "end"}})


if __name__ == "__main__":
    ball_in_sphere()
    fall()
    roll()
    box_flip()
    cloth_flip()
    rope_ring()
    gripper_fold()
