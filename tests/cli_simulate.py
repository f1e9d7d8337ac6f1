#!/usr/bin/env python3
"""simulate and convert with scenes of our own format: outputs, inputs, and bad input."""
import copy
import csv
import json
import unittest

from common import cli

HEADER = ["time"] + ["qpos[%d]" % i for i in range(8)] + ["qvel[%d]" % i for i in range(7)]


class Simulate(cli.Case):
    def setUp(self):
        super().setUp()
        self.scene = self.write("s.json", cli.SCENE)

    def table(self, *arguments, status=0):
        out = self.path("out.csv")
        code, _, err = self.run_cli("simulate", self.scene, "--out", out, *arguments)
        self.assertEqual(code, status, err)
        with open(out) as f:
            rows = list(csv.reader(f))
        self.assertEqual(rows[0], HEADER)
        return [[float(x) for x in row] for row in rows[1:]]

    def test_json(self):
        result = self.run_json("simulate", self.scene, "--time", "0.5")
        for key in cli.RUN_KEYS:
            self.assertIn(key, result)
        for key in cli.SETTINGS:
            self.assertIn(key, result["settings"])
        self.assertEqual(result["engine"], "dijoco")
        self.assertEqual(result["steps"], 100)
        self.assertAlmostEqual(result["time"], 0.5)
        self.assertEqual(result["settings"]["timestep"], 0.005)
        self.assertGreater(cli.number(result["smallest_gap"]), 0)
        self.assertGreater(result["newton_iterations"], 0)

    def test_gap_is_infinite_when_none_came_near(self):
        result = self.run_json("simulate", self.scene, "--time", "0.01", "--keyframe", "up")
        self.assertEqual(result["smallest_gap"], "inf")
        self.assertEqual(result["deepest_overlap"], 0)

    def test_steps_are_rounded(self):
        for time, steps in (("0.0124", 2), ("0.0126", 3), ("0", 0)):
            self.assertEqual(self.run_json("simulate", self.scene, "--time", time)["steps"], steps)

    def test_stats(self):
        path = self.path("stats.csv")
        result = self.run_json("simulate", self.scene, "--time", "0.5", "--stats", path)
        rows = cli.rows(path)
        self.assertEqual(len(rows), 100)
        total = lambda name: sum(int(row[name]) for row in rows)  # noqa: E731
        self.assertEqual(total("iterations"), result["newton_iterations"])
        self.assertEqual([int(row["steps"]) for row in rows], list(range(1, 101)))
        self.assertAlmostEqual(float(rows[-1]["time"]), 0.5)
        self.assertEqual({row["ended"] for row in rows}, {"solved"})
        self.assertEqual(total("attempts"), total("parts"))
        self.assertEqual(min(float(row["gap"]) for row in rows),
                         float(rows[-1]["smallest_gap"]))
        for row in rows:
            self.assertLessEqual(int(row["iterations"]), int(row["factorizations"]))
            self.assertLessEqual(int(row["loaded_pairs"]), int(row["near_pairs"]))
        self.refused("simulate", self.scene, "--time", "0.01", "--stats", self.path("no/s.csv"))

    def test_csv(self):
        rows = self.table("--time", "0.1")
        self.assertEqual(len(rows), 21)
        self.assertEqual(rows[0][:9], [0, 0, 0, 0.12, 1, 0, 0, 0, 0])
        self.assertAlmostEqual(rows[-1][0], 0.1)
        every = self.table("--time", "0.1", "--every", "7")
        self.assertEqual(every, rows[::7])

    def test_text_is_narrow(self):
        code, out, _ = self.run_cli("simulate", self.scene, "--time", "0.1")
        self.assertEqual(code, 0)
        self.assertLessEqual(max(map(len, out.splitlines())), 100)

    def test_start(self):
        self.assertEqual(self.table("--time", "0", "--keyframe", "up")[0][3], 0.5)
        self.assertEqual(self.table("--time", "0", "--keyframe", "0")[0][3], 0.5)
        qpos = self.write("q.txt", "0, 0 1\n2 0 0\t0,0.25")
        qvel = self.write("v.txt", "1 2 3 4 5 6 7\n")
        row = self.table("--time", "0", "--keyframe", "up", "--qpos", qpos, "--qvel", qvel)[0]
        self.assertEqual(row[1:], [0, 0, 1, 1, 0, 0, 0, 0.25, 1, 2, 3, 4, 5, 6, 7])

    def test_controls(self):
        ctrl = self.write("c.csv", "ctrl[0]\n0.5\n-0.5\n")
        rows = self.table("--time", "0.05", "--ctrl", ctrl)
        speed = [row[-1] for row in rows]
        self.assertGreater(speed[1], 0)
        self.assertLess(speed[2] - speed[1], 0)
        self.assertLess(speed[-1], speed[2])
        one = self.table("--time", "0.2", "--ctrl-seed", "1")
        self.assertEqual(one, self.table("--time", "0.2", "--ctrl-seed", "1"))
        self.assertNotEqual(one, self.table("--time", "0.2", "--ctrl-seed", "2"))

    def test_gravity_ramp(self):
        rows = self.table("--time", "0.1", "--keyframe", "up", "--gravity-ramp", "0.1")
        drop = [b[11] - a[11] for a, b in zip(rows, rows[1:])]
        self.assertAlmostEqual(drop[0], 0)
        for k, change in enumerate(drop):
            self.assertAlmostEqual(change, -9.81 * 0.005 * k / 20, places=9)

    def test_settings_are_in_force(self):
        s = self.run_json("simulate", self.scene, "--time", "0", "--timestep", "0.001",
                          "--contact", "none", "--tolerance", "1e-6")["settings"]
        self.assertEqual((s["timestep"], s["contact"], s["tolerance"]), (0.001, "none", 1e-6))
        s = self.run_json("simulate", self.scene, "--time", "0", "--support", "0.002",
                          "--length-scale", "2", "--stiffness", "0.5", "--skin", "0.001",
                          "--friction-eps", "1e-6")["settings"]
        self.assertEqual([s[k] for k in ("support", "length_scale", "stiffness", "skin",
                                         "friction_eps")], [0.002, 2, 0.5, 0.001, 1e-6])

    def test_set(self):
        low = self.table("--time", "1", "--set", "geom/cube/size=0.1,0.1,0.05")[-1][3]
        self.assertAlmostEqual(low, 0.05, delta=0.002)
        weight = self.run_json("simulate", self.scene, "--time", "0", "--set", "body/box/mass=3")
        base = self.run_json("simulate", self.scene, "--time", "0")
        self.assertAlmostEqual(weight["energy_first"] - base["energy_first"], 2 * 9.81 * 0.12)

    def test_rest_on_the_floor(self):
        row = self.table("--time", "1")[-1]
        self.assertAlmostEqual(row[3], 0.1, delta=0.0005)
        self.assertLess(max(map(abs, row[9:15])), 1e-3)

    def test_convert_is_bitwise(self):
        out = self.path("again.json")
        self.run_json("convert", self.scene, "--out", out)
        first = self.table("--time", "0.5", "--ctrl-seed", "3")
        self.scene = out
        self.assertEqual(self.table("--time", "0.5", "--ctrl-seed", "3"), first)

    def test_overlap(self):
        deep = copy.deepcopy(cli.SCENE)
        deep["bodies"][1]["pos"][2] = 0.06
        self.scene = self.write("deep.json", deep)
        result = self.run_json("simulate", self.scene, "--time", "0.5")
        self.assertGreater(result["deepest_overlap"], 0.02)
        self.assertGreater(result["recovering_steps"], 0)
        self.assertEqual(result["deepest_overlap_geoms"], ["geom/floor", "geom/cube"])
        text = self.run_cli("simulate", self.scene, "--time", "0.5")[1]
        self.assertRegex(text, "deepest overlap .* m \\(geom/floor, geom/cube\\)")
        self.assertEqual(self.run_json("simulate", self.write("s.json", cli.SCENE), "--time",
                                       "0.5")["deepest_overlap_geoms"], [])
        err = self.refused("simulate", self.scene, "--time", "0.5", "--overlap", "error", "--out",
                           self.path("out.csv"))
        self.assertRegex(err, "floor|cube")
        self.assertIn("0.04", err)


class BadInput(cli.Case):
    def setUp(self):
        super().setUp()
        self.scene = self.write("s.json", cli.SCENE)

    def no(self, *arguments, names=()):
        return self.refused("simulate", *arguments, "--time", "0.1", "--out", self.path("out.csv"),
                            names=names)

    def test_files(self):
        self.no(self.path("missing.json"), names=["missing.json"])
        self.no(self.path("scene.txt"), names=["scene.txt"])
        self.no(self.write("half.json", json.dumps(cli.SCENE)[:200]), names=["half.json"])
        self.no(self.write("other.json", "[1, 2]"), names=["other.json"])
        self.no(self.write("empty.json", ""), names=["empty.json"])
        self.no(self.folder.name, names=[self.folder.name])

    def test_states(self):
        for content, name in (("0 0 1 1 0 0 0", "7"), ("0 0 1 1 0 0 0 0 0", "9"),
                              ("0 0 nan 1 0 0 0 0", "qpos"), ("0 0 inf 1 0 0 0 0", "qpos"),
                              ("0 0 1 0 0 0 0 0", "quaternion"), ("0 0 one 1 0 0 0 0", "one"),
                              ("", "")):
            self.no(self.scene, "--qpos", self.write("q.txt", content), names=["q.txt"])
        for content in ("1 2 3", "1 2 3 4 5 6 nan", "1 2 3 4 5 6 7 8"):
            self.no(self.scene, "--qvel", self.write("v.txt", content), names=["v.txt"])
        self.no(self.scene, "--qpos", self.path("missing.txt"), names=["missing.txt"])

    def test_controls(self):
        for content in ("ctrl[0],ctrl[1]\n1,2\n", "ctrl[0]\n", "u\n1\n", "ctrl[0]\nnan\n",
                        "ctrl[0]\n1,2\n", ""):
            self.no(self.scene, "--ctrl", self.write("c.csv", content), names=["c.csv"])
        both = self.write("c.csv", "ctrl[0]\n1\n")
        self.no(self.scene, "--ctrl", both, "--ctrl-seed", "1", names=["--ctrl"])

    def test_scenes(self):
        def bad(change, *names):
            scene = copy.deepcopy(cli.SCENE)
            change(scene)
            self.no(self.write("bad.json", scene), names=["bad.json", *names])

        bad(lambda s: s["geoms"][1].update(size=[0.1, -0.1, 0.1]), "cube", "size")
        bad(lambda s: s["geoms"][1].update(size=[0.1, 0.1]), "cube")
        bad(lambda s: s["geoms"][1].update(colour=1), "cube", "colour")
        bad(lambda s: s["geoms"][1].update(body="nobody"), "nobody")
        bad(lambda s: s["geoms"][1].update(type="teapot"), "teapot")
        bad(lambda s: s.update(extra=1), "extra")
        bad(lambda s: s["bodies"][1].update(mass=-1), "box", "mass")
        bad(lambda s: s["bodies"][1].update(quat=[0, 0, 0, 0]), "box", "quat")
        bad(lambda s: s["joints"][1].update(axis=[0, 0, 0]), "hinge", "axis")
        bad(lambda s: s["actuators"][0].update(joint="none"), "none")
        bad(lambda s: s["option"].update(timestep=0), "timestep")
        bad(lambda s: s["keys"][0].update(qpos=[1, 2, 3]), "up", "qpos")

    def test_hopeless_overlap(self):
        """Shapes that reach through each other by more than recovery can undo are named."""
        scene = json.loads(json.dumps(cli.SCENE))
        scene["geoms"][1]["gap"] = -1e20
        self.refused("simulate", self.write("s.json", scene), "--time", "0.01",
                     names=["s.json", "'floor'", "'cube'"])

    def test_unwritable(self):
        self.refused("simulate", self.scene, "--time", "0.1", "--out",
                     self.path("no/such/folder.csv"), names=["folder.csv"])
        self.refused("simulate", self.scene, "--time", "0.1", "--out", self.folder.name)
        self.refused("convert", self.scene, "--out", self.path("no/such/folder.json"),
                     names=["folder.json"])


if __name__ == "__main__":
    unittest.main()
