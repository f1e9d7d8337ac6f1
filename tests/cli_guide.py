#!/usr/bin/env python3
"""A guide by the command's options and in tasks: which bodies it moves, gradients that are no
derivatives of the run, and bad input."""
import copy
import os
import unittest

from common import cli


def ball(name, x):
    return {"name": name, "pos": [x, 0, 0], "mass": 0.5, "inertia": [0.002, 0.003, 0.004]}


# A hand on a slide between two free boxes; they do not meet.
SCENE = {
    "dijoco_model": 1, "option": {"timestep": 0.01, "gravity": [0, 0, 0]},
    "bodies": [{"name": "world"}, ball("hand", 0), ball("left", -0.4), ball("right", 0.3)],
    "joints": [{"name": "slide", "type": "slide", "body": "hand", "axis": [1, 0, 0]},
               {"name": "l", "type": "free", "body": "left"},
               {"name": "r", "type": "free", "body": "right"}],
    "geoms": [{"type": "sphere", "body": "hand", "size": [0.05, 0, 0]},
              {"type": "box", "body": "left", "size": [0.05, 0.05, 0.05]},
              {"name": "box", "type": "box", "body": "right", "size": [0.05, 0.04, 0.03]}],
}
TASK = {
    "scene": "s.json", "horizon": 20, "contact": {"guide": 0.05},
    "initial": {"qvel": [0.3] + 12 * [0]},
    "loss": [{"type": "position", "body": "left", "target": [-0.6, 0, 0]},
             {"type": "position", "body": "right", "target": [0.5, 0.1, 0]}],
    "variables": [{"name": "qvel0", "index": [0]}, {"name": "geom/box/size"},
                  {"name": "contact/guide"}],
}


class Guide(cli.Case):
    def setUp(self):
        super().setUp()
        self.write("s.json", SCENE)

    def task(self, **contact):
        """The task's file with this contact."""
        return self.write("task.json", {**TASK, "contact": contact})

    def speed_gradient(self, *arguments, **contact):
        g = self.run_json("grad", self.task(**contact), *arguments)
        return g["variables"][0]["gradient"][0]

    def test_certificate(self):
        """Of a guide that acts in the run."""
        g = self.run_json("grad", self.task(guide=0.05), "--check")
        self.assertFalse(g["surrogate"])
        for c in g["certificate"]:
            self.assertTrue(c["passed"], c)
            self.assertFalse(c["surrogate"])
            self.assertGreater(abs(c["analytic"]), 1e-9)

    def test_surrogate(self):
        """Of one that acts in derivatives alone: both numbers and no verdict."""
        task = {**TASK, "contact": {}, "variables": TASK["variables"][:2]}
        plain = self.run_json("grad", self.write("plain.json", task), "--check")
        task = self.task(guide=0.05, guide_backward_only=True)
        g = self.run_json("grad", task, "--check")
        self.assertEqual((g["status"], g["surrogate"]), ("ok", True))
        self.assertEqual(g["loss"], plain["loss"])
        for c in g["certificate"]:
            self.assertIs(c["surrogate"], True)
            self.assertIsNone(c["passed"])
            self.assertGreater(c["relative_error"], 1e-3)
            self.assertNotEqual(c["analytic"], 0)
        for c, p in zip(g["certificate"], plain["certificate"]):   # differences are those of runs
            self.assertAlmostEqual(c["difference"], p["difference"], delta=1e-9)
            self.assertIs(p["passed"], True)
        code, text, err = self.run_cli("grad", task, "--check")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(text.count("  surrogate\n"), 3, text)
        self.assertNotIn("passed", text)
        self.assertNotIn("FAILED", text)
        self.assertIn("guide_backward_only", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 100)

    def test_decay(self):
        """By it gradients fall less with the distance; runs are the same."""
        shares = []
        for decay in (1.5, 0.25):
            both = dict(guide=0.05, guide_backward_only=True, guide_decay=decay)
            near = self.speed_gradient(guide_bodies=[["hand", "right"]], **both)
            far = self.speed_gradient(guide_bodies=[["hand", "left"]], **both)
            shares.append(abs(far / near))
        self.assertEqual(self.speed_gradient(guide=0.05, guide_backward_only=True),
                         self.speed_gradient(guide=0.05, guide_backward_only=True,
                                             guide_decay=1.5))
        self.assertGreater(shares[1], 1.2 * shares[0])
        text = self.run_cli("help", "settings")[1]
        self.assertIn("guide_decay", text)

    def test_no_surrogate_without_a_guide(self):
        for arguments in (["--guide", "0"], ["--guide-factor", "0"], ["--contact", "none"]):
            task = self.task(guide_backward_only=True)
            g = self.run_json("grad", task, "--check", *arguments)
            self.assertFalse(g["surrogate"])
            for c in g["certificate"][:2]:   # without contact there is no contact/guide to vary
                self.assertEqual((c["passed"], c["surrogate"]), (True, False), c)
        code, text, _ = self.run_cli("grad", task, "--check", "--guide", "0")
        self.assertEqual(code, 0)
        self.assertNotIn("surrogate", text)

    def test_failure_is_told_beside(self):
        """Other failures of a surrogate count."""
        task = {**TASK, "contact": {"guide": 0.05, "guide_backward_only": True},
                "tolerance": 1e-30}
        self.run_json("grad", self.write("t.json", task), "--check", status=1)

    def test_bodies(self):
        """Who is listed follows, by task and options; options are stronger."""
        self.assertEqual(self.speed_gradient(guide=0), 0)
        both = self.speed_gradient(guide=0.05)
        left = self.speed_gradient(guide=0.05, guide_bodies=[["hand", "left"]])
        right = self.speed_gradient(guide=0.05, guide_bodies=[["r*", "hand"]])
        self.assertTrue(left != 0 and right != 0 and left != right)
        self.assertNotIn(both, (left, right))
        self.assertEqual(self.speed_gradient(guide=0.05, guide_bodies=[["left", "right"]]), 0)
        self.assertEqual(self.speed_gradient(guide=0.05, guide_bodies=[]), both)
        for words in ("right hand", "hand r*,hand right"):
            self.assertEqual(self.speed_gradient("--guide-bodies", words, guide=0.05,
                                                 guide_bodies=[["hand", "left"]]), right)
        self.assertEqual(self.speed_gradient("--guide", "0.05"), both)
        self.assertNotEqual(self.speed_gradient("--guide", "auto"), 0)
        only = self.speed_gradient("--guide", "0.05", "--guide-backward-only", "true")
        self.assertNotIn(only, (0, both))

    def test_scene(self):
        """A scene's own list; what is written is read."""
        text = copy.deepcopy(SCENE)
        text["option"]["contact"] = {"guide": 0.05}
        text["guides"] = [{"body1": "right", "body2": "hand"}]
        self.write("s.json", text)
        right = self.speed_gradient()
        self.run_json("convert", self.path("s.json"), "--out", self.path("again.json"))
        again = cli.load(self.path("again.json"))
        self.assertEqual(again["guides"], [{"body1": "hand", "body2": "right"}])
        os.replace(self.path("again.json"), self.path("s.json"))
        self.assertEqual(self.speed_gradient(), right)
        left = self.speed_gradient("--guide-bodies", "hand left")
        self.assertNotEqual(left, right)

    def bad_body(self, name, **contact):
        self.refused("grad", self.task(**contact), names=["guide_bodies", name])

    def test_bad_input(self):
        def bad(*names, **contact):
            self.refused("grad", self.task(**contact), names=["task.json", *names])

        bad("guide", guide=-1)
        bad("guide", guide="some")
        bad("guide_length", guide=1, guide_length=0)
        bad("guide_part", guide=1, guide_part=2)
        bad("guide_backward_only", guide=1, guide_backward_only="perhaps")
        self.refused("grad", self.task(guide=1, guide_decay=0.25),
                     names=["guide_decay", "guide_backward_only"])
        for decay in (-0.5, 0, 1, 1.4, 1.6, "slow"):
            bad("guide_decay", guide=1, guide_backward_only=True, guide_decay=decay)
        self.bad_body("'nobody'", guide=1, guide_bodies=[["hand", "nobody"]])
        self.bad_body("'x*'", guide=1, guide_bodies=[["hand", "left"], ["x*", "hand"]])
        for wrong in ("hand left", {"hand": "left"}, ["hand", "left"], [["hand"]],
                      [["hand", "left", "right"]], [["hand", 3]], [[]], 7, None):
            bad("guide_bodies", guide=1, guide_bodies=wrong)
        good, scene = self.task(guide=1), self.path("s.json")
        for words, name in (("hand", "hand"), ("hand left right", "hand left right"),
                            ("hand left,", "hand left,"), ("hand nobody", "'nobody'")):
            self.refused("grad", good, "--guide-bodies", words, names=["guide_bodies", name])
            self.refused("simulate", scene, "--time", "0", "--guide-bodies", words,
                         names=["guide_bodies", name])
        self.refused("simulate", scene, "--time", "0", "--guide", "-1", names=["--guide"])
        self.refused("simulate", scene, "--time", "0", "--guide-backward-only", "2",
                     names=["--guide-backward-only"])


if __name__ == "__main__":
    unittest.main()
