#!/usr/bin/env python3
"""What potentials of contact do with the distance, as one picture: `potentials.py PICTURE.svg`. Needs
the tree's command (make build).

Above two boxes of 0.2 m, face to face, gap x: P, -P' and P'' of each, over their values at 1 mm.
IPC's barrier is -(x - 0.1)^2 log(x/0.1) of the boxes' distance; `separating_plane` has a support of
0.01, the guide 1e-2 of its stiffness. Below a small box that passes 0.2 m above the edge of a large
one: by the place along its way the force along it and the slope of that, over the largest. IPC's
distance has a second derivative that jumps where the nearest point leaves the edge (Fig. 12 of Ye,
Wu, Komura and Pan); those of the other ones do not."""
import json
import math
import os
import pathlib
import subprocess
import sys

from guide_pictures import Panel, write

TREE = pathlib.Path(__file__).resolve().parents[1]
HALF, NEAR, SUPPORT = 0.1, 1e-3, 0.1
KINDS = {"IPC's barrier": (None, "#2a6f97", ""),
         "separating_plane": ({"model": "separating_plane", "params": {"s": 0.01}}, "#777777", ""),
         "the same with a guide": ({"model": "separating_plane",
                                    "params": {"s": 0.01, "guide": 1e-2}}, "#e08e0b", "6 3"),
         "long_range, mean": ({"model": "long_range", "params": {"weighting": "mean"}}, "#c2185b",
                              ""),
         "long_range, paper": ({"model": "long_range", "params": {"weighting": "paper"}}, "#00838f",
                               "")}
LEFT, TOP, WIDTH, HEIGHT, APART = 80, 40, 270, 220, 380
LOW, HIGH, DEEP = -4, 1, -16   # powers of ten: of x, of what is shown
WAY = [-0.2 + 0.4 * k / 200 for k in range(201)]


def ask(queries):
    build = os.environ.get("DIJOCO_BUILD", str(TREE / "build"))
    out = subprocess.run([build + "/bin/dijoco", "contact", "-", "--json"], check=True, text=True,
                         input=json.dumps(queries), stdout=subprocess.PIPE).stdout
    return json.loads(out)["results"]


def box(half, *place):
    return {"geom": "box", "size": half, "pose": [*place, 1, 0, 0, 0]}


def barrier(x):
    """IPC's, with two derivatives."""
    if x >= SUPPORT:
        return 0, 0, 0
    d, log = x - SUPPORT, math.log(x / SUPPORT)
    return (-d * d * log, -2 * d * log - d * d / x, -2 * log - 4 * d / x + d * d / x**2)


def by_gap(query, gaps):
    """(P, -P', P'') of each."""
    if query is None:
        return [(p, -q, r) for p, q, r in map(barrier, gaps)]
    found = ask([dict(query, hessian=True, a=box([HALF] * 3, 0, 0, 0),
                      b=box([HALF] * 3, 2 * HALF + x, 0, 0)) for x in gaps])
    return [(r["value"], r["twist_gradient"][3], r["twist_hessian"][3][3]) for r in found]


def along(query):
    """(force, slope) along the way of a box of 2 cm above an edge."""
    if query is None:   # of its middle, from the large box's top
        out = []
        for x in WAY:
            p, d = max(x, 0), math.hypot(max(x, 0), 0.2)
            slope = p / d
            out.append((slope, (1 - slope**2) / d if x > 0 else 0))
        return out
    found = ask([dict(query, hessian=True, a=box([0.01] * 3, x, 0, 0.21),
                      b=box([0.5, 0.5, 0.1], -0.5, 0, -0.1)) for x in WAY])
    return [(-r["twist_gradient"][3], -r["twist_hessian"][3][3]) for r in found]


def upper(curves):
    parts = []
    for k, title in enumerate(("P", "-P'", "P''")):
        panel = Panel(LEFT + APART * k, TOP, WIDTH, HEIGHT, (LOW, HIGH), (DEEP, 4), True)
        panel.axis_x([(10**e, "1e%d" % e) for e in range(LOW, HIGH + 1)], "gap, m")
        panel.axis_y([(e, "1e%d" % e) for e in range(DEEP, 5, 4)], title + " over that at 1 mm")
        for kind, (gaps, values, at) in curves.items():
            points = [(x, math.log10(v[k] / at[k])) for x, v in zip(gaps, values)
                      if 10**DEEP < v[k] / at[k] < 1e4]
            panel.curve(points, KINDS[kind][1], KINDS[kind][2])
        parts += panel.parts
    return parts


def lower(ways):
    parts, top = [], TOP + HEIGHT + 80
    for k, title in enumerate(("force along the way", "its slope")):
        panel = Panel(LEFT + APART * k, top, WIDTH, HEIGHT, (WAY[0], WAY[-1]), (-1.1, 1.1), False)
        panel.axis_x([(x / 10, "%g" % (x / 10)) for x in range(-2, 3)], "place along the way, m")
        panel.axis_y([(y, "%d" % y) for y in (-1, 0, 1)], title)
        for kind, values in ways.items():
            most = max(abs(v[k]) for v in values)
            if most > 0:
                panel.curve([(x, v[k] / most) for x, v in zip(WAY, values)], *KINDS[kind][1:])
        parts += panel.parts
    for k, (kind, (_, color, dash)) in enumerate(KINDS.items()):
        x, y = LEFT + 2 * APART, top + 30 + 24 * k
        parts.append('<path d="M%d %dh24" stroke="%s" stroke-width="2" stroke-dasharray="%s"/>'
                     % (x, y - 4, color, dash))
        parts.append('<text x="%d" y="%d">%s</text>' % (x + 32, y, kind))
    return parts


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    gaps = [10**(LOW + (HIGH - LOW) * k / 160) for k in range(161)]
    curves = {kind: (gaps, by_gap(query, gaps), by_gap(query, [NEAR])[0])
              for kind, (query, _, _) in KINDS.items()}
    for kind, (_, values, _) in curves.items():
        zero = [x for x, v in zip(gaps, values) if v[1] == 0]
        falls = all(v[2] >= 0 for v in values)
        print("%-24s %s, P'' %s" % (kind, "vanishes at %.3g m" % zero[0] if zero else "never vanishes",
                                    "never negative" if falls else "negative somewhere"))
    ways = {kind: along(query) for kind, (query, _, _) in KINDS.items()
            if kind != "separating_plane"}
    write(sys.argv[1], LEFT + 3 * APART - 20, TOP + 2 * HEIGHT + 130, upper(curves) + lower(ways))


if __name__ == "__main__":
    main()
