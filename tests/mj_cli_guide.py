#!/usr/bin/env python3
"""What a guide bends, as compare and optimize tell it; guides in MJCF and in what is written."""
import csv
import json
import os
import unittest

from common import cli

XML = """<mujoco>
  <option timestep="0.01" gravity="0 0 0"/>
  <custom>%s</custom>
  <worldbody>
    <body name="hand"><joint name="slide" type="slide" axis="1 0 0"/>
      <geom type="sphere" size="0.05"/></body>
    <body name="box" pos="0.3 0.02 0"><freejoint/>
      <geom type="box" size="0.05 0.05 0.05"/></body>
    <body name="other" pos="-0.3 0 0"><freejoint/>
      <geom type="box" size="0.05 0.05 0.05"/></body>
  </worldbody>
  <actuator><motor name="motor" joint="slide" ctrlrange="-1 1"/></actuator>
</mujoco>
"""
GUIDE = '<numeric name="dijoco_guide" data="0.05"/>'
BODIES = '<text name="dijoco_guide_bodies" data="hand b*"/>'
PUSHED = """<mujoco>
  <option timestep="0.02"/>
  <worldbody>
    <geom type="plane" size="2 2 0.1"/>
    <body name="hand" pos="0 0 0.06"><joint name="slide" type="slide" axis="1 0 0"/>
      <geom type="sphere" size="0.05"/></body>
    <body name="box" pos="0.15 0.01 0.05"><freejoint/>
      <geom type="box" size="0.05 0.05 0.05"/></body>
  </worldbody>
  <actuator><position name="servo" joint="slide" kp="100" kv="20" ctrlrange="-1 1"/></actuator>
</mujoco>
"""
TASK = {
    "scene": "s.xml", "horizon": 30, "initial": {"qvel": [0.2] + 12 * [0]},
    "loss": [{"type": "position", "body": "box", "target": [0.35, 0.03, 0]}],
    "variables": [{"name": "ctrl"}], "optimizer": {"type": "adam", "rate": 0.1, "iterations": 5},
}


class Guide(cli.Case):
    def setUp(self):
        super().setUp()
        self.scene = self.write("s.xml", XML % (GUIDE + BODIES))
        self.plain = self.write("plain.xml", XML % "")
        self.out = self.path("out")

    def places(self, scene, *arguments):
        """Places of both free bodies at all steps."""
        out = self.path("run.csv")
        self.run_json("simulate", scene, "--out", out, *arguments)
        with open(out) as f:
            rows = [[float(x) for x in row] for row in list(csv.reader(f))[1:]]
        return [(row[1:2], row[2:5], row[9:12]) for row in rows]

    def distance(self, a, b):
        """The largest difference of a body's position."""
        return max(sum((x - y) ** 2 for x, y in zip(p, q)) ** 0.5
                   for one, two in zip(a, b) for p, q in zip(one, two))

    def optimize(self, task, *arguments):
        r = self.run_json("optimize", self.write("task.json", task), "--out", self.out, *arguments)
        with open(os.path.join(self.out, "final.json")) as f:
            self.assertEqual(json.load(f)["bias"], r["bias"])
        return r

    def test_compare(self):
        speed = self.write("v.txt", "0.2" + 12 * " 0")
        run = ["--time", "0.3", "--qvel", speed]
        bias = self.run_json("compare", self.scene, *run, "--out", self.out)["bias"]
        moved = self.distance(self.places(self.scene, *run), self.places(self.plain, *run))
        self.assertIsNone(bias["loss_plain"])
        self.assertGreater(bias["position"], 1e-3)
        self.assertAlmostEqual(bias["position"], moved, delta=1e-12)
        text = self.run_cli("compare", self.scene, *run, "--out", self.out)[1]
        self.assertIn("without the guide", text)
        for scene, more in ((self.plain, []), (self.scene, ["--guide-backward-only", "true"]),
                            (self.scene, ["--guide", "0"])):
            r = self.run_json("compare", scene, *run, *more, "--out", self.out)
            self.assertEqual(r["bias"], {"position": 0, "loss_plain": None})

    def test_optimize(self):
        r = self.optimize(TASK)
        again = os.path.join(self.out, "task.json")
        self.assertAlmostEqual(self.run_json("grad", again)["loss"], r["loss_last"], delta=1e-12)
        bias = r["bias"]
        self.assertGreater(bias["position"], 1e-3)
        self.assertNotEqual(bias["loss_plain"], r["loss_last"])
        for off in (["--guide", "0"], ["--guide-backward-only", "true"]):
            loss = self.run_json("grad", again, *off)["loss"]
            self.assertAlmostEqual(bias["loss_plain"], loss, delta=1e-12)
        run = ["--time", "0.3", "--qvel", self.write("v.txt", "0.2" + 12 * " 0"), "--ctrl",
               os.path.join(self.out, "ctrl.csv")]
        moved = self.distance(self.places(self.scene, *run), self.places(self.plain, *run))
        self.assertAlmostEqual(bias["position"], moved, delta=1e-9)
        with open(os.path.join(self.out, "scene.xml")) as f:   # of the run with the guide
            self.assertNotIn("backward_only", f.read())

    def test_optimize_without(self):
        for more in (["--guide", "0"], ["--guide-backward-only", "true"]):
            r = self.optimize(TASK, *more)
            self.assertEqual(r["bias"], {"position": 0, "loss_plain": r["loss_last"]})

    def test_bodies_reach_the_new_task(self):
        r = self.optimize(dict(TASK, contact="separating_plane"), "--guide-bodies", "o* hand")
        again = os.path.join(self.out, "task.json")
        with open(again) as f:
            self.assertEqual(json.load(f)["contact"], {"model": "separating_plane",
                                                       "guide_bodies": [["hand", "other"]]})
        self.assertAlmostEqual(self.run_json("grad", again)["loss"], r["loss_last"], delta=1e-12)
        self.assertNotEqual(self.run_json("grad", self.path("task.json"))["loss"], r["loss_first"])

    def test_backward_only_keeps_contact(self):
        """What touches has the derivatives it has without a guide: friction's load included."""
        self.write("p.xml", PUSHED)
        self.write("c.csv", "ctrl[0]\n" + 25 * "0.3\n")
        task = {"scene": "p.xml", "horizon": 25, "integrator": "position", "ctrl": "c.csv",
                "contact": {"guide": 1e-3, "guide_backward_only": True,
                            "guide_bodies": [["hand", "box"]]},
                "loss": [{"type": "position", "body": "box", "target": [0.5, 0.1, 0.05]}],
                "variables": [{"name": "ctrl"}]}
        led, exact = (self.run_json("grad", self.write("t.json", task), *more)
                      ["variables"][0]["gradient"] for more in ([], ["--guide", "0"]))
        size = sum(g * g for g in exact) ** 0.5
        self.assertGreater(size, 0.05)
        self.assertLess(sum((a - b) ** 2 for a, b in zip(led, exact)) ** 0.5, 0.01 * size)
        self.assertNotEqual(led, exact)

    def test_backward_only_leads(self):
        """Where the loss is flat the gradient of a guide leads to contact."""
        far = {**TASK, "horizon": 60, "contact": {"guide": 0.05, "guide_backward_only": True},
               "initial": {"qvel": 13 * [0]}, "loss": [
                   {"type": "position", "body": "box", "target": [0.5, 0.02, 0]}],
               "optimizer": {"type": "adam", "rate": 0.1, "iterations": 40}}
        flat = self.optimize(far, "--guide", "0")
        self.assertEqual(flat["loss_first"], flat["loss_last"])
        r = self.optimize(far)
        self.assertEqual(r["loss_first"], flat["loss_first"])
        self.assertLess(r["loss_last"], 0.9 * r["loss_first"])

    def test_reach(self):
        """How near those came that the guide acts between: by the poses of the run, and by a touch."""
        r = self.optimize(TASK)
        with open(os.path.join(self.out, "final.json")) as f:
            self.assertEqual(json.load(f)["guide"], r["guide"])
        run = ["--time", "0.3", "--qvel", self.write("v.txt", "0.2" + 12 * " 0"), "--ctrl",
               os.path.join(self.out, "ctrl.csv")]
        places = self.places(self.scene, *run)
        (one,) = r["guide"]
        self.assertEqual((one["bodies"], one["touched"]), (["hand", "box"], False))
        # the ball's centre is beside the box's face, which hardly turns
        gaps = [box[0] - 0.05 - hand[0] - 0.05 for hand, box, _ in places]
        self.assertAlmostEqual(one["distance_first"], 0.2, delta=1e-9)
        self.assertAlmostEqual(one["distance_first"], gaps[0], delta=1e-9)
        self.assertAlmostEqual(one["distance_least"], min(gaps), delta=1e-3)
        self.assertLess(one["distance_least"], one["distance_first"])
        text = self.run_cli("optimize", self.path("task.json"), "--out", self.out)[1]
        self.assertIn("  hand never came nearer to box than %.2g m\n" % one["distance_least"], text)

        bound = {**TASK, "ctrl": 30 * [[-1]], "optimizer": {**TASK["optimizer"], "rate": 1e-10}}
        task = self.write("bound.json", bound)
        text = self.run_cli("optimize", task, "--out", self.out, "--guide", "1e-9")[1]
        self.assertIn("; motor at its bound\n", text)

        thrown = {**TASK, "initial": {"qvel": [2] + 12 * [0]}}
        one, other = self.optimize(thrown, "--guide", "1e-6", "--guide-bodies",
                                   "hand box, hand other")["guide"]
        self.assertEqual((one["touched"], other["touched"]), (True, False))
        self.assertLess(one["distance_least"], 1e-4)
        self.assertAlmostEqual(other["distance_least"], 0.2, delta=1e-9)
        for more in (["--guide", "0"], ["--contact", "none"]):
            self.assertEqual(self.optimize(TASK, *more)["guide"], [])

        # of all bodies, of which there are many, one line
        self.write("many.xml", XML.replace("</worldbody>", "".join(
            '<body pos="0 0 %g"><freejoint/><geom size="0.05"/></body>' % (1 + 0.2 * i)
            for i in range(4)) + "</worldbody>") % GUIDE)
        many = {**TASK, "scene": "many.xml", "initial": {}}
        self.assertEqual(len(self.optimize(many)["guide"]), 21)
        text = self.run_cli("optimize", self.path("task.json"), "--out", self.out)[1]
        self.assertEqual(text.count("never"), 1)
        self.assertIn("21 of 21 pairs", text)

    def test_anneal(self):
        """The result is that of the last value, and the written task has it."""
        task = {**TASK, "optimizer": {**TASK["optimizer"], "anneal": {"contact/guide": [0.1, 0]}}}
        r = self.optimize(task)
        self.assertEqual(r["bias"], {"position": 0, "loss_plain": r["loss_last"]})
        self.assertEqual(r["best_iteration"], 5)
        again = os.path.join(self.out, "task.json")
        self.assertAlmostEqual(self.run_json("grad", again)["loss"], r["loss_last"], delta=1e-12)
        self.refused("optimize", self.write("bad.json", task), "--out", self.path("other"),
                     "--optimizer", "lbfgsb", names=["lbfgsb", "change"])
        for key, value, words in (("contact/gide", [1, 0], "contact/gide"),
                                  ("contact/guide", [1], "contact/guide"),
                                  ("contact/guide", [-1, 0], "contact/guide"),
                                  ("body/box/inertia", [1, 0], "body/box/inertia")):
            task["optimizer"]["anneal"] = {key: value}
            self.refused("optimize", self.write("bad.json", task), "--out", self.path("other"),
                         names=["bad.json", words])

    def test_files(self):
        """Bodies of an MJCF go to .json, and to scenes that optimize writes."""
        self.run_json("convert", self.scene, "--out", self.path("c.json"))
        with open(self.path("c.json")) as f:
            self.assertEqual(json.load(f)["guides"], [{"body1": "hand", "body2": "box"}])
        task = {**TASK, "contact": {"guide": 0.02, "guide_bodies": [["other", "hand"]]}}
        self.optimize(task)
        text = cli.read(os.path.join(self.out, "scene.xml"))
        self.assertIn("hand other", text)
        self.assertNotIn("hand b*", text)
        self.run_json("convert", os.path.join(self.out, "scene.xml"), "--out", self.path("d.json"))
        with open(self.path("d.json")) as f:
            self.assertEqual(json.load(f)["guides"], [{"body1": "hand", "body2": "other"}])
        wrong = self.write("w.xml", XML % BODIES.replace("b*", "nobody"))
        self.refused("simulate", wrong, "--time", "0", names=["w.xml", "guide_bodies", "nobody"])


if __name__ == "__main__":
    unittest.main()
