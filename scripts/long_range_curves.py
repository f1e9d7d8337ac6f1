#!/usr/bin/env python3
"""Loss curves of the ways in which mj_long_range solves its tasks, as one picture:
`long_range_curves.py CURVES.csv PICTURE.svg`, of what `validation_mj_long_range --curves` wrote.

A column for each task, a row for each start; steps simulated and the least loss of the window by
then, by that of the task's own start. Needs the tree's library (make build).
"""
import csv
import math
import sys

from guide_pictures import Panel, write

COLORS = {"guide in the run": "#c0392b", "guide backward only": "#e08e0b",
          "plain contact": "#777777", "MuJoCo": "#2a6f97", "bundle of 32": "#3a7d44",
          "CMA-ES, 10 times": "#7d3c98", "triangles, mean": "#c2185b",
          "triangles, paper": "#00838f"}
LEFT, TOP, WIDTH, HEIGHT, STEP = 80, 40, 240, 180, (330, 250)


def read(path):
    """{(task, start): {way: [(steps, loss)]}}"""
    curves = {}
    with open(path, newline="", encoding="utf-8") as f:
        for row in csv.DictReader(f):
            ways = curves.setdefault((row["task"], row["start"]), {})
            points = ways.setdefault(row["way"], [])
            points.append((max(int(row["steps"]), 1), float(row["loss"])))
    return curves


def panel_of(place, key, ways, first):
    column, line = place
    most = max(points[-1][0] for points in ways.values())
    least = min(points[0][0] for points in ways.values())
    x = (math.log10(least) - 0.1, math.ceil(math.log10(most) + 0.1))
    top = 1.1 * max(1, max(points[0][1] for points in ways.values()) / first)
    panel = Panel(LEFT + STEP[0] * column, TOP + STEP[1] * line, WIDTH, HEIGHT, x, (-0.03, top),
                  True)
    panel.text(LEFT + STEP[0] * column + WIDTH / 2, TOP + STEP[1] * line - 10,
               "%s, %s start" % key)
    panel.axis_x([(10 ** k, "1e%d" % k) for k in range(math.ceil(x[0]), x[1] + 1)],
                 "steps simulated")
    panel.axis_y([(k / 2, "%.1f" % (k / 2)) for k in range(int(2 * top) + 1)], "loss")
    for way, points in ways.items():
        steps = [points[0]]
        for point in points[1:] + [(most, points[-1][1])]:   # what is found stays until the next
            steps += [(point[0], steps[-1][1]), point]
        panel.curve([(n, loss / first) for n, loss in steps], COLORS[way])
        panel.mark((points[-1][0], points[-1][1] / first), COLORS[way], points[-1][1] == 0)
    return panel.parts


def main():
    curves = read(sys.argv[1])
    tasks = list(dict.fromkeys(task for task, _ in curves))
    starts = list(dict.fromkeys(start for _, start in curves))
    parts = []
    for (task, start), ways in curves.items():
        own = curves[task, starts[0]]["plain contact"][0][1]
        parts += panel_of((tasks.index(task), starts.index(start)), (task, start), ways, own)
    bottom = TOP + STEP[1] * len(starts) + 10
    for k, (way, color) in enumerate(COLORS.items()):
        x, y = LEFT + 260 * (k % 3), bottom + 20 * (k // 3)
        parts.append('<path d="M%d %dh24" stroke="%s" stroke-width="2"/><text x="%d" y="%d">%s'
                     '</text>' % (x, y, color, x + 30, y + 4, way))
    parts.append('<text x="%d" y="%d">a full mark: loss 0</text>' % (LEFT, bottom + 44))
    write(sys.argv[2], LEFT + STEP[0] * len(tasks), bottom + 60, parts)


if __name__ == "__main__":
    main()
