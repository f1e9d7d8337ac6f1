"""Draws losses of the grippers' variants: python3 draw_grippers.py OUT.svg NAME/VARIANT=FOLDER ...,
FOLDER being what `dijoco optimize` wrote. A panel for each NAME, a line for each variant: the lowest
loss so far by iterations, the loss of each iteration dotted behind it. Where stages set parameters
the lowest is that of the stage, as losses of different parameters are different ones."""
import csv
import json
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "scripts"))
from curves import log_ticks  # noqa: E402  pylint: disable=wrong-import-position
from guide_pictures import Panel, write  # noqa: E402  pylint: disable=wrong-import-position

COLORS = {"task": "#c0392b", "controls": "#2a6f97", "cage_coarse": "#7d3c98", "cage_fine": "#3a7d44"}
WIDTH, HEIGHT, LEFT, TOP, GAP = 300, 190, 70, 30, 90


def read(folder):
    """Losses, the lowest so far."""
    task = json.loads((pathlib.Path(folder) / "task.json").read_text(encoding="utf-8"))
    apart = any("set" in stage for stage in task["optimizer"].get("stages", []))
    with open(pathlib.Path(folder) / "history.csv", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    losses, best = [float(row["loss"]) for row in rows], []
    for k, loss in enumerate(losses):
        fresh = k == 0 or apart and rows[k]["stage"] != rows[k - 1]["stage"]
        best.append(loss if fresh else min(loss, best[-1]))
    return losses, best


def draw(x0, name, curves):
    logs = [math.log10(v) for curve, _ in curves.values() for v in curve if v > 0]
    low, high = math.floor(10 * min(logs)) / 10, math.ceil(10 * max(logs)) / 10
    most = max(len(c) for c, _ in curves.values()) - 1 or 1
    panel = Panel(x0, TOP, WIDTH, HEIGHT, (0, most), (low, high if high > low else low + 1), False)
    panel.text(x0, TOP - 8, name, "start", ' font-weight="bold"')
    panel.axis_x([(i, "%d" % i) for i in (0, most // 2, most)], "iteration")
    panel.axis_y(log_ticks(low, high), "loss")
    for k, (variant, (curve, best)) in enumerate(curves.items()):
        panel.parts.append('<g opacity="0.35">')
        panel.curve([(i, math.log10(max(v, 1e-300))) for i, v in enumerate(curve)], COLORS[variant],
                    "1 2")
        panel.parts.append("</g>")
        panel.curve([(i, math.log10(max(v, 1e-300))) for i, v in enumerate(best)], COLORS[variant])
        y = TOP + HEIGHT + 58 + 18 * k
        panel.parts.append('<path d="M%d %dh22" stroke="%s" stroke-width="2"/>'
                           % (x0, y - 4, COLORS[variant]))
        panel.text(x0 + 28, y, "%s: %.3g" % (variant, best[-1]), "start")
    return panel.parts


def main(path, *runs):
    names = {}
    for run in runs:
        key, folder = run.split("=", 1)
        name, variant = key.split("/")
        names.setdefault(name, {})[variant] = read(folder)
    parts = []
    for k, (name, curves) in enumerate(names.items()):
        parts += draw(LEFT + k * (WIDTH + GAP), name, curves)
    width = LEFT + len(names) * (WIDTH + GAP) - GAP + 20
    write(path, width, TOP + HEIGHT + 60 + 18 * max(map(len, names.values())), parts)


if __name__ == "__main__":
    main(*sys.argv[1:])
