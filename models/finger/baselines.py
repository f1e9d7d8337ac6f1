#!/usr/bin/env python3
"""Designs and controls of the finger tasks by four methods: `baselines.py --out DIR`.

ours      design and controls by the task's own optimizer, L-BFGS-B with gradients
controls  controls alone, likewise
cmaes     CMA-ES with a population of 20 (Debian's python3-cmaes), design and controls
es        (1+1)-ES with the one-fifth rule, design and controls

A loss counts as one simulation, and so does a loss with its gradient. DIR/TASK_METHOD_SEED.csv
has the lowest loss by simulations and seconds of the processor, .json how the run ended, and where.
Runs that are there are not run again: a command that was stopped goes on when it is given again. Of
what is there --pictures FOLDER draws FOLDER/finger_TASK.svg, and --table FILE renews the table of
results in FILE. --designs FILE draws starts and results of `dijoco optimize`, which runs into DIR.

Of `ours` and `controls` seed 0 starts at the task's own values; others a little off: what varies is
moved by up to a twentieth of its range, evenly drawn, controls alike for both. They have as many
iterations and `restarts` as there are simulations (of stages the last one; others have no
restarts). `cmaes` and `es` start at the task's own values with deviations of a tenth of each range,
whose ends are mirrors. Where a task has stages losses count in the last one, simulations in all.

Needs numpy and MuJoCo's package (environments of scripts/python_env.sh have both) and the tree's
library.
"""
import argparse
import concurrent.futures
import csv
import importlib.util
import io
import json
import math
import multiprocessing
import os
import pathlib
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
sys.path += [str(ROOT / "python"), str(ROOT / "scripts")]

import numpy as np  # noqa: E402
import dijoco  # noqa: E402
import dijoco.file  # noqa: E402

TASKS = {"reach": 10000, "rotate": 10000, "flip": 10000, "assemble": 5000}   # and simulations
DEBIAN = pathlib.Path("/usr/lib/python3/dist-packages/cmaes/__init__.py")
OFF = 0.05                   # of a range: how far starts of gradients are moved
SIGMA, LEAST = 0.1, 1e-4     # of a range: first deviation; below LEAST (1+1)-ES begins anew with it
POPULATION = 20


def save(path, text):
    with dijoco.file.File(str(path)) as f:
        f.write(text.encode())


def load(name):
    with open(FOLDER / name / "task.json", encoding="utf-8") as f:
        return dict(json.load(f), scene="%s/scene.xml" % name)


class Spent(Exception):
    """All simulations are done."""


class Count:
    """Simulations done of `most`, and the lowest loss by then."""

    def __init__(self, most):
        self.most, self.n, self.best, self.x = most, 0, math.inf, None
        self.rows, self.start = [], time.process_time()

    def seconds(self):
        return time.process_time() - self.start

    def note(self, n, loss, x):
        """n simulations are done now; the last led to this loss."""
        self.n = min(n, self.most)
        if n <= self.most and loss < self.best:
            self.best, self.x = loss, np.array(x)
            self.rows.append((n, loss, self.seconds()))


# ---- methods: (task, seed, count) -> why it ended --------------------------------------------

def begin(task, names, seed):
    """The task with the free vectors `names` as its variables, at the start of this seed."""
    task = dict(task, variables=[{"name": name} for name in names], free=dict(task["free"]))
    draw = np.random.default_rng(seed)
    for name, free in task["free"].items():
        if name not in names or seed == 0:
            continue
        x = np.array(free["value"], float)
        low, high = (np.broadcast_to(free[end], x.shape) for end in ("min", "max"))
        x = np.clip(x + OFF * (high - low) * draw.uniform(-1, 1, x.size), low, high)
        task["free"][name] = dict(free, value=x.tolist())
    return task


def unlimited(optimizer, most):
    """The optimizer with as many restarts, and iterations in its last stage, as simulations."""
    optimizer = dict(optimizer, restarts=most)
    if "stages" not in optimizer:
        return dict(optimizer, iterations=most)
    *stages, last = optimizer["stages"]
    return dict(optimizer, stages=stages + [dict(last, iterations=most)])


def descend(task, count):
    """Stages before the last have no restarts, and their losses do not count; the last, or a run
    without stages, has as many iterations and restarts as there are simulations."""
    optimizer, spent = task["optimizer"], 0
    *before, last = optimizer.get("stages", [{}])
    if before:
        first = dijoco.Design(dict(task, optimizer=dict(optimizer, stages=before, restarts=0)), FOLDER)
        count.note(1, first.evaluate(first.x0, False)[0], first.x0)
        result = dijoco.optimize(first, callback=lambda *_: first.evaluations < count.most)
        spent = first.evaluations
        optimizer = dict(optimizer, stage=len(before), start=result["x"].tolist(),
                         stages=before + [dict(last, iterations=count.most)])
    design = dijoco.Design(dict(task, optimizer=dict(optimizer, restarts=count.most,
                                                     iterations=count.most)), FOLDER)

    def told(iteration, loss, x):
        count.note(spent + design.evaluations, loss, x)
        return spent + design.evaluations < count.most

    stop = dijoco.optimize(design, callback=told)["stop"]
    return "simulations" if stop == "callback" else stop


def ours(task, seed, count):
    return descend(begin(task, ["action", "cage"], seed), count)


def controls(task, seed, count):
    return descend(begin(task, ["action"], seed), count)


def unit(task, count):
    """The loss over the unit cube, and the task's own values there."""
    design = dijoco.Design(task, FOLDER)
    lower, size = design.lower, design.upper - design.lower

    def loss(y):
        if count.n == count.most:
            raise Spent
        x = lower + size * y
        try:
            value = design.evaluate(x, False)[0]
        except dijoco.Error:     # no design, or a run that broke down
            value = math.inf
        count.note(count.n + 1, value, x)
        return value
    return loss, (design.x0 - lower) / size


def fold(y):
    """y where the ends of 0..1 are mirrors."""
    return 1 - abs(1 - y % 2)


def find_cmaes():
    """CMA of python3-cmaes, also where this interpreter does not see Debian's packages; or None."""
    if "cmaes" not in sys.modules and importlib.util.find_spec("cmaes") is None:
        if not DEBIAN.exists():
            return None
        spec = importlib.util.spec_from_file_location("cmaes", DEBIAN)
        sys.modules["cmaes"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["cmaes"])
    return importlib.import_module("cmaes").CMA


def cmaes(task, seed, count):
    loss, start = unit(task, count)
    loss(start)
    search = find_cmaes()(mean=start, sigma=SIGMA, seed=seed, population_size=POPULATION)
    while True:
        asked = [search.ask() for _ in range(POPULATION)]
        search.tell([(y, loss(fold(y))) for y in asked])


def es(task, seed, count):
    loss, parent = unit(task, count)
    draw, sigma, best = np.random.default_rng(seed), SIGMA, loss(parent)
    rate = 1 / math.sqrt(parent.size + 1)
    while True:
        child = fold(parent + sigma * draw.normal(size=parent.size))
        value = loss(child)
        if value <= best:
            parent, best = child, value
            sigma *= math.exp(rate)
        else:
            sigma *= math.exp(-rate / 4)     # one success in five keeps it
        if sigma < LEAST:
            sigma = SIGMA


METHODS = {"ours": ours, "controls": controls, "cmaes": cmaes, "es": es}
TITLES = {"ours": "design and controls", "controls": "controls alone", "cmaes": "CMA-ES",
          "es": "(1+1)-ES"}


# ---- running ---------------------------------------------------------------------------------

def stem(out, name, method, seed):
    return str(out / ("%s_%s_%d" % (name, method, seed)))


def read(out, name, method, seed):
    """What a run's .json says, or None."""
    try:
        with open(stem(out, name, method, seed) + ".json", encoding="utf-8") as f:
            return json.load(f)
    except FileNotFoundError:
        return None


def run(out, name, method, seed, most):
    count = Count(most)
    try:
        stop = METHODS[method](load(name), seed, count)
    except Spent:
        stop = "simulations"
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["simulations", "loss", "seconds"])
    for n, loss, seconds in count.rows + [(count.n, count.best, count.seconds())]:
        rows.writerow([n, repr(float(loss)), "%.3f" % seconds])
    path = stem(out, name, method, seed)
    save(path + ".csv", text.getvalue())
    save(path + ".json", json.dumps(
        {"task": name, "method": method, "seed": seed, "budget": most, "simulations": count.n,
         "loss": float(count.best), "stop": stop, "seconds": count.seconds(),
         "x": count.x.tolist()}))
    return "%s_%s_%d: %.6g after %d simulations, %.0f s (%s)" % (
        name, method, seed, count.best, count.n, count.seconds(), stop)


def run_all(args):
    """All that is not there, seed by seed."""
    jobs = [(args.out, name, method, seed, args.simulations or TASKS[name])
            for seed in range(args.seeds) for name in args.tasks for method in args.methods]
    jobs = [job for job in jobs if (read(*job[:4]) or {}).get("budget") != job[4]]
    if args.processes == 1:
        for job in jobs:
            print(run(*job), flush=True)
        return
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(args.processes, mp_context=spawn) as pool:
        for done in concurrent.futures.as_completed([pool.submit(run, *job) for job in jobs]):
            print(done.result(), flush=True)


# ---- results ---------------------------------------------------------------------------------

def at(path, n):
    """The lowest loss by n simulations (an array) of a run, from its CSV."""
    done, loss = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)[:, :2].T
    return loss[np.searchsorted(done, n, side="right") - 1]


def results(out, name):
    """{method: lowest losses by 1, 2... simulations, a row for each seed} of what is there, up to
    the simulations of all."""
    found = {method: sorted(out.glob("%s_%s_*.csv" % (name, method))) for method in METHODS}
    budgets = [json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))["budget"]
               for paths in found.values() for path in paths]
    n = np.arange(1, min(budgets, default=0) + 1)
    return {method: np.array([at(path, n) for path in paths])
            for method, paths in found.items() if paths and n.size}


def lowest_from(medians):
    """Simulations from which on the first of these curves is below all others, or None."""
    above = np.flatnonzero(medians[0] >= np.min(medians[1:], axis=0))
    first = above[-1] + 1 if above.size else 0
    return first + 1 if first < len(medians[0]) else None


def short(loss):
    return "%.4g" % loss if loss < 1e4 else "%.0f" % loss


def cell(values):
    """Median and range at the end."""
    ends = values[:, -1]
    if len(ends) == 1:
        return "%s (1 seed)" % short(ends[0])
    seeds = "" if len(ends) == 5 else "; %d seeds" % len(ends)
    return "%s (%s-%s%s)" % (short(np.median(ends)), short(ends.min()), short(ends.max()), seeds)


def table(out):
    """Rows of the table of results."""
    rows = ["| | simulations | %s | ours lowest from |" % " | ".join(TITLES.values()),
            "|%s" % ((len(TITLES) + 3) * "---|")]
    for name in TASKS:
        found = results(out, name)
        if "ours" not in found:
            continue
        medians = [np.median(values, axis=0) for values in found.values()]
        lowest = lowest_from(medians) if len(medians) > 1 else None
        rows.append("| `%s` | %d | %s | %s |" % (
            name, len(medians[0]),
            " | ".join(cell(found[m]) if m in found else "" for m in METHODS), lowest or "nowhere"))
    return rows


def put_table(path, rows):
    """Replaces the table that begins with the same row."""
    lines = path.read_text(encoding="utf-8").split("\n")
    first = lines.index(rows[0])
    end = next(k for k in range(first, len(lines)) if not lines[k].startswith("|"))
    save(path, "\n".join(lines[:first] + rows + lines[end:]))


def draw(args):
    if not args.pictures and not args.designs:
        return
    import draw as pictures  # pylint: disable=import-outside-toplevel
    for name in args.tasks if args.pictures else []:
        found = results(args.out, name)
        if found:
            pictures.draw_losses(args.pictures / ("finger_%s.svg" % name), name, found, TITLES)
    if args.designs:
        pictures.draw_designs(args.designs, args.out)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--out", metavar="DIR", type=pathlib.Path, required=True)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--seeds", metavar="N", type=int, default=5, help="0 to N-1 (default 5)")
    parser.add_argument("--simulations", metavar="N", type=int,
                        help="of a run (default 10000, assemble 5000)")
    parser.add_argument("--processes", metavar="N", type=int, default=1, help="at once (default 1)")
    parser.add_argument("--pictures", metavar="FOLDER", type=pathlib.Path)
    parser.add_argument("--designs", metavar="FILE.svg", type=pathlib.Path)
    parser.add_argument("--table", metavar="FILE", type=pathlib.Path)
    return parser.parse_args()


def main():
    args = parse()
    if "cmaes" in args.methods and find_cmaes() is None:
        print("baselines: without CMA-ES, for which Debian's python3-cmaes is missing "
              "(sh scripts/setup.sh python3-cmaes)", file=sys.stderr)
        args.methods.remove("cmaes")
    args.out.mkdir(parents=True, exist_ok=True)
    run_all(args)
    draw(args)
    if args.table:
        put_table(args.table, table(args.out))


if __name__ == "__main__":
    main()
