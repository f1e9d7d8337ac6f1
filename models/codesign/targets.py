"""Moves each object of parallel_jaw or three_finger by a design to targets that it was not made
for: python3 targets.py NAME SCENE.xml [COUNT [SEED]]; PYTHONPATH and MuJoCo as for dijoco. An object
is held where it ends within a limit (m) of where it was, beside the base, when it was grasped."""
import math
import pathlib
import random
import sys

import numpy as np

import dijoco

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import generate_grippers as made  # noqa: E402

# The constants; body that moves; the closed pose; objects; how far targets are, limit of slip (m).
TASKS = {
    "parallel_jaw": (made.PARALLEL, "palm", [made.PARALLEL["open"] + made.PARALLEL["closed"]] * 2,
                     ["torus", "cross", "dumbbell", "bent"], (0.1, 0.18), 0.01),
    "three_finger": (made.FINGER, "base", list(made.FINGER["closed"]) * 3,
                     ["ball", "egg", "bunny"], (0.6, 1.0), 0.05),
}


def draw(r, low, high):
    """A place above the floor in a random direction."""
    z, a, size = r.uniform(.35, .95), r.uniform(-math.pi, math.pi), r.uniform(low, high)
    side = math.sqrt(1 - z * z)
    return size * side * math.cos(a), size * side * math.sin(a), size * z


def slip(model, start, row, c, base, thing, closed, target):
    """How far the object's centre moves beside the base after the grasp, at the end."""
    data = dijoco.Data(model)
    data.qpos[:] = start
    seen = []
    for t, (place, rate) in enumerate(made.path(target, c)):
        if t == c["close"]:
            data.forward()
            seen.append(data.xpos[thing] - data.xpos[base])
        data.ctrl[:] = list(place) + closed + list(rate) + [0] * len(closed)
        data.step()
    data.forward()
    return float(np.linalg.norm(data.xpos[thing] - data.xpos[base] - seen[0]))


def keys_of(scene):
    import mujoco
    m = mujoco.MjModel.from_xml_path(scene)
    return {m.key(k).name: m.key_qpos[k].copy() for k in range(m.nkey)}


def main(name, scene, count=20, seed=1):
    c, base, closed, objects, far, limit = TASKS[name]
    model = dijoco.Model.load(scene)
    model.option["timestep"] = c["dt"]
    bodies = model.names("body")
    keys = keys_of(scene)
    r = random.Random(int(seed))
    targets = [draw(r, *far) for _ in range(int(count))]
    everything = True
    for thing in objects:
        slips = [slip(model, keys[thing], None, c, bodies.index(base), bodies.index(thing), closed,
                      target) for target in targets]
        held = sum(s < limit for s in slips)
        everything &= held == len(slips)
        print("%-9s %d of %d held, slips of %.4f to %.4f m" % (thing, held, len(slips),
                                                               min(slips), max(slips)))
    return 0 if everything else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
