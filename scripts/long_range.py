"""Runs the long-range tasks (all task*.json of each folder, with --triangles its long_range.json)
from their starts and from jittered ones, and prints what came out.

Usage: python3 scripts/long_range.py [--command build/bin/dijoco] [--jitters 3] [--out DIR]
       [--triangles] [NAME...]

A row for each run: the loss in the model in which it was optimised, the loss of the same controls
and start without a guide (0: every target is within its tolerance), of contact between triangles by
the contact model separating_plane instead, the same in stock MuJoCo, and seconds a simulated frame
of the whole optimisation. Exit 1 where a run misses its targets."""
import argparse
import csv
import json
import math
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TASKS = ROOT / "models" / "long_range"
NAMES = ["billiards", "push", "sort", "gather", "gather_bunny", "ant_push", "puck", "button",
         "franka_push"]
JITTER = 0.02   # m, of free bodies, each way


def run(command, *arguments):
    done = subprocess.run([command, *map(str, arguments), "--json"], capture_output=True, text=True,
                          check=False)
    if done.returncode > 1 or not done.stdout:
        sys.exit(done.stderr.strip() or "%s: no output" % command)
    return json.loads(done.stdout)


def layout(command, scene):
    """Where in qpos the free joints of bodies begin, by the bodies' names."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "scene.json"
        subprocess.run([command, "convert", scene, "--out", path], check=True,
                       stdout=subprocess.DEVNULL)
        model = json.loads(path.read_text())
    width = {"free": 7, "ball": 4}
    place, at = {}, 0
    for joint in model["joints"]:
        if joint.get("type") == "free":
            place[joint["body"]] = at
        at += width.get(joint.get("type", "hinge"), 1)
    return place


def jittered(command, task, name, seed):
    """The task with other places of what it moves; the marks of what is to stay where it is go with
    it. Of a task whose windows have candidates the next seed instead. Seed 0: its own."""
    task = dict(task, scene=str(TASKS / name / task["scene"]))
    windows = task["optimizer"].get("receding", {})
    if "seed" in windows:
        windows["seed"] += seed
        return task
    if seed == 0:
        return task
    rows = first_state(command, task)
    rng = random.Random(seed)
    for body, at in layout(command, task["scene"]).items():
        moved = [x + rng.uniform(-JITTER, JITTER) for x in rows[at:at + 2]]
        for term in task["loss"]:
            if term["body"] == body and math.dist(term["target"][:2], rows[at:at + 2]) < 1e-9:
                term["target"][:2] = moved
        rows[at:at + 2] = moved
    task["initial"] = dict(task.get("initial", {}), qpos=rows)
    return task


def first_state(command, task):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "run.csv"
        key = task.get("initial", {}).get("keyframe")
        more = ["--keyframe", key] if key else []
        run(command, "simulate", task["scene"], "--time", task["timestep"], "--out", out, *more)
        with open(out, newline="") as file:
            row = next(csv.DictReader(file))
    n = sum(1 for key in row if key.startswith("qpos["))
    return [float(row["qpos[%d]" % i]) for i in range(n)]


def mujoco_loss(command, folder, task):
    """The final loss of the written scene in stock MuJoCo: bodies' frames are at their centres. NaN
    where some body is not free."""
    result = json.loads((folder / "task.json").read_text())
    start = result["initial"]
    files = []
    for key in ("qpos", "qvel"):
        path = folder / ("start_%s.txt" % key)
        path.write_text(" ".join("%.17g" % x for x in start[key]))
        files += ["--" + key, path]
    ctrl = ["--ctrl", folder / "ctrl.csv"] if (folder / "ctrl.csv").exists() else []
    out = folder / "mujoco.csv"
    run(command, "simulate", folder / "scene.xml", "--engine", "mujoco", "--time",
        task["timestep"] * task["horizon"], "--timestep", task["timestep"], "--every",
        task["horizon"], "--out", out, *files, *ctrl)
    with open(out, newline="") as file:
        row = list(csv.DictReader(file))[-1]
    place, loss = layout(command, task["scene"]), 0
    if any(term["body"] not in place for term in task["loss"]):
        return math.nan
    for term in task["loss"]:
        at = place[term["body"]]
        x = [float(row["qpos[%d]" % (at + k)]) for k in range(3)]
        square = math.dist(x, term["target"]) ** 2 - term["tolerance"] ** 2
        loss += term.get("weight", 1) * max(0, square)
    return loss


def plain_loss(command, folder):
    """The loss of the written task under the contact model separating_plane."""
    task = json.loads((folder / "task.json").read_text())
    scene = (folder / "scene.xml").read_text()
    (folder / "plain.xml").write_text(re.sub(r'<\w+ name="dijoco_[^>]*>', "", scene))
    (folder / "plain.json").write_text(json.dumps(dict(
        {k: task[k] for k in task if k not in ("optimizer", "variables")}, scene="plain.xml",
        variables=[{"name": "option/gravity"}], contact="separating_plane")))
    return run(command, "grad", folder / "plain.json")["loss"]


def optimise(command, given, seed, folder):
    task = jittered(command, json.loads(given.read_text()), given.parent.name, seed)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "given.json"
    path.write_text(json.dumps(task))
    summary = run(command, "optimize", path, "--out", folder)
    final = json.loads((folder / "final.json").read_text())
    steps = task["optimizer"].get("receding", {}).get("horizon", task["horizon"])
    frames = summary["evaluations"] * steps
    triangles = given.name == "long_range.json"
    plain = plain_loss(command, folder) if triangles else final["bias"]["loss_plain"]
    return {"loss": final["loss_last"], "plain": plain,
            "mujoco": mujoco_loss(command, folder, task), "wall": summary["wall_s"],
            "frame": summary["wall_s"] / max(frames, 1), "iterations": summary["iterations"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default=str(ROOT / "build" / "bin" / "dijoco"))
    parser.add_argument("--jitters", type=int, default=3)
    parser.add_argument("--out", default=str(ROOT / "build" / "long_range"))
    parser.add_argument("--triangles", action="store_true")
    parser.add_argument("names", nargs="*", default=NAMES)
    o = parser.parse_args()
    files = "long_range.json" if o.triangles else "task*.json"
    print("%-14s %5s %11s %11s %11s %11s %9s %8s" %
          ("task", "start", "loss", "no guide", "MuJoCo", "iterations", "wall (s)", "ms/frame"))
    missed = False
    given = [file for name in o.names for file in sorted((TASKS / name).glob(files))]
    for file in given:
        name = file.parent.name + file.stem.replace("task", "").replace("long", "_long")
        for seed in range(o.jitters + 1):
            r = optimise(o.command, file, seed, pathlib.Path(o.out) / name / str(seed))
            missed |= r["loss"] > 0
            print("%-14s %5d %11.4g %11.4g %11.4g %11d %9.1f %8.3f" %
                  (name, seed, r["loss"], r["plain"], r["mujoco"], r["iterations"], r["wall"],
                   1e3 * r["frame"]), flush=True)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
