#!/usr/bin/env python3
"""Pictures of what a guide does in models/long_range/push: `guide_pictures.py FOLDER`.

FOLDER/guide_sweep.svg: how far receding windows come by coefficient and length of the tail, where
it acts in the run and where in derivatives alone. FOLDER/guide_loss.svg: the loss over the start of
the rod. Runs the tree's command (make build) for some ten minutes; results of the sweep are kept in
build/guide, and what is there is not run again.
"""
import csv
import json
import math
import os
import pathlib
import subprocess
import sys

import pictures

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("DIJOCO_BUILD", ROOT / "build"))
WORK = ROOT / "build" / "guide"
SCENE = ROOT / "models/long_range/push/scene.xml"
COEFFICIENTS = [1e-5, 1e-4, 1e-3, 1e-2]      # J
LENGTHS = [0.03, 0.1, 0.3]                   # of l
BOUNDS = 0.24 + 0.1 * math.sqrt(3)           # l of rod and box, m
STEPS, APPLY = 60, 4                         # executed; of each window
COLORS = ["#c0392b", "#2a6f97", "#3a7d44"]
START, MARK = -0.14, [0.7, 0.15, 0.1]        # x of the rod's axis where it touches the box, m
LOSS = [{"type": "com", "body": "box", "target": MARK, "tolerance": 0.05}]
GUIDED = {"guide": 0, "guide_bodies": [["rod", "box"]]}


def dijoco(*arguments):
    run = subprocess.run([str(BUILD / "bin/dijoco"), *map(str, arguments), "--json"], text=True,
                         stdout=subprocess.PIPE, check=False)
    if run.returncode not in (0, 1):
        sys.exit("dijoco %s: exit status %d" % (arguments[0], run.returncode))
    return json.loads(run.stdout)


# ---- measuring

def sweep_task():
    """The task of push for fewer steps, more of which are executed of each window."""
    with open(SCENE.parent / "task.json", encoding="utf-8") as f:
        task = json.load(f)
    nu = 6
    task.update(scene=str(SCENE), horizon=STEPS)
    for variable in task["variables"]:
        if "index" in variable:
            variable["index"] = [i for i in variable["index"] if i < nu * STEPS]
    task["optimizer"]["receding"]["apply"] = APPLY
    path = WORK / "push.json"
    pictures.save(str(path), json.dumps(task))
    return path


def sweep(task, backward, coefficient, length):
    """What one setting gives; kept."""
    name = "%s_%g_%g" % ("backward" if backward else "run", coefficient, length)
    out = WORK / name
    if not (out / "final.json").exists():
        dijoco("optimize", task, "--guide", coefficient, "--guide-length", length * BOUNDS,
               "--guide-backward-only", "true" if backward else "false", "--out", out)
    with open(out / "final.json", encoding="utf-8") as f:
        final = json.load(f)
    planned = {}
    with open(out / "history.csv", encoding="utf-8") as f:
        for row in csv.DictReader(f):
            frame = int(row["frame"])
            planned[frame] = min(planned.get(frame, math.inf), float(row["loss"]))
    solved = [frame for frame, loss in sorted(planned.items()) if loss == 0]
    result = {"backward": backward, "guide": coefficient, "length": length,
              "first": final["loss_first"], "planned": min(planned.values()),
              "frame": solved[0] if solved else None, "last": final["loss_last"],
              "plain": final["bias"]["loss_plain"], "bias": final["bias"]["position"]}
    print(json.dumps(result), flush=True)
    return result


def line(coefficient, n=56):
    """(x of the rod, loss) where the rod goes by 0.4 m towards the box, which is at the origin."""
    points = []
    for k in range(n):
        x = -1.1 + (START - 0.02 + 1.1) * k / (n - 1)
        task = {"scene": str(SCENE), "integrator": "position", "timestep": 0.04, "horizon": 48,
                "contact": dict(GUIDED, guide=coefficient), "loss": LOSS,
                "initial": {"qpos": [x - 0.4, 0.12, 0, 1, 0, 0, 0, 0, 0, 0.1, 1, 0, 0, 0]},
                "ctrl": [min(x, 0.15), 0.12, 0, 0, 0, 0],
                "variables": [{"name": "qpos0[joint/rod_x]"}]}
        path = WORK / "line.json"
        pictures.save(str(path), json.dumps(task))
        points.append((x, dijoco("grad", path)["loss"]))
    return points


# ---- drawing

class Panel:
    """Axes with logarithms of y, and of x where `x` says so."""

    def __init__(self, left, top, width, height, x, y, logarithmic):
        self.box, self.x, self.y, self.log = (left, top, width, height), x, y, logarithmic
        self.parts = []
        self.parts.append('<rect x="%d" y="%d" width="%d" height="%d" fill="#fbfaf8" '
                          'stroke="#999"/>' % self.box)

    def place(self, x, y):
        left, top, width, height = self.box
        if self.log:
            x = math.log10(x)
        y = min(max(y, self.y[0]), self.y[1])
        return (left + width * (x - self.x[0]) / (self.x[1] - self.x[0]),
                top + height * (self.y[1] - y) / (self.y[1] - self.y[0]))

    def text(self, x, y, text, anchor="middle", more=""):
        self.parts.append('<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>'
                          % (x, y, anchor, more, text))

    def axis_x(self, ticks, label):
        left, top, width, height = self.box
        for value, text in ticks:
            x = self.place(value, self.y[0])[0]
            self.parts.append('<path d="M%.1f %dv5" stroke="#999"/>' % (x, top + height))
            self.text(x, top + height + 18, text)
        self.text(left + width / 2, top + height + 36, label)

    def axis_y(self, ticks, label):
        left, top, _, height = self.box
        for value, text in ticks:
            y = top + height * (self.y[1] - value) / (self.y[1] - self.y[0])
            self.parts.append('<path d="M%d %.1fh-5" stroke="#999"/>' % (left, y))
            self.text(left - 8, y + 4, text, "end")
        middle = top + height / 2
        self.text(left - 52, middle, label, "middle",
                  ' transform="rotate(-90 %d %d)"' % (left - 52, middle))

    def curve(self, points, color, dash=""):
        path = " ".join("%.1f,%.1f" % self.place(*point) for point in points)
        self.parts.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="2"%s/>'
                          % (path, color, ' stroke-dasharray="%s"' % dash if dash else ""))

    def mark(self, point, color, full):
        x, y = self.place(*point)
        self.parts.append('<circle cx="%.1f" cy="%.1f" r="4" fill="%s" stroke="%s" '
                          'stroke-width="1.5"/>' % (x, y, color if full else "#fff", color))


def write(path, width, height, parts):
    pictures.save(str(path), '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" '
                             'width="%d" font-family="sans-serif" font-size="13" fill="#222">\n'
                             '<rect width="100%%" height="100%%" fill="#fff"/>\n%s\n</svg>\n'
                  % (width, height, width, "\n".join(parts)))


def draw_sweep(path, results):
    parts = []
    for column, backward in enumerate((False, True)):
        panel = Panel(80 + 430 * column, 40, 330, 260, (-5.3, -1.7), (-0.03, 1.1), True)
        panel.text(80 + 430 * column + 165, 26,
                   "in derivatives alone" if backward else "in the run")
        panel.axis_x([(c, "%g" % c) for c in COEFFICIENTS], "guide (J)")
        panel.axis_y([(k / 5, "%.1f" % (k / 5)) for k in range(6)],
                     "loss, by that of the start")
        for length, color in zip(LENGTHS, COLORS):
            mine = [r for r in results if r["backward"] == backward and r["length"] == length]
            panel.curve([(r["guide"], r["planned"] / r["first"]) for r in mine], color)
            for r in mine:
                panel.mark((r["guide"], r["planned"] / r["first"]), color, r["planned"] == 0)
            if not backward:
                panel.curve([(r["guide"], r["plain"] / r["first"]) for r in mine], color, "4 3")
        parts += panel.parts
    for k, (length, color) in enumerate(zip(LENGTHS, COLORS)):
        x = 90 + 130 * k
        parts.append('<path d="M%d 362h24" stroke="%s" stroke-width="2"/><text x="%d" y="366">'
                     'length %g l</text>' % (x, color, x + 30, length))
    parts.append('<text x="490" y="366">full: loss 0; dashed: the result without the tail</text>')
    write(path, 860, 380, parts)


def draw_loss(path, curves):
    flat = curves[0][1][0][1]
    panel = Panel(90, 20, 520, 280, (-1.1, -0.1), (-9, 0.2), False)
    panel.axis_x([(k / 5, "%.1f" % (k / 5)) for k in range(-5, 0)],
                 "x of the rod at the start (m); it goes by 0.4 m towards the box")
    panel.axis_y([(-k, "1e-%d" % k if k else "1") for k in range(0, 10, 3)],
                 "loss at rest - loss (m\u00b2)")
    for (coefficient, points), color in zip(curves, COLORS):
        less = [(x, math.log10(max(flat - loss, 1e-30))) for x, loss in points]
        panel.curve(less, color)
    for k, ((coefficient, _), color) in enumerate(zip(curves, COLORS)):
        name = "guide %g J" % coefficient if coefficient else "plain contact"
        panel.parts.append('<path d="M110 %dh24" stroke="%s" stroke-width="2"/><text x="140" '
                           'y="%d">%s</text>' % (40 + 20 * k, color, 44 + 20 * k, name))
    write(path, 640, 360, panel.parts)


def main():
    folder = pathlib.Path(sys.argv[1])
    WORK.mkdir(parents=True, exist_ok=True)
    draw_loss(folder / "guide_loss.svg", [(c, line(c)) for c in (0, 1e-4, 1e-2)])
    task = sweep_task()
    draw_sweep(folder / "guide_sweep.svg",
               [sweep(task, backward, coefficient, length) for backward in (False, True)
                for coefficient in COEFFICIENTS for length in LENGTHS])


if __name__ == "__main__":
    main()
