#!/usr/bin/env python3
"""The player in report.html of `optimize`: what it shows is what both engines say, whatever the run
is it has at most 2 MB, its script runs, and stages have names."""
import copy
import csv
import json
import os
import re
import shutil
import subprocess
import unittest

from common import cli

MODELS = os.path.join(cli.SOURCE, "models")
PAGE = os.path.join(cli.SOURCE, "tests/common/player_page.js")
MOST = 2000000
STATES = 5

TASK = {
    "scene": "s.json", "timestep": 0.005, "horizon": 30,
    "initial": {"qvel": [0.4, 0.1, 0, 0, 0, 0.5, 0.2]}, "ctrl": [0.3],
    "loss": [{"type": "position", "body": "box", "target": [0.2, 0, 0.1], "weight": 2}],
    "variables": [{"name": "ctrl", "min": -1, "max": 1}, {"name": "qvel0", "index": [0, 6]}],
    "optimizer": {"type": "adam", "rate": 0.02, "iterations": 2},
}


def data_of(page):
    """The player's data; fails where they are not what the script needs."""
    text = re.search(r'<script type="application/json" id="player-data">(.*?)</script>', page, re.S)
    data = json.loads(text.group(1))
    bodies, geoms, times = data["bodies"], data["geoms"], data["times"]
    moving = sum(b["moves"] for b in bodies)
    assert all(a < b for a, b in zip(times, times[1:])) and times[0] == 0
    assert data["unit"] > 0 and data["turn"] > 0 and 0 <= data["traced"] < len(bodies)
    assert len(data["look"]) == len(data["runs"])
    assert all(0 <= g["body"] < len(bodies) for g in geoms)
    for look in data["looks"]:
        assert len(look) == len(geoms)
        for i, shape in enumerate(look):
            mesh = look[shape.get("like", i)]
            assert shape.get("like", -1) < i and len(shape["pos"]) == 3 and len(shape["quat"]) == 4
            if shape["type"] == "mesh":
                assert mesh["face"] and max(mesh["face"]) < len(mesh["vert"]) / 3
    for run, look in zip(data["runs"], data["look"]):
        assert 0 <= look < len(data["looks"])
        assert 0 < len(run["poses"]) <= len(times) and len(run["touches"]) == len(run["poses"])
        assert len(run["poses"][0]) == 7 * len(bodies)
        assert all(len(p) == 7 * moving for p in run["poses"][1:])
        for touches in run["touches"]:
            assert len(touches) % 8 == 0
            for k in range(0, len(touches), 8):
                assert 0 <= touches[k] < len(data["pairs"]) and 0 <= touches[k + 1] < STATES
    return data


def embed(data):
    return '<script type="application/json" id="player-data">%s</script>' % json.dumps(data)


def force_sums(data, run, frame):
    """Sums of forces by the names of two bodies, on the second in their order; and the largest."""
    sums = {}
    touches = data["runs"][run]["touches"][frame]
    for k in range(0, len(touches), 8):
        a, b = (data["geoms"][g]["body"] for g in data["pairs"][touches[k]])
        f = sums.setdefault((min(a, b), max(a, b)), [0, 0, 0])
        for j in range(3):
            f[j] += (1 if a < b else -1) * touches[k + 5 + j]
    names = [b["name"] for b in data["bodies"]]
    return {(names[a], names[b]): f for (a, b), f in sums.items()}


class Player(cli.Case):
    def optimize(self, task, *arguments, out="out"):
        self.run_json("optimize", task, "--out", self.path(out), *arguments)
        return self.page(out)

    def page(self, out="out"):
        path = self.path(os.path.join(out, "report.html"))
        self.assertLessEqual(os.path.getsize(path), MOST)
        page = cli.read(path)
        self.assertIsNone(re.search(r"https?:|<link|@import|src=|<img", page))
        return page

    def check_forces(self, seconds, bodies):
        """Frames against contacts.csv of `compare` with the written scene."""
        data = data_of(self.page())
        self.run_json("compare", self.path("out/scene.xml"), "--time", seconds, "--keyframe",
                      "optimized", "--ctrl", self.path("out/ctrl.csv"), "--out", self.path("cmp"))
        rows = cli.rows(self.path("cmp/contacts.csv"))
        found = 0
        for run, engine in ((1, "dijoco"), (2, "mujoco")):
            for i, time in enumerate(data["times"]):
                want = {(bodies[int(r["body1"])], bodies[int(r["body2"])]):
                        [float(r[x]) for x in ("fx", "fy", "fz")] for r in rows
                        if r["engine"] == engine and abs(float(r["time"]) - time) < 1e-6 and i > 0}
                have = force_sums(data, run, i)
                scale = max([abs(x) for f in want.values() for x in f], default=1)
                for key in {*want, *have}:
                    for a, b in zip(want.get(key, [0, 0, 0]), have.get(key, [0, 0, 0])):
                        self.assertAlmostEqual(a, b, delta=2e-3 * scale, msg=(engine, time, key))
                    found += 1
        return data, found

    def test_runs(self):
        self.write("s.json", cli.SCENE)
        task = self.write("t.json", TASK)
        page = self.optimize(task)
        data, found = self.check_forces(0.15, ["world", "box", "arm"])
        self.assertGreater(found, 25)
        self.assertEqual([r["name"] for r in data["runs"]], ["Start", "Result", "Result in MuJoCo"])
        self.assertEqual([len(r["poses"]) for r in data["runs"]], [31, 31, 31])
        self.assertAlmostEqual(data["times"][-1], 0.15, places=9)
        self.assertEqual([g["name"] for g in data["geoms"]], ["floor", "cube"])
        self.assertEqual(data["targets"], [[0.2, 0, 0.1]])
        # the place of the box at the end is that of the result's last state
        self.run_json("simulate", self.path("out/scene.xml"), "--time", 0.15, "--keyframe",
                      "optimized", "--ctrl", self.path("out/ctrl.csv"), "--out",
                      self.path("run.csv"))
        with open(self.path("run.csv"), encoding="utf-8") as f:
            last = list(csv.DictReader(f))[-1]
        at = 7 * [b["name"] for b in data["bodies"]].index("box")
        poses = data["runs"][1]["poses"]
        moves = [b["moves"] for b in data["bodies"]]
        later = 7 * sum(moves[:at // 7])
        for k in range(7):
            x = poses[0][at + k] + sum(p[later + k] for p in poses[1:])
            unit = data["unit"] if k < 3 else data["turn"]
            self.assertAlmostEqual(x * unit, float(last["qpos[%d]" % k]), delta=unit)
        self.assertIn("<noscript>", page)
        # bytes do not depend on when it was written
        self.assertEqual(data_of(self.optimize(task, out="again")), data)

    def test_checks_fail(self):
        """What is broken is seen: by the check above, and by the script."""
        self.write("s.json", cli.SCENE)
        data = data_of(self.optimize(self.write("t.json", TASK)))
        data_of(embed(data))

        def broken(change):
            other = copy.deepcopy(data)
            change(other)
            with self.assertRaises((AssertionError, ValueError, KeyError, IndexError)):
                data_of(embed(other))

        broken(lambda d: d["runs"][0]["poses"][3].pop())
        broken(lambda d: d["runs"][0]["poses"].append([]))
        broken(lambda d: d["runs"][1]["touches"][5].append(1))
        broken(lambda d: d["runs"][1]["touches"].pop())
        broken(lambda d: d["pairs"].clear())
        broken(lambda d: d["geoms"].pop())
        broken(lambda d: d["times"].reverse())
        broken(lambda d: d.update(unit=0))
        with self.assertRaises(ValueError):
            data_of(embed(data).replace("}]", "}", 1))

    def test_penalty(self):
        """Points with their states sum up to what compare says of the bodies."""
        with open(os.path.join(MODELS, "finger", "flip", "scene.xml"), encoding="utf-8") as f:
            names = re.findall(r'<body name="(\w+)"', f.read())
        self.optimize(os.path.join(MODELS, "finger", "flip", "task.json"), "--iterations", 2)
        data, found = self.check_forces(0.75, ["world", *names])
        self.assertGreater(found, 300)
        states = [{t for touches in run["touches"] for t in touches[1::8]} for run in data["runs"]]
        self.assertLessEqual({2, 3}, states[1])
        self.assertEqual(states[2], {0})   # of MuJoCo

    def test_surfaces(self):
        """Given surfaces are shown, smooth."""
        path = os.path.join(MODELS, "implicit", "ten_bodies", "task.json")
        data = data_of(self.optimize(path, "--iterations", 1))
        kinds = [(s["type"], s.get("smooth", False)) for s in data["looks"][0]]
        self.assertEqual(len(kinds), 10)
        self.assertGreaterEqual(kinds.count(("mesh", True)), 7)
        self.assertIn(0, {t for touches in data["runs"][1]["touches"] for t in touches[1::8]})

    def test_room(self):
        """A long run of many controls: charts, pictures and player have room together."""
        scene = copy.deepcopy(cli.SCENE)
        scene["actuators"] = [dict(scene["actuators"][0], name="m%d" % i) for i in range(10)]
        scene["keys"] = []
        self.write("s.json", scene)
        ctrl = [[(k % 7 - i) / 20 for i in range(10)] for k in range(9001)]
        task = dict(TASK, horizon=9001, ctrl=ctrl, variables=[{"name": "qvel0", "index": [0]}])
        page = self.optimize(self.write("t.json", task), "--iterations", 1)
        data = data_of(page)
        self.assertLessEqual(len(data["times"]), 302)
        self.assertGreater(len(data["times"]), 150)
        self.assertAlmostEqual(data["times"][-1], 9001 * 0.005, places=3)
        self.assertEqual(page.count("<h3>m"), 8)

    def test_stages(self):
        self.write("s.json", cli.SCENE)
        stages = [{"set": {"geom/cube/friction": [f, 0, 0]}, "iterations": n}
                  for f, n in ((0.5, 2), (0.8, 3))]
        page = self.optimize(self.write("t.json", dict(
            TASK, optimizer={"type": "adam", "rate": 1e-3, "stages": stages})))
        chart = page[page.index("<h3>Loss</h3>"):page.index("<h3>Terms")]
        for word in (">stage 1</text>", ">stage 2</text>", "Stage 1, which sets geom/cube/friction",
                     ": 2 iterations, ", "Stage 2, which sets", ": 3 iterations, "):
            self.assertIn(word, chart)

    @unittest.skipUnless(shutil.which("node"), "needs node")
    def test_script(self):
        """It draws, follows time, keys and the page's address."""
        path = os.path.join(MODELS, "push_arm", "task.json")
        targets = len(data_of(self.optimize(path, "--iterations", 1))["targets"])

        def run(address, *keys, page="out/report.html"):
            done = subprocess.run(["node", PAGE, self.path(page), address, *keys], check=True,
                                  capture_output=True, text=True)
            return json.loads(done.stdout)

        first, right, back, end, playing = run("#t=0.6&play=0", "ArrowRight", "0", "End", " ")
        self.assertEqual(first["clock"], "0.600 of 1.5 s")
        self.assertEqual(len(first["pictures"]), 3)
        self.assertTrue(all(p["colors"] > 20 for p in first["pictures"]))
        self.assertIn("Result: 1 contact point, largest force ", first["said"])
        self.assertGreater(first["pictures"][1]["discs"], targets)
        self.assertNotEqual(first["pictures"][0]["sum"], right["pictures"][0]["sum"])
        self.assertEqual(first["pictures"][0]["sum"], back["pictures"][0]["sum"])
        self.assertEqual(end["clock"], "1.500 of 1.5 s")
        self.assertEqual([first["play"], playing["play"]], ["Play", "Pause"])
        over = run("#t=0.6&play=0&layout=over&points=0&forces=0")[0]["pictures"]
        self.assertEqual(len(over), 1)
        self.assertEqual(over[0]["discs"], 3 * targets)   # of each run
        self.assertEqual(run("#play=1&runs=1")[0]["play"], "Pause")
        page = cli.read(self.path("out/report.html"))
        with open(self.path("broken.html"), "w", encoding="utf-8") as f:
            f.write(page.replace('"poses":', '"pose":'))
        with self.assertRaises(subprocess.CalledProcessError):
            run("", page="broken.html")


if __name__ == "__main__":
    unittest.main()
