#!/usr/bin/env python3
"""Tendons through the command: others' scenes, model files, certified gradients, written scenes."""
import json
import os
import unittest

from common import cli

MODELS = os.environ.get("DIJOCO_DM_CONTROL")

# An arm on a hinge with a rope over a pulley to a weight, a fixed tendon, and motors on both, on a
# site and by a crank.
SCENE = """<mujoco><option timestep="0.005"><flag contact="disable"/></option><worldbody>
<site name="top" pos="0 0 1"/><site name="side" pos=".6 0 1"/><site name="wheel" pos=".3 .2 .8"/>
<body name="arm" pos="0 0 .2"><joint name="j" axis="0 1 0" damping=".1"/>
  <geom type="capsule" fromto="0 0 0 .5 0 0" size=".03"/><site name="hand" pos=".4 0 .05"/></body>
<body name="load" pos=".6 0 .3"><joint name="k" type="slide" axis="0 0 1" damping=".1"/>
  <geom size=".06"/><site name="hook" pos="0 .01 .06"/></body></worldbody>
<tendon><spatial name="rope" stiffness="60" damping=".5" springlength=".9" limited="true"
  range="0 1.9" armature=".05"><site site="hand"/><site site="top"/><site site="side"/>
  <pulley divisor="2"/><site site="side"/><site site="hook"/></spatial>
<fixed name="gear" stiffness="3" springlength="-.1 .2"><joint joint="j" coef=".3"/>
  <joint joint="k" coef="-1"/></fixed></tendon>
<actuator><motor name="winch" tendon="rope" gear="2"/><position tendon="gear" kp="4"/>
<general site="hand" refsite="hook" gear="1 .2 -.3 .1 0 .2" biastype="affine" biasprm="0 -1 -.1"/>
<motor cranksite="wheel" slidersite="hand" cranklength="1.5"/></actuator></mujoco>"""

NAMES = ["site/hand/pos", "site/top/pos", "site/hook/pos", "body/load/pos", "body/arm/quat",
         "joint/j/pos", "joint/j/axis", "tendon/rope/stiffness", "tendon/rope/damping",
         "tendon/rope/springlength", "tendon/gear/stiffness", "tendon/gear/springlength",
         "actuator/winch/gear", "ctrl", "qpos0"]


class Tendons(cli.Case):
    def run_ok(self, *arguments):
        quiet = ["--quiet"] if arguments[0] != "inspect" else []
        code, _, err = self.run_cli(*arguments, *quiet)
        self.assertEqual((code, err), (0, ""))

    def scene(self):
        return self.write("scene.xml", SCENE)

    @unittest.skipUnless(MODELS, "scripts/fetch_models.sh fetches dm_control's models")
    def test_models(self):
        # largest distance of any body from MuJoCo's in 1 s at 1 ms; the ball collides with its cup
        for name, limit in (("point_mass", 1e-5), ("ball_in_cup", 0.03), ("fish", 1e-3)):
            scene = os.path.join(MODELS, name + ".xml")
            for integrator in ("position", "variational"):
                run = self.run_json("simulate", scene, "--time", "1", "--ctrl-seed", "1",
                                    "--integrator", integrator)
                self.assertEqual(run["unconverged_steps"], 0, name)
            found = self.run_json("compare", scene, "--time", "1", "--ctrl-seed", "1", "--timestep",
                                  "0.001", "--out", self.path(name))
            self.assertLess(found["difference"]["position"]["max"], limit, name)

    def test_exact(self):
        report = self.run_json("inspect", self.scene())
        self.assertEqual(sorted((e["element"], e["feature"]) for e in report["features"]),
                         [("actuator/#2", "biasprm"), ("tendon/gear", "springlength"),
                          ("tendon/rope", "armature"), ("tendon/rope", "range")])
        self.assertEqual(report["sizes"]["ntendon"], 2)

    def test_file(self):
        model, first, again = self.path("model.json"), self.path("a.csv"), self.path("b.csv")
        self.run_ok("convert", self.scene(), "--out", model)
        for scene, out in ((self.path("scene.xml"), first), (model, again)):
            self.run_ok("simulate", scene, "--time", "0.5", "--ctrl-seed", "2", "--out", out)
        with open(first) as a, open(again) as b:
            self.assertEqual(a.read(), b.read())

    def test_gradient(self):
        for integrator in ("position", "variational"):
            task = self.write("task.json", json.dumps({
                "scene": self.scene(), "integrator": integrator, "horizon": 20,
                "ctrl": [0.3, -0.2, 0.5, 0.2], "initial": {"qvel": [0.5, -0.3]},
                "loss": [{"type": "position", "body": "load", "target": [0.5, 0, 0.4]},
                         {"type": "qvel", "joint": "j", "target": 0.2, "when": "running"}],
                "variables": [{"name": name} for name in NAMES]}))
            result = self.run_json("grad", task, "--check")
            for entry in result["certificate"]:
                self.assertTrue(entry["passed"], (integrator, entry))
            sizes = {v["name"]: max(abs(g) for g in v["gradient"]) for v in result["variables"]}
            for name in NAMES:
                self.assertGreater(sizes[name], 0, name)

    def test_written(self):
        # a design whose sites have moved, as a scene for MuJoCo: of MJCF, and of a model file
        model = self.path("model.json")
        self.run_ok("convert", self.scene(), "--out", model)
        for scene in (self.path("scene.xml"), model):
            task = self.write("task.json", json.dumps({
                "scene": scene, "horizon": 5, "loss": [
                    {"type": "position", "body": "load", "target": [0.5, 0, 0.4]}],
                "variables": [{"name": "site/hand/pos"}, {"name": "tendon/rope/stiffness"},
                              {"name": "tendon/gear/springlength", "index": [1]}],
                "optimizer": {"type": "adam", "rate": 0.01, "iterations": 2}}))
            out = self.path("out_" + os.path.basename(scene))
            self.run_ok("optimize", task, "--out", out)
            self.run_ok("simulate", os.path.join(out, "scene.xml"), "--time", "0.1", "--engine",
                        "mujoco")
            final = self.run_json("grad", os.path.join(out, "task.json"))
            again = self.run_json("simulate", os.path.join(out, "scene.xml"), "--time", "0.1")
            self.assertEqual(again["unconverged_steps"], 0)
            self.assertNotEqual(final["variables"][1]["value"], [60])


if __name__ == "__main__":
    unittest.main()
