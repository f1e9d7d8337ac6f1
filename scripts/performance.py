#!/usr/bin/env python3
"""docs/performance.md: a row for each release, of what `make bench` recorded in docs/figures.

    scripts/performance.py          writes the row of this version, in the place of one that is there
    scripts/performance.py --check  whether the table has this version's row, and it is those figures
"""
import json
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import sbom  # noqa: E402

PAGE = os.path.join(ROOT, "docs", "performance.md")
# Column: (of bench's lines, what of it, format).
COLUMNS = {
    "step / mj_step, humanoid": ("step/humanoid", "ratio", "%.2f"),
    "step / mj_step, four robots": ("step/geomean", "ratio", "%.2f"),
    "mjd_transitionFD / (step + A, B), humanoid": ("step+transition/humanoid", "1/ratio", "%.2f"),
    "the same, four robots": ("step+transition/geomean", "1/ratio", "%.2f"),
    "box pair / mj_geomDistance, warm": ("pair_warm/box_random", "ratio", "%.2f"),
    "stack of 20 / mj_step": ("step/book_stacking", "ratio", "%.2f"),
}


def row():
    with open(os.path.join(ROOT, "docs", "figures", "bench.json"), encoding="utf-8") as file:
        lines = json.load(file)
    cells, commits = [], set()
    for name, what, form in COLUMNS.values():
        record = lines[name]
        cells.append(form % (1 / record["ratio"] if what == "1/ratio" else record["ratio"]))
        commits.add(record["commit"])
    return "| %s | %s | %s | `make bench` at %s, %s |" % (
        sbom.version(), lines["step/humanoid"]["date"], " | ".join(cells),
        ", ".join(sorted(commits)), lines["step/humanoid"]["processor"])


def main():
    with open(PAGE, encoding="utf-8") as file:
        lines = file.read().splitlines()
    mark = "| %s |" % sbom.version()
    head = next(k for k, line in enumerate(lines) if line.startswith("|---"))
    there = [k for k, line in enumerate(lines) if line.startswith(mark)]
    if sys.argv[1:] == ["--check"]:
        found = [lines[k] for k in there]
        if found == [row()]:
            return 0
        print("performance: the row of this version is not what docs/figures has", file=sys.stderr)
        return 1
    for k in there:
        del lines[k]
    lines.insert(head + 1, row())
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
