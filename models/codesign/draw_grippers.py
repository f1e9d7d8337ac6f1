"""Draws losses of the grippers' variants: python3 draw_grippers.py OUT.svg NAME/VARIANT=FOLDER ...,
FOLDER being what `dijoco optimize` wrote. A panel for each NAME, a line for each variant: the lowest
loss so far by iterations, the loss of each iteration thin behind it."""
import csv
import math
import pathlib
import sys

COLORS = {"task": "#c0392b", "controls": "#2a6f97", "cage_coarse": "#7d3c98", "cage_fine": "#3a7d44"}
WIDTH, HEIGHT, LEFT, TOP, GAP = 300, 190, 52, 26, 70


def read(folder):
    with open(pathlib.Path(folder) / "history.csv", encoding="utf-8") as f:
        return [float(row["loss"]) for row in csv.DictReader(f)]


def panel(x0, name, curves):
    logs = [math.log10(v) for curve in curves.values() for v in curve if v > 0]
    low, high = math.floor(10 * min(logs)) / 10, math.ceil(10 * max(logs)) / 10
    most = max(len(c) for c in curves.values()) - 1 or 1

    def at(i, v):
        return (x0 + WIDTH * i / most,
                TOP + HEIGHT * (high - math.log10(max(v, 1e-300))) / (high - low or 1))
    out = ['<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#888"/>' %
           (x0, TOP, WIDTH, HEIGHT),
           '<text x="%d" y="%d" font-weight="bold">%s</text>' % (x0, TOP - 8, name)]
    for k in range(math.floor(low), math.ceil(high) + 1):
        for m in (1, 2, 5):
            v = m * 10.0 ** k
            if low <= math.log10(v) <= high:
                y = at(0, v)[1]
                out.append('<text x="%d" y="%.1f" text-anchor="end">%g</text>' % (x0 - 5, y + 4, v))
                out.append('<path d="M%d %.1fh%d" stroke="#ddd"/>' % (x0, y, WIDTH))
    for i in (0, most // 2, most):
        out.append('<text x="%.0f" y="%d" text-anchor="middle">%d</text>' %
                   (at(i, 1)[0], TOP + HEIGHT + 16, i))
    for k, (variant, curve) in enumerate(curves.items()):
        best = [min(curve[:i + 1]) for i in range(len(curve))]
        for values, look in ((curve, 'stroke-width="0.6" opacity="0.4"'), (best, 'stroke-width="2"')):
            points = " ".join("%.1f,%.1f" % at(i, v) for i, v in enumerate(values))
            out.append('<polyline points="%s" fill="none" stroke="%s" %s/>' %
                       (points, COLORS[variant], look))
        y = TOP + HEIGHT + 34 + 15 * k
        out.append('<path d="M%d %dh22" stroke="%s" stroke-width="2"/>' % (x0, y - 4, COLORS[variant]))
        out.append('<text x="%d" y="%d">%s: %.3g</text>' % (x0 + 28, y, variant, best[-1]))
    return out


def main(path, *runs):
    names = {}
    for run in runs:
        key, folder = run.split("=", 1)
        name, variant = key.split("/")
        names.setdefault(name, {})[variant] = read(folder)
    lines = []
    for k, (name, curves) in enumerate(names.items()):
        lines += panel(LEFT + k * (WIDTH + GAP), name, curves)
    width = LEFT + len(names) * (WIDTH + GAP) - GAP + 20
    height = TOP + HEIGHT + 40 + 15 * max(len(c) for c in names.values())
    pathlib.Path(path).write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" '
        'font-size="11">\n<rect width="100%%" height="100%%" fill="white"/>\n%s\n</svg>\n' %
        (width, height, "\n".join(lines)), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
