#!/usr/bin/env python3
"""The verb `optimize` with `"connect": "auto"`: files, MuJoCo's scene, a second run, errors."""
import csv
import json
import math
import os
import unittest

from common import cli

BOX = "-.1 -.05 -.05 .1 -.05 -.05 -.1 .05 -.05 .1 .05 -.05 -.1 -.05 .05 .1 -.05 .05 -.1 .05 .05 " \
      ".1 .05 .05"
SCENE = """<mujoco><option timestep=".005"/>
  <default><geom contype="1" conaffinity="2" density="500"/></default>
  <asset>%s</asset>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1" contype="2" conaffinity="1"/>
    <body name="upper" pos="0 0 .8">
      <joint name="swing" axis="0 1 0" pos="-.1 0 0" damping=".1"/>
      <geom name="u0" type="mesh" mesh="a0"/>
      <geom name="u1" type="mesh" mesh="a1" pos=".15 .01 0" euler="10 0 0"/>
      <body name="lower" pos=".25 0 0">
        <joint name="bend" axis="0 1 0" damping=".1"/>
        <geom name="l0" type="mesh" mesh="b0" pos=".1 0 0"/>
        <geom name="l1" type="mesh" mesh="b1" pos="%s 0 0"/>
        <geom name="cap" type="capsule" size=".03 .05" pos="%s 0 0" zaxis="1 0 0"/>
        <site name="tip" pos=".4 0 0"/>
      </body>
    </body>
  </worldbody>
  <actuator><position name="m0" joint="swing" kp="5"/></actuator>
</mujoco>"""
TASK = {"scene": "scene.xml", "horizon": 30, "inertia_from_geom": True,
        "contact": {"vertices": "all", "skin": 0},
        "loss": [{"type": "position", "site": "tip", "target": [0.5, 0, 0.4]},
                 {"type": "com", "target": [0.4, 0, 0.6]}],
        "variables": [{"name": "mesh/*/vert"}, {"name": "ctrl", "min": -2, "max": 2},
                      {"name": "body/lower/pos"}, {"name": "joint/bend/pos"}],
        "connect": "auto",
        "optimizer": {"type": "trust_region", "direction": "gradient", "radius": 0.02,
                      "control_radius": 0.1, "iterations": 8}}


def scene(at=".3", cap=".35"):
    meshes = "".join('<mesh name="%s" vertex="%s"/>' % (name, BOX)
                     for name in ("a0", "a1", "b0", "b1"))
    return SCENE % (meshes, at, cap)


class Connect(cli.Case):
    def setUp(self):
        super().setUp()
        self.write("scene.xml", scene())
        self.out = self.path("out")

    def optimize(self, task, out):
        done = self.run_json("optimize", task, "--out", out)
        with open(os.path.join(out, "history.csv")) as f:
            return done, list(csv.DictReader(f))

    def test_chain(self):
        done, rows = self.optimize(self.write("task.json", TASK), self.out)
        self.assertEqual(list(rows[0]), ["iteration", "loss", "step_norm", "wall_s", "flattened",
                                         "components", "genus", "overlap", "jump"])
        self.assertEqual({row["components"] for row in rows}, {"1"})
        self.assertEqual((done["connections"], done["components"], done["flattened"]), (6, 1, 0))
        self.assertLess(done["loss_last"], 0.9 * done["loss_first"])
        # each group has its radius: the design 0.02, controls 0.1
        for row in rows[1:]:
            self.assertAlmostEqual(float(row["step_norm"]), math.hypot(0.02, 0.1), delta=1e-6)
        self.assertEqual(done["scene"], "scene.xml")   # which MuJoCo has run
        self.assertLess(done["replay"]["position"]["max"], 0.05)

        task = cli.load(os.path.join(self.out, "task.json"))
        self.assertEqual(len(task["connect"]), 6)
        self.assertEqual(task["connect"][0], {"a": {"geom": "u0", "vertex": 8},
                                              "b": {"geom": "u1", "vertex": 8}})
        self.assertIn({"a": {"geom": "l1", "vertex": 9}, "b": {"geom": "cap"}}, task["connect"])
        self.assertIn({"a": {"geom": "u1", "vertex": 9}, "b": {"anchor": "bend"}}, task["connect"])
        self.assertEqual(len(task["set"]["mesh/a0/vert"]), 30)
        again = self.run_json("grad", os.path.join(self.out, "task.json"))
        self.assertAlmostEqual(again["loss"], done["loss_last"], delta=1e-9 * done["loss_last"])
        second, rows = self.optimize(os.path.join(self.out, "task.json"), self.out)
        self.assertEqual({row["components"] for row in rows}, {"1"})
        self.assertAlmostEqual(second["loss_first"], done["loss_last"],
                               delta=1e-9 * done["loss_last"])
        self.assertLess(second["loss_last"], done["loss_last"])

    def test_cage(self):
        """Meshes that a cage moves: the written task has their vertices as given."""
        task = dict(TASK, free={"c": {"value": [0] * 78}}, maps=[
            {"type": "cage", "from": "c", "body": "lower", "grid": [2, 2, 2],
             "box": [[-0.1, -0.2, -0.2], [0.5, 0.2, 0.2]], "to": ["mesh/b0/vert", "mesh/b1/vert"]}],
            variables=[{"name": "c"}, {"name": "mesh/a*/vert"}])
        done, rows = self.optimize(self.write("task.json", task), self.out)
        self.assertEqual({row["components"] for row in rows}, {"1"})
        again = self.run_json("grad", os.path.join(self.out, "task.json"))
        self.assertAlmostEqual(again["loss"], done["loss_last"], delta=1e-9 * done["loss_last"])
        with open(os.path.join(self.out, "task.json")) as f:
            self.assertEqual(len(json.load(f)["set"]["mesh/b1/vert"]), 30)

    def test_scenes(self):
        """Several scenes are connected alike; one that is not is refused."""
        other = {"name": "other", "loss": [{"type": "com", "target": [0.3, 0, 0.7]}]}
        task = dict(TASK, scenes=[{"name": "first"}, other])
        done, rows = self.optimize(self.write("task.json", task), self.out)
        self.assertEqual(list(rows[0])[4:], ["loss_first", "loss_other", "flattened", "components",
                                             "genus", "overlap", "jump"])
        self.assertEqual({row["components"] for row in rows}, {"1"})
        self.assertLess(done["loss_last"], done["loss_first"])
        again = self.run_json("grad", os.path.join(self.out, "task.json"))
        self.assertAlmostEqual(again["loss"], done["loss_last"], delta=1e-9 * done["loss_last"])
        self.write("more.xml", scene().replace('pos=".15 .01 0"', 'pos=".15 .02 0"'))
        other["scene"] = "more.xml"
        self.refused("grad", self.write("task.json", task), names=["other"])

    def test_errors(self):
        self.write("parted.xml", scene(".31", ".4"))
        for change, names in (
                ({"scene": "parted.xml"}, ["geoms 'l0' and 'l1' of body 'lower'"]),
                ({"contact": "separating_plane"}, ["connect", "vertices"]),
                ({"variables": [{"name": "mesh/x*/vert"}]}, ["mesh/x*/vert"]),
                ({"connect": [{"a": {"geom": "u0", "vertex": 8}, "b": None}]},
                 ["connect[0]: a: geom 'u0' has no vertex 8"]),
                ({"connect": [{"a": None, "b": None}]}, ["connect[0]: a: "]),
                ({"connect": [{"a": {"anchor": "bend"}, "b": {"site": "tip"}}]},
                 ["connect[0]: 'bend' and 'tip' are not in the frame of one body"])):
            task = self.write("task.json", dict(TASK, **change))
            self.refused("grad", task, names=names)

    def test_outside(self):
        """A listed attachment outside of the link of the geom that is tied, or of both."""
        above, below = ({"a": {"geom": g, "vertex": 1}, "b": {k: "bend"}}
                        for g, k in (("u1", "anchor"), ("l0", "joint")))
        far = {"body/lower/pos": [0.4, 0, 0]}
        shifted = {"geom/l0/pos": [0.25, 0, 0]}
        for ties, change, names in (
                ([above, below], far,
                 ["connect[0]: joint 'bend' is outside of body 'upper' by 0.15 m"]),
                ([above, below], shifted,
                 ["connect[1]: joint 'bend' is outside of body 'lower' by 0.15 m"]),
                ([above], {**far, **shifted},
                 ["connect[0]: where body 'lower' hangs is outside of it and of body 'upper'"])):
            task = self.write("task.json", dict(TASK, connect=ties, set=change))
            self.refused("grad", task, names=names)
            self.refused("optimize", task, "--out", self.out, names=names)
        self.run_json("grad", self.write("task.json", dict(TASK, connect=[above, below])))

    def test_bounds(self):
        """Those that contradict each other, or what is tied to what has them."""
        for bounds in ({"min": 1, "max": 0}, {"min": [0, 0, 1], "max": [1, 1, 0.5]}):
            task = self.write("task.json", dict(
                TASK, variables=[{"name": "mesh/b0/vert"}, {"name": "body/lower/pos", **bounds}]))
            self.refused("grad", task, names=["'body/lower/pos': min is larger than max"])
        # One that is higher than the bounds of what it is tied to allow.
        task = self.write("task.json", dict(
            TASK, connect=[{"a": {"geom": "l0", "vertex": k}, "b": None} for k in range(8)],
            variables=[{"name": "mesh/b0/vert", "index": [0, 1], "min": 0.3, "max": 0.5}]))
        self.refused("optimize", task, "--out", self.out,
                     names=["connect: bounds of 'mesh/b0/vert', entry 0"])

    def test_few_vertices(self):
        """Fewer than four that are independent."""
        corners = [float(x) for x in BOX.split()]
        flat = [x if i % 3 else 0.1 for i, x in enumerate(corners)]
        for mesh in ("0 0 0 .1 0 0 0 .1 0", " ".join("%g" % x for x in flat)):
            self.write("few.xml", scene().replace('"b1" vertex="%s"' % BOX,
                                                  '"b1" vertex="%s"' % mesh))
            self.refused("grad", self.write("task.json", dict(TASK, scene="few.xml")),
                         names=["few.xml", "b1"])
        for change in ({}, {"connect": []}, {"connect": [], "inertia_from_geom": False}):
            task = self.write("task.json", dict(TASK, set={"mesh/b1/vert": flat}, **change))
            self.refused("grad", task, names=["set: ", "'l1'", "flat"])

    def test_flat(self):
        """A loss that is least where a hull is flat: steps are shortened and counted."""
        corners = [float(x) for x in BOX.split()]
        self.write("block.json", {
            "dijoco_model": 1, "bodies": [{"name": "world"}, {
                "name": "b", "pos": [0, 0, 1], "mass": 1, "inertia": [0.1, 0.1, 0.1]}],
            "joints": [{"type": "free", "body": "b"}],
            "meshes": [{"name": "m", "vert": [corners[i:i + 3] for i in range(0, 24, 3)]}],
            "geoms": [{"type": "plane", "size": [1, 1, 1]},
                      {"type": "mesh", "mesh": "m", "body": "b"}]})
        task = self.write("task.json", {
            "scene": "block.json", "horizon": 2, "inertia_from_geom": True,
            "loss": [{"type": "com", "target": [0, 0, 0.9]}],
            "variables": [{"name": "mesh/m/vert", "index": [14, 17, 20, 23], "max": 1}],
            "optimizer": {"type": "trust_region", "direction": "gradient", "radius": 0.08,
                          "iterations": 6}})
        code, out, err = self.run_cli("optimize", task, "--out", self.out, "--json")
        done = json.loads(out)
        self.assertIn(code, (0, 1), err)
        self.assertGreater(done["flattened"], 0)
        self.assertLess(done["loss_last"], done["loss_first"])


if __name__ == "__main__":
    unittest.main()
