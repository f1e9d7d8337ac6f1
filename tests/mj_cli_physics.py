#!/usr/bin/env python3
"""Contact model mujoco by the command: beside stock MuJoCo, certificates, what is refused."""
import csv
import os
import unittest

from common import cli

SOURCE = os.environ["DIJOCO_SOURCE"]
# A pusher that is on a box, which slides; with an equality.
PUSH = """<mujoco><option timestep="0.005" solver="%s"/><worldbody>
<geom type="plane" size="2 2 .1"/>
<body name="hand" pos="0 0 .06"><joint name="slide" type="slide" axis="1 0 0" damping="1"/>
<geom name="hand" type="sphere" size=".05"/></body>
<body name="box" pos=".0975 .01 .0498"><freejoint/>
<geom name="box" type="box" size=".05 .05 .05"/></body>
<body name="rod" pos="0 1 .5"><joint axis="0 1 0"/>
<geom type="capsule" size=".02" fromto="0 0 0 .3 0 0"/></body></worldbody>
<equality><connect body1="rod" anchor=".3 0 0"/></equality>
<actuator><position joint="slide" kp="100" kv="20" ctrlrange="-1 1"/></actuator></mujoco>"""
TASK = {"scene": "push.xml", "contact": "mujoco", "horizon": 40, "ctrl": [0.2],
        "initial": {"qvel": [0.3] + 7 * [0]},
        "loss": [{"type": "position", "body": "box", "target": [0.3, 0.03, 0.05]},
                 {"type": "effort", "weight": 0.01}],
        "variables": [{"name": "ctrl"}, {"name": "qpos0"}, {"name": "qvel0"}]}


class Physics(cli.Case):
    def setUp(self):
        super().setUp()
        self.scene = self.write("push.xml", PUSH % "Newton")

    def states(self, *options):
        out, ctrl = self.path("run.csv"), self.write("ctrl.csv", "ctrl[0]\n0.2\n")
        found = self.run_json("simulate", self.scene, "--time", "0.5", "--ctrl", ctrl, "--out", out,
                              *options)
        with open(out) as f:
            return found, [[float(x) for x in row] for row in list(csv.reader(f))[1:]]

    def test_beside_stock(self):
        found, ours = self.states("--contact", "mujoco")
        _, theirs = self.states("--engine", "mujoco", "--allow-ignored")
        self.assertEqual(found["settings"]["contact"], "mujoco")
        self.assertEqual(found["unconverged_steps"], 0)
        self.assertLess(found["smallest_gap"], 0)   # the box touches the floor, the hand the box
        for a, b in zip(ours, theirs):
            for x, y in zip(a, b):
                self.assertAlmostEqual(x, y, delta=1e-6)   # the solver's tolerance is 1e-8
        # another integrator leaves the equality out, and says so
        self.refused("simulate", self.scene, "--time", "0.1", "--integrator", "position",
                     names=["connect"])
        half = self.states("--contact", "mujoco", "--timestep", "0.0025", "--set",
                           "geom/box/friction=0.2,0.005,0.0001")[1]
        stock = self.states("--engine", "mujoco", "--timestep", "0.0025", "--allow-ignored",
                            "--set", "geom/box/friction=0.2,0.005,0.0001")[1]
        self.assertEqual(len(half), 201)
        self.assertAlmostEqual(half[-1][2], stock[-1][2], delta=1e-6)
        self.assertNotAlmostEqual(half[-1][2], ours[-1][2], delta=1e-4)

    def certified(self, task, *options):
        found = self.run_json("grad", task, "--check", *options)
        for entry in found["certificate"]:
            self.assertTrue(entry["passed"], entry)
        return found

    def test_certificates(self):
        task = self.write("task.json", TASK)
        found = self.certified(task)
        self.assertGreater(max(abs(g) for g in found["variables"][0]["gradient"]), 1e-4)
        self.write("push.xml", PUSH % "CG")   # which is not solved far enough by itself
        again = self.certified(task)
        for a, b in zip(found["variables"][0]["gradient"], again["variables"][0]["gradient"]):
            self.assertAlmostEqual(a, b, delta=1e-9)
        self.certified(os.path.join(SOURCE, "models/throw/task.json"), "--contact", "mujoco")
        self.certified(os.path.join(SOURCE, "models/push_arm/task.json"), "--contact", "mujoco")

    def test_design(self):
        names = ["body/box/mass", "body/rod/mass", "geom/hand/size", "joint/slide/damping",
                 "option/gravity", "actuator/#0/gainprm"]
        task = dict(TASK, variables=[{"name": name} for name in names])
        found = self.certified(self.write("task.json", task))
        for variable in found["variables"][:2]:
            largest = max(abs(g) for g in variable["gradient"])
            self.assertEqual(largest > 1e-6, variable["name"] == "body/box/mass", variable)

    def test_stance(self):
        task = cli.load(os.path.join(SOURCE, "models/stance/task.json"))
        task.update(scene=os.path.join(SOURCE, "models/stance/scene.xml"), horizon=100)
        final = self.run_json("optimize", self.write("task.json", task), "--out", self.path("out"))
        self.assertLess(final["loss_last"], 0.1 * final["loss_first"])
        # MuJoCo on the written scene is what was designed
        self.assertLess(final["replay"]["position"]["max"], 1e-4)
        more = [{"name": name} for name in (
            "ctrl", "qvel0", "body/trunk/ipos", "geom/fr_foot/size", "geom/rl_foot/friction",
            "joint/rr_knee/armature", "actuator/fl_knee/gainprm")]
        for variables in task["variables"] + more[:2], more[2:]:
            self.certified(self.write("task.json", dict(task, horizon=30, variables=variables)))

    def test_optimize(self):
        task = self.write("task.json", dict(TASK, variables=[{"name": "ctrl"}], optimizer={
            "type": "lbfgsb", "iterations": 20}))
        out = self.path("out")
        self.run_json("optimize", task, "--out", out)
        final = cli.load(os.path.join(out, "final.json"))
        self.assertLess(final["loss_last"], 0.5 * final["loss_first"])
        # the written task says what its steps are
        again = self.run_json("grad", os.path.join(out, "task.json"))
        self.assertAlmostEqual(again["loss"], final["loss_last"], delta=1e-9)

    def test_refused(self):
        own = os.path.join(SOURCE, "examples/box.json")
        self.refused("simulate", own, "--contact", "mujoco", "--time", "0.1",
                     names=["loaded by MuJoCo"])
        self.refused("simulate", self.scene, "--contact", "mujoco", "--integrator", "bdf2",
                     "--time", "0.1", names=["bdf2"])
        bounce = self.write("b.json", dict(TASK, variables=[{"name": "geom/box/restitution"}]))
        self.refused("grad", bounce, names=["geom/box/restitution"])
        follows = self.write("f.json", dict(TASK, inertia_from_geom=True,
                                            variables=[{"name": "geom/box/size"}]))
        self.refused("grad", follows, names=["inertia_from_geom"])
        self.write("push.xml", (PUSH % "Newton").replace("timestep", 'integrator="RK4" timestep'))
        self.refused("grad", self.write("task.json", TASK), names=["RK4"])


if __name__ == "__main__":
    unittest.main()
