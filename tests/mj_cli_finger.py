#!/usr/bin/env python3
"""The finger tasks: files as their generator writes them, published start losses, certified
gradients, first iterations, runs in stages."""
import json
import os
import random
import re
import signal
import subprocess
import sys
import unittest

from common import cli, interrupt

FOLDER = os.path.join(cli.SOURCE, "models", "finger")
GENERATOR = os.path.join(FOLDER, "generate.py")
FINGER = "palm knuckle joint phalanx joint phalanx joint phalanx tip".split()

# Loss at the start as published, and how near ours is to it: the first two follow from geometry.
STARTS = {"reach": (3733.1, 1e-3), "rotate": (4466.2, 1e-3), "flip": (3992, 1e-2)}
# Variables of action and cage.
SIZES = {"reach": (120, 9), "rotate": (240, 9), "flip": (180, 9), "assemble": (800, 17),
         "double_pendulum": (200, 0), "finger_torque": (300, 0)}
# Iterations after which those touch something that do not by themselves.
TOUCHING = {"rotate": 4, "assemble": 2}
# Steps of flick whose gradient is certified: the box has been hit and slides.
SHORT = 400
# Iterations that are run, of assemble in each stage.
ITERATIONS = {"assemble": 1, "flick": 3}


def load(name):
    task = cli.load(os.path.join(FOLDER, name, "task.json"))
    task["scene"] = os.path.join(FOLDER, name, "scene.xml")
    if "ctrl" in task:
        task["ctrl"] = os.path.join(FOLDER, name, task["ctrl"])
    return task


class Finger(cli.Case):
    def generate(self, *arguments):
        run = subprocess.run([sys.executable, GENERATOR, *arguments], capture_output=True,
                             text=True, check=False)
        return run.returncode, run.stderr

    def grad(self, task, *arguments):
        return self.run_json("grad", self.write("t.json", json.dumps(task)), *arguments)

    def test_files(self):
        """Those that are stored are those that are written."""
        copy = self.path("generate.py")
        text = cli.read(GENERATOR)
        self.write("generate.py", text)
        subprocess.run([sys.executable, copy, "--all"], check=True)
        for name in list(SIZES) + ["flick"]:
            for file in ("scene.xml", "task.json"):
                want = cli.read(os.path.join(FOLDER, name, file))
                with open(self.path(os.path.join(name, file)), encoding="utf-8") as f:
                    self.assertEqual(f.read(), want, (name, file))

    def test_starts(self):
        for name, (published, part) in STARTS.items():
            loss = self.grad(load(name))["loss"]
            self.assertLess(abs(loss - published), part * published, name)

    def test_sizes(self):
        for name, (action, cage) in SIZES.items():
            task = load(name)
            self.assertEqual(len(task["free"]["action"]["value"]), action, name)
            self.assertEqual(len(task["free"].get("cage", {"value": []})["value"]), cage, name)
            scene = cli.read(os.path.join(FOLDER, name, "scene.xml"))
            for points in scene.split('vertex="')[1:]:
                count = len(points.split('"')[0].split()) / 3
                self.assertTrue(5 <= count <= 60, (name, count))

    def random_point(self, name):
        """Controls and a design drawn at random, of tasks that touch nothing then about those of
        their first iterations."""
        task, draw = load(name), random.Random(name)
        if name in TOUCHING:
            path = self.write("t.json", json.dumps(task))
            self.run_json("optimize", path, "--iterations", str(TOUCHING[name]), "--out",
                          self.path("near"))
            with open(self.path("near/task.json"), encoding="utf-8") as f:
                task["free"] = json.load(f)["free"]
            width = (0.02, 0.01)
        else:
            width = (0.5, 0.1)
        for key, w in zip(("action", "cage"), width):
            if key in task.get("free", {}):
                vector = task["free"][key]
                vector["value"] = [x + draw.uniform(-w, w) for x in vector["value"]]
        if "ctrl" in task:
            task["horizon"] = SHORT
            with open(task["ctrl"], encoding="utf-8") as f:
                head, *rows = f.read().split()
            rows = [[0.9 * float(x) + draw.uniform(-0.1, 0.1) for x in row.split(",")]
                    for row in rows[:SHORT]]
            task["ctrl"] = self.write("c.csv", "\n".join(
                [head, *(",".join(map(str, row)) for row in rows)]) + "\n")
        return task

    def test_coefficients(self):
        """Contact of fingers as published (cgs), told by `inspect` in SI."""
        for name, pair, kn, kt, kd in (("rotate", "tip1_box", 1e6, 5e3, 1e3),
                                       ("flip", "tip1_box", 5e5, 2.5e3, 300),
                                       ("flip", "box_ground", 5e6, 5e3, 300),
                                       ("assemble", "peg_block0", 1e5, 1e3, 1e3)):
            r = self.run_json("inspect", os.path.join(FOLDER, name, "scene.xml"))
            found = [x for x in r["settings"]["own"] if x.get("pair") == pair]
            self.assertEqual(len(found), 1, (name, pair))
            for key, unit, want in (("kn", 1e-3, kn), ("kt", 1e-3, kt), ("kd", 1e-1, kd)):
                self.assertAlmostEqual(found[0][key], want * unit, 9, (name, pair, key))

    def test_gradients(self):
        """Of all tasks, at a point drawn at random, within 1e-6; where contact is part of the task it
        is active there: with friction that slips and with damping."""
        for name in [*SIZES, "flick"]:
            task = self.random_point(name)
            contact = task["contact"]["model"] == "penalty"
            if contact:
                task["variables"].append({"name": "contact/penalty/scale"})
            r = self.grad(task, "--check")
            self.assertEqual(r["status"], "ok", name)
            checks = r["certificate"]
            self.assertEqual(len(checks), len(task["variables"]))
            for c in checks:
                self.assertTrue(c["passed"] and c["relative_error"] <= 1e-6, (name, checks))
            if not contact or name == "reach":
                continue
            self.assertNotEqual(checks[-1]["analytic"], 0, name)
            scene = cli.read(task["scene"])
            for pattern, other in ((r'(?<=friction=")[\d.]+ [\d.]+', "0.1 0.1"),
                                   (r'(?<=data=")([\d.]+ [\d.]+) [\d.]+(?="/>)', r"\1 0")):
                changed = re.sub(pattern, other, scene)
                self.assertNotEqual(changed, scene)
                task["scene"] = self.write("other.xml", changed)
                self.assertNotEqual(self.grad(task)["loss"], r["loss"], (name, pattern))

    def test_iterations(self):
        for name in [*SIZES, "flick"]:
            task = load(name)
            path = self.write("t.json", json.dumps(task))
            iterations = ITERATIONS.get(name, 10)
            out = self.path("out_" + name)
            r = self.run_json("optimize", path, "--iterations", str(iterations), "--out", out)
            self.assertLess(r["loss_last"], r["loss_first"], name)
            self.assertIsNotNone(r["replay"], (name, r))   # MuJoCo takes the design
            again = self.run_json("grad", os.path.join(out, "task.json"))
            self.assertEqual(again["loss"], r["loss_last"], name)
            stages = task["optimizer"].get("stages")
            rows = cli.rows(os.path.join(out, "history.csv"))
            if not stages:
                self.assertNotIn("stage", rows[0])
                continue
            self.assertEqual(sorted({int(x["stage"]) for x in rows}), list(range(len(stages))))
            for k in range(len(stages)):
                steps = [int(x["iteration"]) for x in rows if int(x["stage"]) == k]
                self.assertEqual(steps, list(range(iterations + 1)))

    def test_structures(self):
        """Two to four phalanges: that many lengths, and a width of each joint between two."""
        for n in (2, 3, 4):
            words = ["palm", "knuckle"] + n * ["joint", "phalanx"] + ["tip"]
            code, error = self.generate(*words, "--out", self.path(f"f{n}"))
            self.assertEqual((code, error), (0, ""))
            task = cli.load(self.path(f"f{n}/task.json"))
            self.assertEqual(len(task["free"]["cage"]["value"]), n - 1 + 4 + n)
            r = self.run_json("grad", self.path(f"f{n}/task.json"))
            self.assertEqual(r["status"], "ok")

    def test_neighbours(self):
        """Sections that neighbours share are scaled alike, and end where the next begins."""
        maps = [m for m in load("reach")["maps"] if m["type"] == "taper"]
        by_body = {m["body"]: m for m in maps}
        self.assertEqual(by_body["phalanx1"]["y1"], by_body["joint2"]["y0"])
        self.assertEqual(by_body["joint2_end"]["y1"], by_body["phalanx2"]["y0"])
        self.assertEqual(by_body["phalanx3"]["z1"], by_body["tip1"]["z0"])
        self.assertEqual(by_body["phalanx3"]["y1"], by_body["tip1"]["y0"])
        self.assertNotIn("palm", by_body)
        for k in (1, 2, 3):
            self.assertEqual(len(by_body[f"phalanx{k}"]["length"]), 1)

    def test_refused(self):
        for words, what in ((["knuckle"], "begins with its palm"),
                            (["palm", "leg", "tip"], "'leg' is none of"),
                            (["palm", "knuckle"], "ends with its tip"),
                            (["palm", "knuckle", "tip", "palm", "tip"], "a palm is the first"),
                            (["palm"] + 3 * ["knuckle", "tip"], "two ends")):
            code, error = self.generate(*words, "--out", self.path("x"))
            self.assertEqual(code, 2)
            self.assertIn(what, error)
            self.assertFalse(os.path.exists(self.path("x")))


class Stages(interrupt.Case):
    def test_interrupted(self):
        """Ended in its second stage, a run goes on with the bits of one that was not."""
        task = load("finger_torque")
        task["optimizer"] = {"type": "adam", "rate": 0.05, "stages": [
            {"set": {"joint/*/damping": [0.002]}, "iterations": 15},
            {"set": {"joint/*/damping": [0.001]}, "iterations": 800}]}
        path = self.write("t.json", task)
        whole = self.run_json("optimize", path, "--out", self.path("whole"))
        out = self.path("part")
        t = interrupt.Terminal("optimize", path, "--out", out, "--json")
        t.wait_for(r"stage 2 of 2, iteration [1-9]\d* of 800, loss \d")
        t.run.send_signal(signal.SIGINT)
        code, text = t.finish()
        r = json.loads(text)
        self.assertEqual((code, r["status"]), (1, "interrupted"))
        part = cli.load(os.path.join(out, "task.json"))
        self.assertEqual(part["optimizer"]["stage"], 1)
        self.assertEqual(len(part["optimizer"]["start"]), 300)
        self.assertEqual(part["set"]["joint/*/damping"], [0.001])
        again = self.run_json("grad", os.path.join(out, "task.json"))
        self.assertEqual(again["loss"], r["loss_last"])
        r = self.run_json("optimize", os.path.join(out, "task.json"), "--out", out)
        self.assertEqual(r["loss_last"], whole["loss_last"])
        done = cli.load(os.path.join(out, "task.json"))
        self.assertNotIn("stage", done["optimizer"])
        self.assertNotIn("start", done["optimizer"])


if __name__ == "__main__":
    unittest.main()
