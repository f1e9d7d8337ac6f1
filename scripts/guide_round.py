"""Pushers that have to go round what they push: which of them do, and in how many iterations.

Usage: python3 scripts/guide_round.py [--command build/bin/dijoco] [--decay 0.25] [--step 10]
       [--out DIR]

Of models/long_range/puck the cylinder begins at angles of STEP, 2 STEP, ..., 180 degrees off the
line from the disc to its first mark, 0.28 m from the disc, of which the mark is 0.7 m away; the
same with a box for a disc. Of models/long_range/push the rod begins at x = 0.9 m, or may go 1.2 m
each way. A row for each. --decay 1.5 is the tail as it is without guide_decay. Exit 1 where one
does not reach its mark."""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parent.parent
TASKS = ROOT / "models" / "long_range"
DISTANCE = 0.2 * math.sqrt(2)


def element(scene, kind, name):
    return next(e for e in scene.iter(kind) if e.get("name") == name)


def puck(scene, angle, box):
    """The cylinder this far off the line, and a box of the disc's height and width."""
    a = math.radians(angle)
    element(scene, "body", "cylinder").set(
        "pos", "%.17g %.17g 0.1" % (DISTANCE * math.cos(a), DISTANCE * math.sin(a)))
    if box:
        disc = element(scene, "geom", "disc")
        radius, height = disc.get("size").split()
        disc.set("type", "box")
        disc.set("size", "%s %s %s" % (radius, radius, height))


def far(scene):
    rod = element(scene, "body", "rod")
    rod.set("pos", " ".join(["0.9"] + rod.get("pos").split()[1:]))


def wide(scene):
    for axis in "xy":
        element(scene, "position", "rod_" + axis).set("ctrlrange", "-1.2 1.2")


def optimise(o, name, change, folder):
    """The task with a scene that is changed, and with the decay."""
    folder.mkdir(parents=True, exist_ok=True)
    task = json.loads((TASKS / name / "task.json").read_text())
    tree = xml.parse(TASKS / name / "scene.xml")
    change(tree.getroot())
    tree.write(folder / "scene.xml")
    task["contact"]["guide_decay"] = o.decay
    (folder / "task.json").write_text(json.dumps(task))
    done = subprocess.run([o.command, "optimize", folder / "task.json", "--out", folder / "out",
                           "--json"], capture_output=True, text=True, check=False)
    if done.returncode > 1 or not done.stdout:
        sys.exit(done.stderr.strip() or "%s: no output" % o.command)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default=str(ROOT / "build" / "bin" / "dijoco"))
    parser.add_argument("--decay", type=float, default=0.25)
    parser.add_argument("--step", type=int, default=10)
    parser.add_argument("--out", default=str(ROOT / "build" / "guide_round"))
    o = parser.parse_args()
    runs = [("puck", "%s, %d degrees" % ("box" if box else "disc", angle),
             lambda scene, angle=angle, box=box: puck(scene, angle, box))
            for box in (False, True) for angle in range(o.step, 181, o.step)]
    runs += [("push", "rod at 0.9 m", far), ("push", "rod's bounds 1.2 m", wide)]
    missed = 0
    print("%-6s %-20s %11s %11s" % ("task", "start", "loss", "iterations"))
    for i, (name, what, change) in enumerate(runs):
        r = optimise(o, name, change, pathlib.Path(o.out) / str(i))
        missed += r["loss_last"] > 0
        print("%-6s %-20s %11.4g %11d" % (name, what, r["loss_last"], r["iterations"]), flush=True)
    print("%d of %d reach their marks" % (len(runs) - missed, len(runs)))
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
