#!/usr/bin/env python3
"""Losses of several optimisations in one picture: `curves.py PICTURE.svg [TITLE=]FOLDER...`.

A FOLDER is what `dijoco optimize --out` wrote; a curve is the least loss by each iteration, stages
one after the other, on a logarithmic axis where losses are positive and far apart. Needs the tree's
library (make build).
"""
import csv
import math
import os
import sys
from xml.sax.saxutils import escape

from guide_pictures import Panel, write

COLORS = ["#c0392b", "#1f5fa8", "#e08e0b", "#3a7d44", "#7d3c98", "#777777", "#0e7c7b", "#8a5a44"]
LEFT, TOP, WIDTH, HEIGHT = 80, 20, 520, 300


def read(folder):
    """[(iteration, least loss so far)]; where a stage begins the loss may be another one."""
    points, before = [], None
    with open(os.path.join(folder, "history.csv"), newline="", encoding="utf-8") as f:
        for row in csv.DictReader(f):
            if "frame" in row:
                sys.exit("curves: %s: each frame of a receding horizon has its own loss" % folder)
            loss, stage = float(row["loss"]), row.get("stage")
            if points and stage == before:
                loss = min(loss, points[-1][1])
            before = stage
            points.append((len(points), loss))
    if not points:
        sys.exit("curves: %s: no iterations" % folder)
    return points


def ticks(low, high):
    """About five round values."""
    step = 10 ** math.floor(math.log10((high - low) / 2))
    while (high - low) / step > 6:
        step *= 2.5 if str(step).lstrip("0.")[0] == "2" else 2
    first = math.ceil(low / step - 1e-9)
    return [step * k for k in range(first, math.floor(high / step + 1e-9) + 1)]


def log_ticks(low, high):
    """(log10, text) of 1, 2 and 5 times powers of ten, or of powers alone over many of them."""
    part = (1, 2, 5) if high - low < 3 else (1,)
    values = [m * 10 ** k for k in range(math.floor(low), math.ceil(high) + 1) for m in part]
    return [(math.log10(v), "%g" % v) for v in values if low <= math.log10(v) <= high]


def draw(curves):
    losses = [y for points in curves.values() for _, y in points]
    logarithmic = min(losses) > 0 and max(losses) > 20 * min(losses)
    level = math.log10 if logarithmic else float
    low, high = level(min(losses)), level(max(losses))
    margin = 0.04 * (high - low) or 0.5
    most = max(len(points) - 1 for points in curves.values()) or 1
    panel = Panel(LEFT, TOP, WIDTH, HEIGHT, (0, most), (low - margin, high + margin), False)
    panel.axis_x([(x, "%g" % x) for x in ticks(0, most)], "iteration")
    if logarithmic:
        values = [(k, "1e%d" % k) for k in range(math.ceil(low - margin),
                                                 math.floor(high + margin) + 1)]
        values = values if len(values) > 1 else [(y, "%.3g" % 10 ** y) for y in ticks(low, high)]
    else:
        values = [(y, "%.4g" % y) for y in ticks(low - margin, high + margin)]
    panel.axis_y(values, "least loss")
    for k, (title, points) in enumerate(curves.items()):
        color = COLORS[k % len(COLORS)]
        panel.curve([(x, level(y)) for x, y in points], color, "6 3" if k >= len(COLORS) else "")
        y = TOP + HEIGHT + 64 + 20 * k
        panel.parts.append('<path d="M%d %dh24" stroke="%s" stroke-width="2"/>'
                           % (LEFT, y - 4, color))
        text = "%s: %.4g to %.4g in %d" % (title, points[0][1], points[-1][1], len(points) - 1)
        panel.text(LEFT + 32, y, escape(text), "start")
    return panel.parts


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: curves.py PICTURE.svg [TITLE=]FOLDER...")
    curves = {}
    for text in sys.argv[2:]:
        title, _, folder = text.rpartition("=")
        curves[title or os.path.basename(os.path.normpath(folder))] = read(folder)
    write(sys.argv[1], LEFT + WIDTH + 30, TOP + HEIGHT + 60 + 20 * len(curves), draw(curves))


if __name__ == "__main__":
    main()
