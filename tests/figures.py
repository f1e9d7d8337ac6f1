#!/usr/bin/env python3
"""README.md and docs have the figures that docs/figures records, and README has no others.

First proves, on a small tree, that a figure that differs is found.
"""
import importlib.util
import json
import os
import re
import sys

sys.dont_write_bytecode = True
SOURCE = os.environ["DIJOCO_SOURCE"]
spec = importlib.util.spec_from_file_location(
    "figures", os.path.join(SOURCE, "scripts", "figures.py"))
figures = importlib.util.module_from_spec(spec)
spec.loader.exec_module(figures)

# What a program measures, in prose: a number with a unit of time, a share, or "N times as".
MEASURED = re.compile(r"\b\d[\d.]*(?:e-?\d+)? (?:us|ms|ns|MiB)\b|\b\d[\d.]*e-\d+\b|\d ?%|"
                      r"\b\d[\d.]* times (?:as|slower|faster|longer)")


def prose_figures(text):
    """Lines outside of blocks and of code that have such a number."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group())  # noqa: E731
    for pattern in (r"<!-- figures: .*?<!-- end -->", r"```.*?```"):
        text = re.sub(pattern, blank, text, flags=re.S)
    text = re.sub(r"`[^`\n]*`", blank, text)
    return [(text.count("\n", 0, m.start()) + 1, m.group()) for m in MEASURED.finditer(text)]


def put(root, path, text):
    path = os.path.join(root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def self_test():
    root = os.path.join(os.environ["TMPDIR"], "figures")
    where = {"date": "2026-01-02", "commit": "abc", "processor": "cpu", "compiler": "cc"}
    runs = {"drops": dict(where, figures="drops 7", targets="3 of 3", seconds=1),
            "gradient_honesty": dict(where, figures="error 1", targets="1 of 2", seconds=1)}
    timing = dict(where, unit="us", ours=12.5, peer_name="mj_step", peer=25, ratio=0.5, note="")
    marks = "<!-- figures: %s -->\n<!-- end -->\n"
    put(root, "docs/figures/validate.json", json.dumps(runs))
    alone = dict(timing, peer_name="-", peer="nan", ratio="nan")   # as the command writes them
    put(root, "docs/figures/bench.json", json.dumps(dict(
        {name: timing for name in (*figures.SPEED, *figures.TRANSITION)}, other=alone)))
    put(root, "docs/figures/gradient_honesty.txt", figures.told(where) + "\n\nx\n")
    put(root, "validation/claims.txt", "drops: falls\ngradient_honesty: is honest\n")
    put(root, "docs/a.md", "".join(marks % n for n in ("validation", "reports", "bench")))
    put(root, "README.md", "".join(marks % n for n in ("checked", "speed", "transition", "mujoco")))
    wrong = []

    def expect(text, found):
        if not any(text in line for line in found):
            wrong.append("self-test: misses %r in %r" % (text, found))

    expect("renews its figures", figures.check(root))
    if figures.write(root) or figures.check(root):
        wrong.append("self-test: %r" % figures.check(root))
    if "| other | 12.5 us |  |  |  |" not in figures.read(root, "docs/a.md"):
        wrong.append("self-test: a timing without a peer")
    good = figures.read(root, "README.md")
    for there, other in (("2 runs are recorded; 2 met", "2 runs are recorded; 1 met"),
                         ("12.5 us", "12.6 us")):
        if there not in good:
            wrong.append("self-test: %r is not written" % there)
        put(root, "README.md", good.replace(there, other))
        expect("README.md:", figures.check(root))
    put(root, "README.md", good.replace("figures: speed", "figures: sped"))
    expect("no figures sped", figures.check(root))
    put(root, "README.md", good.replace("<!-- end -->", "", 1))
    expect("without an end", figures.check(root))
    put(root, "README.md", good)
    put(root, "docs/figures/validate.json", json.dumps(dict(runs, drops=dict(
        runs["drops"], figures="drops 9", targets="MISS: 2 of 3"))))
    expect("renews its figures", figures.check(root))
    put(root, "docs/figures/gradient_honesty.txt", "another\n")
    expect("is not of the run", figures.check(root))
    put(root, "docs/figures/bench.json", json.dumps({"other": timing}))
    expect("no timing %s" % list(figures.SPEED)[0], figures.check(root))
    for text in ("takes 12 us", "within 2e-9", "5% of it", "2.2 times as long"):
        if not prose_figures(text) or prose_figures("`%s`" % text):
            wrong.append("self-test: %r passes" % text)
    return wrong


found = self_test() + figures.check(SOURCE)
found += ["README.md:%d: %s: no command writes it" % line
          for line in prose_figures(figures.read(SOURCE, "README.md"))]
print("\n".join(found) or "they are those that are recorded")
sys.exit(1 if found else 0)
