#!/usr/bin/env python3
"""What `optimize` writes of hulls: an OBJ file each beside scene.xml, from which loss and mass come
back wherever the folder is."""
import json
import os
import re
import shutil
import unittest

from common import cli

SCENE = """<mujoco>
  <option timestep="0.005"/>
  <asset>
    <mesh name="wedge" vertex="0 0 0  .3 0 0  0 .2 0  .3 .2 0  0 0 .1  0 .2 .1"/>
    <mesh name="a tip/2" vertex="0 0 0  .1 0 0  0 .1 0  0 0 .1  .02 .02 .02  .03 .01 .04"/>
    <mesh name="same" vertex="0 0 0  .1 0 0  0 .1 0  0 0 .1"/>
  </asset>
  <worldbody>
    <geom type="plane" size="1 1 .1"/>
    <body name="arm" pos="0 0 .2"><freejoint/>
      <geom type="mesh" mesh="wedge" pos=".1 .2 .3" quat=".8 .6 0 0"/>
      <geom type="mesh" mesh="a tip/2"/>
    </body>
    <body name="other" pos="1 0 .2"><freejoint/><geom type="mesh" mesh="same"/></body>
  </worldbody>
</mujoco>
"""
VERT = {"wedge": 6, "a tip/2": 6}
TASK = {"scene": "s.xml", "timestep": 0.005, "horizon": 20, "inertia_from_geom": True,
        "loss": [{"type": "com", "body": "arm", "target": [0.1, 0.1, 0.1]}],
        "variables": [{"name": "mesh/%s/vert" % name} for name in VERT],
        "optimizer": {"type": "adam", "rate": 1e-3, "iterations": 3}}


class Hulls(cli.Case):
    def setUp(self):
        super().setUp()
        with open(self.path("s.xml"), "w", encoding="utf-8") as f:
            f.write(SCENE)
        self.out = self.path("out")

    def optimize(self, task, *options):
        return self.run_json("optimize", self.write("task.json", task), "--out", self.out, *options)

    def read(self, name):
        return cli.read(os.path.join(self.out, name))

    def obj_files(self):
        return sorted(name for name in os.listdir(self.out) if name.endswith(".obj"))

    def loss_of(self, scene, task):
        """Of a run of a written scene, which needs no other file of the task."""
        plain = {k: v for k, v in task.items() if k not in ("variables", "scenes", "optimizer",
                                                            "set")}
        plain.update(scene=scene, inertia_from_geom=False, initial={"keyframe": "optimized"},
                     variables=[{"name": "qvel0"}])
        return self.run_json("grad", self.write("again.json", plain))["loss"]

    def mass_of(self, scene):
        self.run_json("convert", scene, "--out", self.path("m.json"))
        with open(self.path("m.json"), encoding="utf-8") as f:
            return [body.get("mass") for body in json.load(f)["bodies"]]

    def test_files(self):
        r = self.optimize(TASK)
        names = ["a_tip_2_mesh_1.obj", "wedge.obj"]
        self.assertEqual(self.obj_files(), names)
        self.assertEqual([name for name in r["files"] if name.endswith(".obj")], names[::-1])
        scene = self.read("scene.xml")
        self.assertEqual(sorted(re.findall(r'file="(.*?)"', scene)), names)
        self.assertEqual(scene.count("vertex="), 1)        # what does not change stays
        final = {v["name"]: v["value"] for v in json.loads(self.read("final.json"))["variables"]}
        for mesh, name in zip(VERT, names[::-1]):
            rows = [line.split() for line in self.read(name).splitlines()]
            points = [float(x) for row in rows if row[0] == "v" for x in row[1:]]
            for got, want in zip(points, final["mesh/%s/vert" % mesh], strict=True):
                self.assertAlmostEqual(got, want, delta=6e-8 * max(abs(want), 1e-9) + 1e-12)
            self.assertGreaterEqual(sum(row[0] == "f" for row in rows), 4)

        # anywhere: loss and mass of the design
        moved = self.path("elsewhere/it")
        shutil.move(self.out, moved)
        loss = self.loss_of(os.path.join(moved, "scene.xml"), TASK)
        self.assertAlmostEqual(loss, r["loss_last"], delta=1e-6 * r["loss_last"])
        self.assertNotAlmostEqual(r["loss_first"], r["loss_last"], delta=1e-4 * r["loss_last"])
        task = os.path.join(moved, "task.json")
        again = cli.load(task)
        again["scene"] = self.path("s.xml")
        restarted = self.run_json("grad", self.write("restart.json", again))
        self.assertAlmostEqual(restarted["loss"], r["loss_last"], delta=1e-10 * r["loss_last"])
        got = self.mass_of(os.path.join(moved, "scene.xml"))
        start = self.mass_of(self.path("s.xml"))
        self.assertNotAlmostEqual(got[1], start[1], delta=1e-5 * start[1])
        self.assertAlmostEqual(got[2], start[2], delta=1e-12)

    def test_recovery(self):
        """Friction of what recovers is bounded by all weights: those that the run was made with."""
        low = [0, 0, -0.01, 1, 0, 0, 0, 1, 0, 0.2, 1, 0, 0, 0]
        task = dict(TASK, initial={"qpos": low, "qvel": [2] + 11 * [0]},
                    optimizer={"type": "adam", "rate": 0.01, "iterations": 3})
        r = self.optimize(task)
        loss = self.loss_of(os.path.join(self.out, "scene.xml"), task)
        self.assertAlmostEqual(loss, r["loss_last"], delta=1e-6 * r["loss_last"])

    def test_nothing_changed(self):
        """A design without vertices has no files."""
        r = self.optimize(dict(TASK, variables=[{"name": "qvel0"}]))
        self.assertEqual(self.obj_files(), [])
        self.assertNotIn("file=", self.read("scene.xml"))
        self.assertEqual(r["scene"], "scene.xml")

    def test_digits(self):
        """Vertices in the scene itself that do not change keep single precision."""
        numbers = "0 0 .012345678 .123456789 0 0 0 .123456789 0 0 .0987654321 .123456789"
        scene = re.sub('(name="same" vertex=").*?"', r'\g<1>%s"' % numbers, SCENE)
        with open(self.path("s.xml"), "w", encoding="utf-8") as f:
            f.write(scene)
        self.optimize(TASK)
        got = re.search('name="same" vertex="(.*?)"', self.read("scene.xml")).group(1).split()
        for a, b in zip(map(float, got), map(float, numbers.split()), strict=True):
            self.assertAlmostEqual(a, b, delta=2e-8)

    def test_beside_links(self):
        """`--export obj` has files of its own."""
        self.optimize(TASK, "--export", "obj")
        names = self.obj_files()
        self.assertIn("wedge_mesh.obj", names)
        self.assertIn("arm_0.obj", names)
        self.run_json("inspect", os.path.join(self.out, "scene.xml"))

    def test_scenes(self):
        """They share what is the same."""
        scenes = [{"name": "one"}, {"name": "two", "initial": {"qpos": [0, 0, .3] + [1, 0, 0, 0] +
                                                               [1, 0, .2, 1, 0, 0, 0]}}]
        r = self.optimize(dict(TASK, scenes=scenes))
        self.assertEqual(len(self.obj_files()), 2)
        self.assertEqual([one["scene"] for one in r["replays"]], ["one", "two"])
        self.assertEqual(r["replays"][0]["position"], r["replay"]["position"])
        c = self.run_json("compare", os.path.join(self.out, "scene_two.xml"), "--time", 0.1,
                          "--keyframe", "optimized", "--out", self.path("compare"))
        self.assertEqual(r["replays"][1]["position"]["max"], c["difference"]["position"]["max"])
        self.assertGreater(c["difference"]["position"]["max"], 0)
        page = self.read("report.html")
        self.assertIn("The other scenes", page)
        self.assertEqual(page.count(">two<"), 3)       # a curve, a loss, a replay
        both = [re.findall(r'file="(.*?)"', self.read("scene_%s.xml" % s)) for s in ("one", "two")]
        self.assertEqual(both[0], both[1])
        self.assertEqual(len(both[0]), 2)

    def test_scenes_apart(self):
        """A mesh that is another one there has the scene's name."""
        other = SCENE.replace('name="same" vertex="0 0 0', 'name="same" vertex="0 0 .01')
        with open(self.path("t.xml"), "w", encoding="utf-8") as f:
            f.write(other)
        scenes = [{"name": "one"}, {"name": "two", "scene": "t.xml",
                                    "set": {"mesh/same/vert": [0, 0, 0, .2, 0, 0, 0, .1, 0, 0, 0,
                                                               .1]}},
                  {"name": "three", "set": {"mesh/same/vert": [0, 0, 0, .3, 0, 0, 0, .1, 0, 0, 0,
                                                               .1]}}]
        self.optimize(dict(TASK, scenes=scenes))
        files = {s: re.findall(r'file="(.*?)"', self.read("scene_%s.xml" % s))
                 for s in ("one", "two", "three")}
        self.assertEqual(len(files["one"]), 2)
        self.assertIn("same.obj", files["two"])
        self.assertIn("same_three.obj", files["three"])
        for s in files:
            for name in files[s]:
                self.assertIn(name, self.obj_files())
            self.run_json("inspect", os.path.join(self.out, "scene_%s.xml" % s))

    def test_blocked(self):
        """Where one cannot be written nothing is."""
        os.makedirs(os.path.join(self.out, "wedge.obj", "x"))
        task = self.write("task.json", TASK)
        self.refused("optimize", task, "--out", self.out)
        self.assertEqual(os.listdir(self.out), ["wedge.obj"])


if __name__ == "__main__":
    unittest.main()
