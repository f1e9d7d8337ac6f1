#!/usr/bin/env python3
"""Co-design of chains, spider and biped: files as their generator writes them, sizes, certified
gradients, first iterations."""
import json
import os
import re
import subprocess
import sys
import unittest

from common import cli

FOLDER = os.path.join(cli.SOURCE, "models", "codesign")
GENERATOR = os.path.join(FOLDER, "generate_walkers.py")
# Bodies that move, actuators, steps, control variables.
TASKS = {"chain_reach": (9 + 16, 2, 250, 4), "spider": (9, 32, 550, 192),
         "biped": (7, 24, 400, 144)}
CAGES = {"cage_coarse.json": 26, "cage_fine.json": 96}
FEET = {"spider": 4, "biped": 2}
ITERATIONS = 10


def load(name, file="task.json"):
    task = cli.load(os.path.join(FOLDER, name, file))
    task["scene"] = os.path.join(FOLDER, name, "scene.xml")
    return task


class Walkers(cli.Case):
    def test_files(self):
        """Those that are stored are those that are written."""
        before = cli.tree(FOLDER)
        out = self.path("out")
        subprocess.run([sys.executable, "-B", GENERATOR, out], check=True)
        for name in TASKS:
            for file in os.listdir(os.path.join(out, name)):
                want = cli.read(os.path.join(FOLDER, name, file))
                with open(os.path.join(out, name, file), encoding="utf-8") as f:
                    self.assertEqual(f.read(), want, (name, file))
        self.assertEqual(cli.tree(FOLDER), before)

    def test_sizes(self):
        for name, (bodies, actuators, horizon, controls) in TASKS.items():
            task = load(name, "controls.json")
            scene = cli.read(task["scene"])
            self.assertEqual(scene.count("<body "), bodies + 2 * (name == "chain_reach"), name)
            self.assertEqual(len(re.findall("<(position|velocity) ", scene)), actuators, name)
            self.assertEqual(task["horizon"], horizon, name)
            total = sum(len(v) if not isinstance(v[0], list) else sum(map(len, v))
                        for v in (f["value"] for f in task["free"].values()))
            self.assertEqual(total, controls, name)
            for foot, vertices in self.feet(scene).items():
                self.assertEqual(vertices, [96, 3], (name, foot))

    @staticmethod
    def feet(scene):
        """Vertices and hulls of each foot."""
        found = {}
        for mesh, text in re.findall(r'<mesh name="(foot_\w+)_\d"[^>]*?vertex="([^"]*)"', scene):
            one = found.setdefault(mesh, [0, 0])
            one[0] += len(text.split()) // 3
            one[1] += 1
        return found

    def test_cages(self):
        for name, feet in FEET.items():
            for file, corners in CAGES.items():
                free = load(name, file)["free"]
                cages = [v["value"] for k, v in free.items() if k.startswith("cage_")]
                self.assertEqual([len(c) for c in cages], feet * [3 * corners], (name, file))

    def test_ties(self):
        """Points that are tied are at the same place at the start."""
        for name in FEET:
            for tie in load(name)["connect"]:
                if "geom" in tie["b"]:
                    a, b = (self.point(name, tie[side]) for side in "ab")
                    self.assertEqual(a, b, tie)

    def point(self, name, place):
        with open(os.path.join(FOLDER, name, "scene.xml"), encoding="utf-8") as f:
            text = re.search(r'<mesh name="%s"[^>]*?vertex="([^"]*)"' % place["geom"],
                             f.read()).group(1).split()
        return text[3 * place["vertex"]:3 * place["vertex"] + 3]

    def test_certificates(self):
        """While the feet touch."""
        for name, steps in (("chain_reach", 80), ("spider", 20), ("biped", 20)):
            task = load(name)
            task.pop("optimizer")
            for term in task["loss"]:
                term.pop("when", None)
            task["horizon"] = steps
            task["variables"] = [v for v in task["variables"] if v["name"] in
                                 ("base", "fl_lift", "br_knee", "l_ankle", "r_roll")
                                 or isinstance(v["name"], list)]
            if name != "chain_reach":
                leg = "l" if name == "biped" else "fl"
                task["variables"].append({"name": "mesh/foot_%s_*/vert" % leg})
            r = self.run_json("grad", self.write("t.json", json.dumps(task)), "--check")
            for one in r["certificate"]:
                self.assertTrue(one["passed"], (name, one))
            self.assertTrue(any(one["analytic"] != 0 for one in r["certificate"]
                                if "mesh" in one["name"] or "body" in one["name"]), name)

    def test_iterations(self):
        """Ten of each lower the loss, and what they write is loaded again."""
        for name in TASKS:
            for file in sorted(os.listdir(os.path.join(FOLDER, name))):
                if not file.endswith(".json"):
                    continue
                task = load(name, file)
                task["optimizer"].pop("stages", None)
                task["optimizer"]["iterations"] = ITERATIONS
                out = self.path(name + file)
                r = self.run_json("optimize", self.write("t.json", json.dumps(task)), "--out", out)
                self.assertLess(r["loss_last"], r["loss_first"], (name, file))
                for scene in (f for f in os.listdir(out) if f.endswith(".xml")):
                    self.run_json("inspect", os.path.join(out, scene))
                again = self.run_json("grad", os.path.join(out, "task.json"))
                # Scenes have vertices in single precision, and the biped's fall makes much of it.
                if name != "biped":
                    self.assertLess(abs(again["loss"] - r["loss_last"]), 1e-4 * r["loss_last"],
                                    (name, file))


if __name__ == "__main__":
    unittest.main()
