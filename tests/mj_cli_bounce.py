#!/usr/bin/env python3
"""Restitution as a parameter of tasks: certified, identified from heights of a ball, written."""
import csv
import os
import unittest

from common import cli

SCENE = """<mujoco><option timestep="0.002"/><worldbody>
<geom name="floor" type="plane" size="5 5 .1" solref=".02 .6" %s/>
<body name="ball" pos="0 0 .55"><freejoint/><geom name="ball" size=".05" solref="%s" %s/></body>
</worldbody>%s</mujoco>"""
PAIR = """<contact><pair name="meeting" geom1="ball" geom2="floor" solref=".02 .3"/></contact>"""
LAST = 300


class Bounce(cli.Case):
    def scene(self, solref=".02 1", floor="", ball="", more=""):
        return self.write("scene.xml", SCENE % (floor, solref, ball, more))

    def task(self, names, heights, **more):
        """Observed every 20 ms of what follows the first impact."""
        loss = [{"type": "position", "body": "ball", "target": [0, 0, heights(k)], "index": [2],
                 "when": {"step": k}} for k in range(180, LAST + 1, 10)]
        return self.write("task.json", dict({
            "scene": "scene.xml", "horizon": LAST, "loss": loss,
            "variables": [{"name": n, "min": 0.001, "max": 1} for n in names],
            "optimizer": {"type": "lbfgsb", "iterations": 60}}, **more))

    def heights(self, scene, *options):
        run = self.path("run.csv")
        self.run_json("simulate", scene, "--time", "0.61", "--out", run, *options)
        with open(run) as f:
            return [float(row["qpos[2]"]) for row in csv.DictReader(f)]

    def optimized(self, task, out, *options):
        self.run_json("optimize", task, "--out", out, *options)
        return cli.load(os.path.join(out, "final.json"))

    def identify(self, scene, name, e, **more):
        """Heights of a run with e; the task knows nothing of it. Returns what is written."""
        seen = self.heights(scene, "--set", "%s=%.17g" % (name, e))
        task, out = self.task([name], lambda k: seen[k], **more), self.path("out")
        final = self.optimized(task, out)
        self.assertAlmostEqual(final["variables"][0]["value"][0], e, delta=1e-8)
        self.assertLess(final["loss_last"], 1e-12 * final["loss_first"])
        # the written scene bounces so, without the task
        for a, b in zip(self.heights(os.path.join(out, "scene.xml")), seen):
            self.assertAlmostEqual(a, b, delta=1e-7)
        return cli.read(os.path.join(out, "scene.xml"))

    def test_identified(self):
        scene = self.scene(".02 .4")
        for e, start in ((0.3, 0.5), (0.62, None), (0.62, 0.95), (0.9, 0.3)):
            given = {"set": {"geom/ball/restitution": [start]}} if start else {}
            text = self.identify(scene, "geom/ball/restitution", e, **given)
            self.assertNotIn("dijoco_restitution", text)

    def test_pair(self):
        text = self.identify(self.scene(more=PAIR), "pair/meeting/restitution", 0.7)
        self.assertNotIn("dijoco_restitution", text)

    def test_pair_friction(self):
        """From how far a ball is after it has bounced and slid; another pair comes first."""
        more = """<contact><pair geom1="ground" geom2="ball"/>
                  <pair geom1="ball" geom2="floor" friction="1 1 .01 .001 .001"/></contact>
                  <asset><hfield name="h" nrow="2" ncol="2" size="1 1 .1 .1"/></asset>"""
        scene = self.write("scene.xml", (SCENE % ("", ".02 .3", "", more)).replace(
            "<worldbody>", '<worldbody><geom name="ground" type="hfield" hfield="h" pos="9 9 -9"/>'))
        start = {"initial": {"qvel": [3, 0, 0, 0, 0, 0]}}
        self.write("qvel.txt", "3 0 0 0 0 0")
        loss = [{"type": "position", "body": "ball", "target": [0, 0, 0], "index": [0]}]
        name = "pair/#1/friction"
        task = self.task([name], lambda k: 0, loss=loss, **start)
        found = self.run_json("grad", task, "--check", "--set",
                              name + "=0.07")
        self.assertTrue(found["certificate"][0]["passed"])
        self.assertLess(found["variables"][0]["gradient"][0], -1e-2)
        run = self.path("run.csv")
        self.run_json("simulate", scene, "--time", "0.6", "--out", run, "--set", name + "=0.1",
                      "--qvel", self.path("qvel.txt"))
        with open(run) as f:
            loss[0]["target"][0] = float(list(csv.DictReader(f))[-1]["qpos[0]"])
        task = self.task([name], lambda k: 0, loss=loss, set={name: [0.05]}, **start)
        final = self.optimized(task, self.path("out"), "--allow-ignored")
        self.assertAlmostEqual(final["variables"][0]["value"][0], 0.1, delta=1e-6)
        with open(self.path("out/scene.xml")) as f:
            self.assertRegex(f.read(), r'friction="(0\.1|0\.09999|0\.1000)\d* \1\d* 0.01 ')

    def test_given(self):
        """What MJCF gives stays a number of its own."""
        custom = "<custom><numeric name='dijoco_restitution/ball' data='.5'/></custom>"
        text = self.identify(self.scene(".03 .5", more=custom), "geom/ball/restitution", 0.8)
        self.assertIn("dijoco_restitution/ball", text)
        self.assertIn('solref="0.03 0.5"', text)

    def test_certified(self):
        names = ["geom/ball/restitution", "geom/floor/restitution"]
        slide = {"initial": {"qvel": [0.7, 0.2, 0, 0, 3, 0]}}
        # whose counts: the greater, or that of higher priority
        for solref, floor, ball, counts in ((".02 .3", "", "", 0), (".02 1", "", "", 1),
                                            (".02 .9", "", "priority='1'", 0),
                                            (".02 .3", "priority='2'", "priority='1'", 1)):
            self.scene(solref, floor, ball)
            found = self.run_json("grad", self.task(names, lambda k: 0.3, **slide), "--check")
            gradient = [v["gradient"][0] for v in found["variables"]]
            self.assertGreater(abs(gradient[counts]), 1e-3)
            self.assertEqual(gradient[1 - counts], 0)
            self.assertTrue(all(c["passed"] for c in found["certificate"]), found["certificate"])
        self.scene(more=PAIR)
        found = self.run_json("grad", self.task(["pair/meeting/restitution"] + names,
                                                lambda k: 0.3, **slide), "--check")
        self.assertTrue(all(c["passed"] for c in found["certificate"]))
        gradient = [v["gradient"][0] for v in found["variables"]]
        self.assertTrue(abs(gradient[0]) > 1e-3 and gradient[1:] == [0, 0])

    def test_tie(self):
        """Of two equal ones each has half, and moved together they are one coefficient."""
        names = ["geom/ball/restitution", "geom/floor/restitution"]
        self.scene(".02 .6")
        found = self.run_json("grad", self.task(names, lambda k: 0.3))
        a, b = (v["gradient"][0] for v in found["variables"])
        self.assertTrue(a == b and a != 0)
        task = self.task(names, lambda k: 0.3, variables=[{"name": "both"}],
                         free={"both": {"value": [0.4]}},
                         maps=[{"type": "shared", "from": "both", "to": names}])
        found = self.run_json("grad", task, "--check")
        self.assertTrue(found["certificate"][0]["passed"])

    def test_refused(self):
        scene = self.scene()
        for bad in ("-0.1", "1.01", "x"):
            self.refused("simulate", scene, "--time", "1", "--set",
                         "geom/ball/restitution=" + bad, names=["restitution"])
        self.refused("simulate", scene, "--time", "1", "--set", "pair/meeting/restitution=0.5",
                     names=["pair/meeting/restitution"])

    def test_shipped(self):
        """The heights of a ball of .62 that is rigid and meets the floor at once, to the mm."""
        out = self.path("out")
        task = os.path.join(cli.SOURCE, "models/bounce/task.json")
        final = self.optimized(task, out)
        self.assertAlmostEqual(final["variables"][0]["value"][0], 0.62, delta=2e-3)
        again, last = self.run_json("grad", os.path.join(out, "task.json")), final["loss_last"]
        self.assertAlmostEqual(again["loss"], last, delta=1e-9 * last)


if __name__ == "__main__":
    unittest.main()
