#!/usr/bin/env python3
"""Forces of damped contact and the energies that they give a particle, as one picture:
`damped_laws.py PICTURE.svg`. Needs the tree's command and library (make build).

A particle of 1 kg on flat ground, 401 heights (sigma 0.02 N m, kn 1000 N/m, 100 of `log`). Left the
three laws at rest, and `smooth_penalty` while it comes down and goes up at 1 m/s: the gap ahead
makes the force larger on the way in than on the way out. Right U = -(integral of the force) + m g x,
the command's forces added up by the trapezoid rule, and what a fall to 5 mm below the ground and
back costs.
"""
import json
import os
import pathlib
import subprocess
import sys

from guide_pictures import Panel, write

TREE = pathlib.Path(__file__).resolve().parents[1]
MASS, G, STEP = 1.0, 9.81, 0.01
SETTINGS = {"sigma": 0.02, "kn": 1000.0, "detect": 0.05}
LAWS = {"perturbed": ("perturbed", "#c0392b", 0.0, ""),
        "smooth_penalty": ("smooth_penalty", "#1f5fa8", 0.0, ""),
        "log": ("log", "#3a7d44", 0.0, ""),
        "in": ("smooth_penalty, alpha 1.5, down at 1 m/s", "#1f5fa8", -1.0, "6 3"),
        "out": ("smooth_penalty, alpha 1.5, up at 1 m/s", "#1f5fa8", 1.0, "2 3")}
LOW, HIGH, COUNT = -0.03, 0.1, 401
LEFT, TOP, WIDTH, HEIGHT, APART = 70, 20, 330, 260, 420


def query(law, height, speed):
    """Of a particle at the end of a step that ends at this height at this speed."""
    return {"model": "damped", "dt": STEP,
            "params": dict(SETTINGS, law=law, kn=100.0 if law == "log" else SETTINGS["kn"],
                           alpha=1.5 if speed else 0.0, mu=0.0),
            "a": {"points": [[0, 0, height - STEP * speed]], "origin": [0, 0, height - STEP * speed]},
            "b": {"geom": "plane", "pose": [0, 0, 0, 1, 0, 0, 0]},
            "motion_a": [0, 0, 0, 0, 0, STEP * speed], "motion_b": [0] * 6}


def ask(queries):
    build = os.environ.get("DIJOCO_BUILD", str(TREE / "build"))
    out = subprocess.run([build + "/bin/dijoco", "contact", "-", "--json"], check=True, text=True,
                         input=json.dumps(queries), stdout=subprocess.PIPE).stdout
    return [found["points"][0]["force"][2] for found in json.loads(out)["results"]]


def heights(law):
    """Where a law is finite: beyond, it goes on along its tangent."""
    low = 5e-4 if law in ("perturbed", "log") else LOW
    return [low + (HIGH - low) * k / (COUNT - 1) for k in range(COUNT)]


def draw(curves):
    parts = []
    left = Panel(LEFT, TOP, WIDTH, HEIGHT, (LOW, HIGH), (0, 40), False)
    left.axis_x([(k / 50, "%g" % (20 * k)) for k in range(-1, 6)], "gap, mm")
    left.axis_y([(k, "%d" % k) for k in range(0, 41, 10)], "force, N")
    right = Panel(LEFT + APART, TOP, WIDTH, HEIGHT, (LOW, HIGH), (0, 1.2), False)
    right.axis_x([(k / 50, "%g" % (20 * k)) for k in range(-1, 6)], "height, mm")
    right.axis_y([(k / 5, "%g" % (k / 5)) for k in range(7)], "energy, J")
    for k, (key, points) in enumerate(curves.items()):
        title, color, speed, dash = LAWS[key]
        left.curve([(x, f) for x, f in points if f <= 40], color, dash)
        line = TOP + HEIGHT + 64 + 20 * k
        parts.append('<path d="M%d %dh24" stroke="%s" stroke-width="2" stroke-dasharray="%s"/>'
                     % (LEFT, line - 4, color, dash))
        left.text(LEFT + 32, line, title, "start")
        if speed:
            continue
        energy, at = [], 0.0
        for (x, f), (y, g) in zip(points[::-1], points[-2::-1]):   # from the top down
            energy.append((x, at + MASS * G * x))
            at += 0.5 * (f + g) * (x - y)
        right.curve([(x, e) for x, e in energy if e <= 1.2], color, "")
    inward, outward = ([(x, f) for x, f in curves[key] if x >= -0.005] for key in ("in", "out"))
    lost = sum(0.5 * (a[1] + b[1] - c[1] - d[1]) * (b[0] - a[0])
               for a, b, c, d in zip(inward, inward[1:], outward, outward[1:]))
    right.text(LEFT + APART, TOP + HEIGHT + 64,
               "alpha 1.5: %.2f J lost from 100 to -5 mm and back" % lost, "start")
    return parts + left.parts + right.parts


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: damped_laws.py PICTURE.svg")
    curves = {}
    for key, (title, _, speed, _) in LAWS.items():
        law = title.split(",")[0]
        xs = heights(law)
        curves[key] = list(zip(xs, ask([query(law, x, speed) for x in xs])))
    write(sys.argv[1], LEFT + APART + WIDTH + 30, TOP + HEIGHT + 70 + 20 * len(LAWS), draw(curves))


if __name__ == "__main__":
    main()
