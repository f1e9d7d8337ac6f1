"""What grippers hold. python3 targets.py parallel_jaw|three_finger SCENE.xml [COUNT [SEED]] moves each
object to targets that the design was not made for; it is held where it ends within a limit (m) of
where it was, beside the base, when it was grasped. python3 targets.py single_jaw FOLDER, of a result of
`dijoco optimize`, prints how far the X is raised beside the jaw, and how far it slips. PYTHONPATH and
MuJoCo as for dijoco."""
import json
import math
import pathlib
import random
import sys

import numpy as np

import dijoco

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
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


def settings_of(name):
    """Settings of the task, which scene.xml of a start has not."""
    task = json.loads((HERE / name / "task.json").read_text(encoding="utf-8"))
    contact = {key: value for key, value in task["contact"].items() if key != "model"}
    return {"integrator": task["integrator"], "timestep": task["timestep"],
            "contact": task["contact"]["model"], **contact}


def keys_of(scene):
    import mujoco
    m = mujoco.MjModel.from_xml_path(scene)
    return {m.key(k).name: m.key_qpos[k].copy() for k in range(m.nkey)}


def single_jaw(folder):
    """How far jaw and X rise in the last stage, how far the X's centre moves in the jaw's frame then;
    and how far it moves before the grasp."""
    folder = pathlib.Path(folder)
    model = dijoco.Model.load(str(folder / "scene.xml"))
    ctrl = np.loadtxt(folder / "ctrl.csv", delimiter=",", skiprows=1)
    data = dijoco.Data(model)
    data.qpos[:] = keys_of(str(folder / "scene.xml"))["optimized"]
    jaw, cross = (model.names("body").index(name) for name in ("jaw", "cross"))
    jaws, crosses, inside = [], [], []
    for t in range(len(ctrl) + 1):
        data.forward()
        turn = np.array(data.xmat[jaw]).reshape(3, 3)
        jaws.append(np.array(data.xpos[jaw]))
        own = np.array(data.xmat[cross]).reshape(3, 3) @ model.body_ipos[cross]
        crosses.append(np.array(data.xpos[cross]) + own)
        inside.append(turn.T @ (crosses[-1] - jaws[-1]))
        if t < len(ctrl):
            data.ctrl[:] = ctrl[t]
            data.step()
    grasp, up = made.STAGES
    rise = [a[-1][2] - a[up][2] for a in (jaws, crosses)]
    slips = [np.linalg.norm(x - inside[up]) for x in inside[up:]]
    still = max(np.linalg.norm(x - crosses[0]) for x in crosses[:grasp + 1])
    print("jaw raised by %.4f m, X by %.4f m; slips by %.4f m; moved by %.4f m before the grasp"
          % (*rise, max(slips), still))
    return 0 if rise[1] >= .9 * rise[0] > .1 and max(slips) < .01 else 1


def main(name, scene, count=20, seed=1):
    if name == "single_jaw":
        return single_jaw(scene)
    c, base, closed, objects, far, limit = TASKS[name]
    model = dijoco.Model.load(scene, **settings_of(name))
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
