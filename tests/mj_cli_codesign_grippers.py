#!/usr/bin/env python3
"""The grippers of models/codesign: files as their generator writes them, sizes, starts that drop
what they should hold, ten iterations of each or more, results that stock MuJoCo loads."""
import os
import subprocess
import sys
import unittest

from common import cli

FOLDER = os.path.join(cli.SOURCE, "models", "codesign")
GENERATOR = os.path.join(FOLDER, "generate_grippers.py")

# Of each: hulls that are designed, their vertices, ties, steps of a run, and what the terms
# `relative` come to where objects are dropped, at least, one a scene.
TASKS = {"single_jaw": (156, 156 * 8 + 2 * 287, 287, 480, [0.1]),
         "parallel_jaw": (312, 2 * (156 * 8 + 2 * 287), 574, 180, [0.3] * 4),
         "three_finger": (24, 24 * 10, 27, 200, [0.15] * 9)}
FILES = ["task.json", "cage_coarse.json", "cage_fine.json"]


class Grippers(cli.Case):
    def load(self, name, file="task.json"):
        return cli.load(os.path.join(FOLDER, name, file))

    def test_files(self):
        """Those that are stored are those that are written."""
        with open(GENERATOR, encoding="utf-8") as f:
            copy = self.write("generate_grippers.py", f.read())
        subprocess.run([sys.executable, copy], check=True)
        for name in TASKS:
            for file in sorted(os.listdir(os.path.join(FOLDER, name))):
                want = cli.read(os.path.join(FOLDER, name, file))
                with open(self.path(os.path.join(name, file)), encoding="utf-8") as f:
                    self.assertEqual(f.read(), want, (name, file))

    def test_sizes(self):
        for name, (hulls, vertices, ties, steps, _) in TASKS.items():
            task = self.load(name)
            self.assertEqual(len(task["connect"]), ties, name)
            self.assertEqual(task["horizon"], steps, name)
            names = [v["name"] for v in task["variables"]][-1]
            names = names if isinstance(names, list) else [names]
            scene = cli.read(os.path.join(FOLDER, name, "scene.xml"))
            count = points = 0
            for mesh in scene.split('<mesh name="')[1:]:
                if any(mesh.startswith(n.split("/")[1].rstrip("*")) for n in names):
                    count += 1
                    points += len(mesh.split('vertex="')[1].split('"')[0].split()) // 3
            self.assertEqual((count, points), (hulls, vertices), name)

    def test_starts(self):
        """The start drops every object, with every parametrisation the same."""
        for name, (*_, least) in TASKS.items():
            losses = []
            for file in FILES:
                run = self.run_json("grad", os.path.join(FOLDER, name, file))
                losses.append(run["loss"])
                terms = [t["value"] for t in run["terms"] if t["type"] == "relative"]
                for value, bound in zip(terms[-len(least):], least):
                    self.assertGreater(value, bound, name)
            self.assertLess(max(losses) - min(losses), 1e-9 * losses[0], name)

    def iterate(self, name):
        out = self.path(name)
        stages = len(self.load(name)["optimizer"].get("stages", [None]))
        each = -(-10 // stages)
        self.run_json("optimize", os.path.join(FOLDER, name, "task.json"), "--iterations",
                      str(each), "--out", out)
        rows = cli.rows(os.path.join(out, "history.csv"))
        losses = [float(row["loss"]) for row in rows]
        self.assertEqual(len(rows), (each + 1) * stages)
        self.assertLess(min(losses), losses[0])
        self.assertEqual(rows[0]["genus"], "0")
        for file in sorted(os.listdir(out)):
            if file.startswith("scene"):
                self.run_json("simulate", os.path.join(out, file), "--engine", "mujoco", "--time",
                              "0.05")

    def test_single_jaw(self):
        self.iterate("single_jaw")

    def test_parallel_jaw(self):
        self.iterate("parallel_jaw")

    def test_three_finger(self):
        self.iterate("three_finger")


if __name__ == "__main__":
    unittest.main()
