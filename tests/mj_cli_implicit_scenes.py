#!/usr/bin/env python3
"""The scenes of implicit surfaces: files as their generator writes them, momentum of the ten bodies
through their first impacts, the arm's fall and pull, certified gradients of short runs."""
import csv
import json
import os
import shutil
import subprocess
import sys
import unittest

from common import cli

FOLDER = os.path.join(cli.SOURCE, "models", "implicit")
TEN, ARM = (os.path.join(FOLDER, name, "scene.xml") for name in ("ten_bodies", "soft_arm"))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def turned(q, v):
    """v turned by a unit quaternion."""
    t = [2 * x for x in cross(q[1:], v)]
    return [v[k] + q[0] * t[k] + cross(q[1:], t)[k] for k in range(3)]


class ImplicitScenes(cli.Case):
    def test_generator(self):
        """The files are what generate.py writes."""
        copy = self.path("implicit")
        for name in "ten_bodies", "soft_arm", "quadrotor":
            os.makedirs(os.path.join(copy, name))
        for file in "generate.py", "quadrotor/scene.json", "quadrotor/path.csv":
            shutil.copy(os.path.join(FOLDER, file), os.path.join(copy, os.path.dirname(file)))
        subprocess.run([sys.executable, os.path.join(copy, "generate.py")], check=True)
        for file in ("ten_bodies/scene.xml", "soft_arm/scene.xml", "soft_arm/tension.csv",
                     "quadrotor/scene.xml", "quadrotor/flight.csv"):
            with open(os.path.join(copy, file)) as made, open(os.path.join(FOLDER, file)) as kept:
                self.assertEqual(made.read(), kept.read(), file)

    def test_cones(self):
        """Cones, frustums and the arm's segments are cones of their geoms' sizes, where these are:
        surfaces lie within some hundredths of the geom."""
        for scene, cones in (TEN, {"cone": 0.025, "frustum": 0.025}), (ARM, {"segment": 0.001}):
            report = self.run_json("inspect", scene)
            found = [f for f in report["features"] if f.get("family") == "truncated_cone"]
            self.assertEqual(len(found), 20 if scene == ARM else 2)
            for f in found:
                name = f["element"].split("/")[1].rstrip("0123456789")
                self.assertLess(max(f["inside"], f["outside"]), cones[name], f)

    def test_flight(self):
        """The quadrotor's obstacles are those of the plan; it comes to the goal and meets none."""
        folder = os.path.join(FOLDER, "quadrotor")
        plan = cli.load(os.path.join(folder, "scene.json"))
        scene = self.path("quadrotor.json")
        self.run_cli("convert", os.path.join(folder, "scene.xml"), "--out", scene)
        with open(scene) as f:
            geoms = [g for g in json.load(f)["geoms"] if g["name"] != "quadrotor"]
        self.assertEqual(len(geoms), len(plan["obstacles"]))
        for geom, shape in zip(geoms, plan["obstacles"]):
            if shape["shape"] == "superellipsoid":
                self.assertEqual((geom["type"], geom["sharpness"]), ("box", shape["n"]))
                self.assertEqual(geom["size"], shape["size"])
                continue
            for key, value in shape.items():
                if key != "pose":
                    self.assertEqual(geom["shape"][key], value, (geom["name"], key))
        summary, rows = self.rows(os.path.join(folder, "scene.xml"), "--time", 5, "--every", 50,
                                  "--ctrl", os.path.join(folder, "flight.csv"))
        for k in range(3):
            self.assertAlmostEqual(rows[-1][1 + k], plan["goal"][k] - plan["start"][k], delta=1e-3)
        self.assertEqual((summary["smallest_gap"], summary["deepest_overlap"]), ("inf", 0))

    def rows(self, *arguments):
        out = self.path("run.csv")
        summary = self.run_json("simulate", *arguments, "--out", out)
        self.assertEqual(summary["unconverged_steps"], 0)
        with open(out, newline="") as f:
            rows = [[float(x) for x in row] for row in list(csv.reader(f))[1:]]
        return summary, rows

    def test_momentum(self):
        """Through the impacts; bodies spin then, and their inertias are no spheres'."""
        scene = self.path("ten.json")
        self.run_cli("convert", TEN, "--out", scene)
        with open(scene) as f:
            bodies = json.load(f)["bodies"][1:]
        summary, rows = self.rows(TEN, "--keyframe", "thrown", "--time", 2.2, "--every", 40)
        first = None
        for row in rows:
            momentum = [0] * 6
            spin = 0
            for b, body in enumerate(bodies):
                x, q = row[1 + 7 * b:4 + 7 * b], row[4 + 7 * b:8 + 7 * b]
                v, w = (row[71 + 6 * b + k:74 + 6 * b + k] for k in (0, 3))
                c = body.get("ipos", [0, 0, 0])
                x = [x[k] + turned(q, c)[k] for k in range(3)]
                v = [v[k] + turned(q, cross(w, c))[k] for k in range(3)]
                i = body.get("iquat", [1, 0, 0, 0])
                w = turned([i[0], -i[1], -i[2], -i[3]], w)
                own = turned(q, turned(i, [w[k] * body["inertia"][k] for k in range(3)]))
                orbit = cross(x, v)
                spin = max(spin, max(map(abs, own)))
                for k in range(3):
                    momentum[k] += body["mass"] * v[k]
                    momentum[3 + k] += body["mass"] * orbit[k] + own[k]
            first = first or momentum
            for k in range(6):
                self.assertAlmostEqual(momentum[k], first[k], delta=1e-9)
        self.assertGreater(spin, 0.3)
        self.assertLess(summary["smallest_gap"], -0.01)
        self.assertAlmostEqual(summary["energy_last"] / summary["energy_first"], 1, delta=0.01)

    def test_order(self):
        """Without the pull the arm lies on the ground; pulled fast it comes to the cube."""
        pull = self.write("pull.csv", "ctrl[0]\n" + "".join("%g\n" % (0.04 * k)
                                                             for k in range(1, 201)))
        for name, time in ("lies", 0.2), ("cube", 1):
            out = self.path(name)
            self.run_json("compare", ARM, "--time", time, "--out", out, "--ctrl", pull)
        seen = {}
        for name in "lies", "cube":
            with open(os.path.join(self.path(name), "contacts.csv"), newline="") as f:
                rows = [r for r in csv.DictReader(f) if r["engine"] == "dijoco"]
            seen[name] = {r["body1"] for r in rows}, min(float(r["time"]) for r in rows)
            sideways = max(abs(float(r["fx"])) + abs(float(r["fy"])) for r in rows)
            seen[name] += (sideways,)
        self.assertGreater(seen["lies"][1], 0.1)
        self.assertLess(seen["lies"][2], 0.05)
        self.assertGreater(seen["cube"][2], 0.05)

    def test_gradients(self):
        """Spinning bodies by the midpoint rule, by the start and inertia; in contact both scenes."""
        qvel = [x for k in range(10) for x in (0, 0, 0, 3 + k, -2, 1 + k)]
        task = {"scene": TEN, "timestep": 0.02, "horizon": 5, "initial": {"qvel": qvel},
                "loss": [{"type": "orientation", "body": b, "target": [1, 0, 0, 0]}
                         for b in ("cuboid", "frustum", "ellipsoid")],
                "variables": [{"name": "qvel0"}, {"name": "qpos0"},
                              {"name": "body/cuboid/inertia"}, {"name": "body/frustum/iquat"},
                              {"name": "body/ellipsoid/inertia"}]}
        arm = {"scene": ARM, "timestep": 0.01, "horizon": 18, "ctrl": [5],
               "loss": [{"type": "position", "site": "tip", "target": [0.9, 0.2, 0.01]}],
               "variables": [{"name": "ctrl"}, {"name": "qvel0"}]}
        for name, one in ("ten", task), ("arm", arm):
            r = self.run_json("grad", self.write(name + ".json", one), "--check")
            for row in r["certificate"]:
                self.assertTrue(row["passed"], (name, row))


if __name__ == "__main__":
    unittest.main()
