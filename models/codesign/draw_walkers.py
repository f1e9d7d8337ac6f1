#!/usr/bin/env python3
"""Curves and results of the tasks of generate_walkers.py.

  draw_walkers.py [NAME...]

Runs `dijoco optimize` of each variant of a task where build/codesign/NAME_VARIANT is not there yet,
draws docs/codesign_NAME.svg, the loss by iterations, and prints a row of README.md's table for
each."""
import csv
import json
import math
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "scripts"), str(ROOT / "models/codesign")]
from generate_walkers import BIPED_Z as GROUND, BODY  # noqa: E402  pylint: disable=C0413
from curves import log_ticks  # noqa: E402  pylint: disable=wrong-import-position
from guide_pictures import Panel, write  # noqa: E402  pylint: disable=wrong-import-position

BUILD = pathlib.Path(os.environ.get("DIJOCO_BUILD", ROOT / "build"))
VARIANTS = {"controls": ("#2a6f97", "controls alone"), "task": ("#c0392b", "feet and controls"),
            "cage_fine": ("#3a7d44", "fine cage and controls"),
            "cage_coarse": ("#7d3c98", "coarse cage and controls")}
HALF = BODY["half"][2]        # from the biped's hip to the middle of its trunk
NAMES = ("chain_reach", "spider", "biped")


def optimize(name, variant):
    """The folder of a variant's result, or None."""
    task = ROOT / "models/codesign" / name / (variant + ".json")
    if not task.exists():
        return None
    folder = BUILD / "codesign" / ("%s_%s" % (name, variant))
    if not (folder / "final.json").exists():
        command = [str(BUILD / "bin/dijoco"), "optimize", str(task), "--out", str(folder)]
        run = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        if run.returncode not in (0, 1):
            sys.exit("dijoco optimize %s: exit status %d" % (task, run.returncode))
    return folder


def history(folder):
    with open(folder / "history.csv", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    return [float(r["loss"]) for r in rows], float(rows[-1]["wall_s"])


FAR = 100                     # a target below everything, from which heights are told


def uprightness(folder, every=5):
    """Of each scene of the biped's result how it went, by terms of `dijoco grad` of the written
    task, the optimizer's own run to the last bit: heights of the trunk's frame, at the hip, and of
    its geom's middle."""
    with open(folder / "task.json", encoding="utf-8") as f:
        task = json.load(f)
    steps = range(every, task["horizon"] + 1, every)
    task["loss"] = [{"type": "position", what: "trunk", "index": [2], "target": [-FAR],
                     "when": {"step": k}} for k in steps for what in ("body", "geom")]
    task["loss"].append({"type": "com", "target": [0, 3, 0]})
    # Runs that end early only shape the loss.
    task["scenes"] = [s for s in task["scenes"] if "horizon" not in s]
    task["variables"] = task["variables"][:1]
    del task["optimizer"]
    for scene in task["scenes"]:
        for key in ("loss", "weight"):
            scene.pop(key, None)
    (folder / "upright.json").write_text(json.dumps(task), encoding="utf-8")
    run = subprocess.run([str(BUILD / "bin/dijoco"), "grad", str(folder / "upright.json"),
                          "--json"], capture_output=True, check=True)
    scenes = {}
    for term in json.loads(run.stdout)["terms"]:
        scenes.setdefault(term["scene"], []).append(math.sqrt(term["value"]))
    out = []
    for scene, values in scenes.items():
        hips, middles = ([v - FAR for v in values[k:-1:2]] for k in (0, 1))
        tilts = [math.acos(max(-1, min(1, (b - a) / HALF))) for a, b in zip(hips, middles)]
        heights = [(v + GROUND) / (hips[0] + GROUND) for v in hips]
        fell = [k for k, t, h in zip(steps, tilts, heights) if t > 0.5 or h < 0.8]
        out.append("%s: %.2f m from the mark, tilt at most %.2f rad, trunk above %.2f of its "
                   "height%s" % (scene, values[-1], max(tilts), min(heights),
                                 ", falls from %.2f s" % (fell[0] * task["timestep"]) if fell
                                 else ""))
    return "; ".join(out)


def report(name, variant, folder, losses, seconds):
    """A row of the table: the run of the result by the command, as the task has it."""
    row = "| %s | %s | %.4f | %.6g | %d | %.0f s | %s |"
    if name == "biped":
        print(row % (name, VARIANTS[variant][1], losses[0], min(losses), len(losses) - 1, seconds,
                     uprightness(folder)), flush=True)
        return
    with open(folder / "task.json", encoding="utf-8") as f:
        task = json.load(f)
    out = folder / "run.csv"
    command = [str(BUILD / "bin/dijoco"), "simulate", str(folder / "scene.xml"), "--ctrl",
               str(folder / "ctrl.csv"), "--time", repr(task["timestep"] * task["horizon"]),
               "--timestep", repr(task["timestep"]), "--integrator", task["integrator"], "--out",
               str(out)]
    for key, value in task["contact"].items():
        command += ["--contact" if key == "model" else "--" + key.replace("_", "-"), str(value)]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    end = ""
    if name != "chain_reach":
        with open(out, encoding="utf-8") as f:
            rows = [[float(v) for v in row] for row in list(csv.reader(f))[1:]]
        tilt = max(math.acos(max(-1, min(1, 1 - 2 * (r[5] ** 2 + r[6] ** 2)))) for r in rows)
        place = " ".join("%.3f" % v for v in rows[-1][1:4])
        end = "largest tilt %.2f rad, trunk at %s" % (tilt, place)
    print(row % (name, VARIANTS[variant][1], losses[0], min(losses), len(losses) - 1, seconds, end),
          flush=True)


def draw(name):
    found = {}
    for variant in VARIANTS:
        folder = optimize(name, variant)
        if folder:
            found[variant], seconds = history(folder)
            report(name, variant, folder, found[variant], seconds)
    logs = {v: [math.log10(max(x, 1e-9)) for x in losses] for v, losses in found.items()}
    low = min(min(x) for x in logs.values()) - 0.03
    high = max(max(x) for x in logs.values()) + 0.03
    last = max(len(x) for x in logs.values()) - 1
    panel = Panel(80, 34, 560, 300, (0, last), (low, high), False)
    panel.text(360, 22, name)
    panel.axis_x([(k, "%d" % k) for k in range(0, last + 1, 50)], "iteration")
    panel.axis_y(log_ticks(low, high), "loss (m2)")
    for k, (variant, values) in enumerate(logs.items()):
        color, title = VARIANTS[variant]
        panel.curve(list(enumerate(values)), color)
        x, y = 80 + 300 * (k // 2), 392 + 20 * (k % 2)
        panel.parts.append('<path d="M%d %dh24" stroke="%s" stroke-width="2"/><text x="%d" y="%d">'
                           '%s</text>' % (x, y, color, x + 30, y + 4, title))
    write(ROOT / "docs" / ("codesign_%s.svg" % name), 660, 430, panel.parts)


if __name__ == "__main__":
    for one in sys.argv[1:] or NAMES:
        draw(one)
