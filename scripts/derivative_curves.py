#!/usr/bin/env python3
"""Errors of derivatives of MuJoCo's step, by the eps of differences, as one picture:
`derivative_curves.py CURVES.csv PICTURE.svg`, of what `validation_mj_derivatives --curves` wrote.

The worst column of A and B, relative to its size and 1. Needs the tree's library (make build).
"""
import csv
import math
import sys

from guide_pictures import Panel, write

WAYS = {"forward": ("mjd_transitionFD, forward", "#e08e0b", ""),
        "centred": ("mjd_transitionFD, centred", "#2a6f97", ""),
        "formula": ("djm_transitionMuJoCo", "#c0392b", "")}
LEFT, TOP, WIDTH, HEIGHT = 80, 20, 460, 300


def main():
    with open(sys.argv[1], newline="", encoding="utf-8") as f:
        rows = [{key: math.log10(max(float(x), 1e-16)) for key, x in row.items()}
                for row in csv.DictReader(f)]
    values = [row[way] for row in rows for way in WAYS]
    y = (math.floor(min(values)) - 0.2, math.ceil(max(values)) + 0.2)
    x = (rows[0]["eps"], rows[-1]["eps"])
    panel = Panel(LEFT, TOP, WIDTH, HEIGHT, x, y, False)
    panel.axis_x([(k, "1e%d" % k) for k in range(math.ceil(x[0]), math.floor(x[1]) + 1)], "eps")
    panel.axis_y([(k, "1e%d" % k) for k in range(math.ceil(y[0]), math.floor(y[1]) + 1)],
                 "worst column's error")
    for k, (way, (title, color, dash)) in enumerate(WAYS.items()):
        panel.curve([(row["eps"], row[way]) for row in rows], color, dash)
        line = TOP + HEIGHT + 64 + 20 * k
        panel.parts.append('<path d="M%d %dh24" stroke="%s" stroke-width="2"/>'
                           % (LEFT, line - 4, color))
        panel.text(LEFT + 32, line, title, "start")
    write(sys.argv[2], LEFT + WIDTH + 30, TOP + HEIGHT + 130, panel.parts)


if __name__ == "__main__":
    main()
