"""models/finger/baselines.py with few simulations."""
import csv
import json
import sys

import numpy as np
import pytest

import dijoco
from mj import mujoco

if not hasattr(mujoco, "__version__"):
    pytest.skip("the package mujoco is not installed", allow_module_level=True)

BUDGET = 40


class Draws:
    """In place of CMA-ES: the same calls."""

    def __init__(self, mean, sigma, seed, population_size):
        self.mean, self.sigma, self.size = mean, sigma, population_size
        self.draw, self.told = np.random.default_rng(seed), 0
        Draws.last = self

    def ask(self):
        return self.mean + self.sigma * self.draw.normal(size=self.mean.size)

    def tell(self, solutions):
        assert len(solutions) == self.size == 20
        self.told += 1


@pytest.fixture
def baselines(root, monkeypatch):
    if not (root / "models/finger/baselines.py").exists():
        pytest.skip("not in the source tree")
    monkeypatch.syspath_prepend(str(root / "models/finger"))
    monkeypatch.setattr(sys, "path", sys.path[:])
    import baselines as module
    yield module
    for name in ("baselines", "draw"):
        sys.modules.pop(name, None)


def run(module, monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["baselines.py", *map(str, arguments)])
    module.main()


def rows(path):
    with open(path, newline="", encoding="utf-8") as f:
        return [(int(r["simulations"]), float(r["loss"])) for r in csv.DictReader(f)]


def test_runs(baselines, root, tmp_path, monkeypatch, capsys):
    """Counts, lowest losses by then, and that the loss is that of the point that is kept."""
    monkeypatch.setattr(baselines, "find_cmaes", lambda: Draws)
    words = ("--out", tmp_path, "--tasks", "rotate", "--seeds", 2, "--simulations", BUDGET)
    run(baselines, monkeypatch, *words, "--pictures", tmp_path)
    assert Draws.last.told == 1    # the start, 20, and 19 of a second generation
    first = {}
    for method in ("ours", "controls", "cmaes", "es"):
        for seed in range(2):
            path = tmp_path / ("rotate_%s_%d.csv" % (method, seed))
            counts, losses = map(np.array, zip(*rows(path)))
            assert counts[0] == 1 and np.all(np.diff(counts[:-1]) > 0) and counts[-1] <= BUDGET
            assert np.all(np.diff(losses[:-1]) < 0) and losses[-1] == losses[-2]
            end = json.loads(path.with_suffix(".json").read_text())
            assert (end["simulations"], end["loss"]) == (counts[-1], losses[-1])
            assert end["stop"] == "simulations" and counts[-1] == BUDGET
            first[method, seed] = losses[0]
            task = baselines.load("rotate")
            if method == "controls":
                task["variables"] = [{"name": "action"}]
            design = dijoco.Design(task, baselines.FOLDER)
            assert design.evaluate(np.array(end["x"]), False)[0] == end["loss"]
            assert np.all(design.lower <= end["x"]) and np.all(end["x"] <= design.upper)
    start = dijoco.grad(str(root / "models/finger/rotate/task.json"))["loss"]
    assert all(first[k] == start for k in first if k[1] == 0 or k[0] in ("cmaes", "es"))
    assert len({start, first["ours", 1], first["controls", 1]}) == 3
    assert rows(tmp_path / "rotate_ours_0.csv")[-1] < rows(tmp_path / "rotate_es_0.csv")[-1]
    assert "finger_rotate" in "".join(p.name for p in tmp_path.glob("*.svg"))
    capsys.readouterr()
    run(baselines, monkeypatch, *words)   # all is there
    assert capsys.readouterr().out == ""


def test_stages(baselines, tmp_path, monkeypatch):
    """Simulations of all stages count, losses of the last alone."""
    task = baselines.load("rotate")
    soft = {"set": {"contact/penalty/scale": [0.01]}, "iterations": 3}
    task["optimizer"]["stages"] = [soft, dict(soft, set={"contact/penalty/scale": [1]})]
    monkeypatch.setattr(baselines, "load", lambda name: task)
    run(baselines, monkeypatch, "--out", tmp_path, "--tasks", "rotate", "--seeds", 1,
        "--simulations", 1000, "--methods", "ours")
    found = rows(tmp_path / "rotate_ours_0.csv")
    assert found[0][0] == 1 and found[1][0] > 4
    end = json.loads((tmp_path / "rotate_ours_0.json").read_text())
    design = dijoco.Design(baselines.load("rotate"), baselines.FOLDER)
    assert design.evaluate(np.array(end["x"]), False)[0] == end["loss"] == found[-1][1]


def test_without_cmaes(baselines, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(baselines, "find_cmaes", lambda: None)
    run(baselines, monkeypatch, "--out", tmp_path, "--tasks", "rotate", "--seeds", 1,
        "--simulations", 5, "--methods", "cmaes", "es")
    assert "python3-cmaes" in capsys.readouterr().err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["rotate_es_0.csv", "rotate_es_0.json"]


def test_cmaes(baselines, tmp_path, monkeypatch):
    if baselines.find_cmaes() is None:
        pytest.skip("python3-cmaes is not installed")
    run(baselines, monkeypatch, "--out", tmp_path, "--tasks", "rotate", "--seeds", 1,
        "--simulations", BUDGET, "--methods", "cmaes")
    assert rows(tmp_path / "rotate_cmaes_0.csv")[-1][0] == BUDGET


def test_table(baselines, tmp_path):
    """Medians and ranges, from which simulation on ours is the lowest; the rest of a file stays."""
    for method, least in (("ours", 10), ("controls", 20), ("es", 30)):
        for seed in range(3):
            start = 100 + seed
            text = "simulations,loss,seconds\n1,%d,0\n%d,%d,0\n9,%d,0\n" % (
                start, least // 3, least + seed, least + seed)
            (tmp_path / ("flip_%s_%d.csv" % (method, seed))).write_text(text)
            (tmp_path / ("flip_%s_%d.json" % (method, seed))).write_text('{"budget": 12}')
    made = baselines.table(tmp_path)
    assert made[2] == ("| `flip` | 12 | 11 (10-12; 3 seeds) | 21 (20-22; 3 seeds) |  |"
                       " 31 (30-32; 3 seeds) | 3 |")
    page = tmp_path / "page.md"
    page.write_text("a\n\n" + made[0] + "\n| old |\n\nb | c\n")
    baselines.put_table(page, made)
    assert page.read_text() == "a\n\n" + "\n".join(made) + "\n\nb | c\n"
