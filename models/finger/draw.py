"""Pictures for baselines.py: losses by simulations, and the designs, from reports of `optimize`."""
import math
import os
import pathlib
import subprocess
import sys

import numpy as np

import pictures
from guide_pictures import Panel, write

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("DIJOCO_BUILD", ROOT / "build"))
COLORS = {"ours": "#c0392b", "controls": "#2a6f97", "cmaes": "#7d3c98", "es": "#3a7d44"}
# Tasks whose designs are drawn, and the part of the run that results are shown at.
SHOWN = {"reach": 1, "rotate": 2 / 3, "flip": 1 / 3, "assemble": 1}


# ---- losses ----------------------------------------------------------------------------------

def ticks(low, high):
    """(log10, text) of 1, 2 and 5 times powers of ten between 10^low and 10^high."""
    values = [m * 10 ** k for k in range(math.floor(low), math.ceil(high)) for m in (1, 2, 5)]
    return [(math.log10(v), "%g" % v) for v in values if low <= math.log10(v) <= high]


def stairs(x, y):
    """Points of a line that stays until the next value."""
    points = [(x[0], y[0])]
    for a, b in zip(x[1:], y[1:]):
        if b != points[-1][1]:
            points += [(a, points[-1][1]), (a, b)]
    return points + [(x[-1], y[-1])]


def draw_losses(path, name, found, titles):
    """found: {method: lowest losses by 1, 2... simulations, a row for each seed}."""
    n = np.arange(1, len(next(iter(found.values()))[0]) + 1)
    logs = {method: np.log10(values) for method, values in found.items()}
    low = min(v.min() for v in logs.values()) - 0.03
    high = max(v.max() for v in logs.values()) + 0.03
    panel = Panel(80, 34, 560, 300, (0, math.log10(n[-1])), (low, high), True)
    panel.text(360, 22, name)
    panel.axis_x([(10 ** k, "%d" % 10 ** k) for k in range(int(math.log10(n[-1])) + 1)],
                 "simulations")
    panel.axis_y(ticks(low, high), "lowest loss")
    for method, values in logs.items():
        upper, lower = stairs(n, values.max(axis=0)), stairs(n, values.min(axis=0))
        area = " ".join("%.1f,%.1f" % panel.place(*p) for p in upper + lower[::-1])
        panel.parts.append('<polygon points="%s" fill="%s" opacity="0.18"/>'
                           % (area, COLORS[method]))
    for k, (method, values) in enumerate(logs.items()):
        panel.curve(stairs(n, np.median(values, axis=0)), COLORS[method])
        seeds = "%s, %d seed%s" % (titles[method], len(values), "s" if len(values) > 1 else "")
        x, y = 80 + 300 * (k // 2), 392 + 20 * (k % 2)
        panel.parts.append('<path d="M%d %dh24" stroke="%s" stroke-width="2"/><text x="%d" '
                           'y="%d">%s</text>' % (x, y, COLORS[method], x + 30, y + 4, seeds))
    panel.text(80, 436, "lines: median, areas: range of the seeds", "start")
    write(path, 660, 446, panel.parts)


# ---- designs ---------------------------------------------------------------------------------

def optimize(out, name):
    """The report of `dijoco optimize` of a task; what is there is not run again."""
    folder = out / (name + "_design")
    if not (folder / "final.json").exists():
        run = subprocess.run([str(BUILD / "bin/dijoco"), "optimize",
                              str(ROOT / "models/finger" / name / "task.json"), "--out",
                              str(folder)], stdout=subprocess.DEVNULL, check=False)
        if run.returncode not in (0, 1):
            sys.exit("dijoco optimize %s: exit status %d" % (name, run.returncode))
    return folder / "report.html"


def draw_designs(path, out):
    """Starts above results, a column for each task."""
    defs, parts = "", []
    for column, (name, part) in enumerate(SHOWN.items()):
        defs, found = pictures.read(optimize(out, name))
        last = max(float(time) for _, _, _, time, _ in found)
        for line, (row, at) in enumerate((("Start", 0), ("Result", part * last))):
            width, height, _, time, picture = min(
                (f for f in found if f[2] == row), key=lambda f: abs(float(f[3]) - at))
            title = "%s: %s at %s s" % (name, row.lower(), time) if line else "%s: start" % name
            parts.append(pictures.place(column * (int(width) + pictures.GAP),
                                        line * (int(height) + pictures.HEAD + pictures.GAP),
                                        int(width), int(height), title, picture))
    size = (len(SHOWN) * (int(width) + pictures.GAP) - pictures.GAP,
            2 * (int(height) + pictures.HEAD + pictures.GAP) - pictures.GAP)
    pictures.save(str(path), '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" '
                  'width="%d" font-family="sans-serif" font-size="15" fill="#222">%s\n%s\n</svg>\n'
                  % (size + (size[0], defs, "\n".join(parts))))
