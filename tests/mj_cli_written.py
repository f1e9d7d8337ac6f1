#!/usr/bin/env python3
"""A design of every kind of parameter, under every contact model, is written, and what was written
gives the loss of the result when it is run again; what cannot be written is not lost."""
import json
import os
import unittest

from common import cli

MODELS = ("separating_plane", "implicit_surface", "penalty", "none")
WEDGE = "-.05 -.04 -.03 .08 -.04 -.03 -.05 .05 -.03 .07 .05 -.03 -.04 -.03 .05 .06 .04 .05"
SCENE = """<mujoco><option timestep="0.004" density="1.2" viscosity="1e-3" wind=".1 0 0"/>
<custom><text name="dijoco_shape/egg" data="superellipsoid .06 .05 .07 2"/>
  <numeric name="dijoco_points/brick" data="-.1 -.08 -.05 .1 -.08 -.05 -.1 .08 -.05 .1 .08 -.05"/>
</custom>
<asset><mesh name="wedge" inertia="convex" vertex="%s"/></asset>
<worldbody><geom name="floor" type="plane" size="2 2 .1" friction=".6"/>
  <site name="hook" pos="0 .3 .8"/>
  <body name="arm" pos="0 0 .4" quat=".9 .1 .2 .3" gravcomp=".2">
    <inertial pos=".01 .02 .03" quat=".8 .1 .1 .5" mass="1.1" diaginertia=".01 .012 .008"/>
    <joint name="hinge" axis=".1 1 0" pos=".01 0 .02" damping=".3" stiffness="2" springref=".1"
           armature=".02" frictionloss=".05" range="-2 2" limited="true"/>
    <geom name="egg" type="ellipsoid" size=".06 .05 .07" pos=".05 0 0" quat=".9 .2 .1 0"/>
    <body name="hand" pos=".2 0 0"><joint name="slide" type="slide" axis="1 0 .2" damping="2"/>
      <geom name="wedge" type="mesh" mesh="wedge" friction=".4"/><site name="tip" pos=".05 0 .01"/>
    </body>
  </body>
  <body name="brick" pos=".6 0 .048"><freejoint name="free"/>
    <geom name="brick" type="box" size=".1 .08 .05" mass="1" friction=".5"/></body>
  <body name="ball" pos=".62 .01 .137"><freejoint/>
    <geom name="ball" type="sphere" size=".04" mass=".3" friction=".7"/></body>
</worldbody>
<tendon><spatial name="rope" stiffness="3" damping=".2" frictionloss=".1" armature=".01"
    springlength=".3 .5"><site site="hook"/><site site="tip"/></spatial>
  <fixed name="band" stiffness="1" damping=".1" springlength=".1"><joint joint="hinge" coef=".5"/>
    <joint joint="slide" coef=".3"/></fixed></tendon>
<actuator><general name="motor" joint="hinge" gainprm="2" biasprm=".1 -.5 -.05" gear="1.5"
    biastype="affine"/><motor name="push" joint="slide"/></actuator>
</mujoco>""" % WEDGE

TASK = {"scene": "scene.xml", "horizon": 12, "initial": {"qvel": [.3, -.2] + [.1, .2, 0, 0, .3, .4,
                                                                            .2, -.1, 0, 0, 0, .2]},
        "ctrl": [0.4, -0.6],
        "loss": [{"type": "position", "site": "tip", "target": [0.3, 0.1, 0.3], "when": "running"},
                 {"type": "position", "body": "ball", "target": [.6, .1, .1], "when": "running"},
                 {"type": "position", "body": "brick", "target": [.7, .1, .05], "when": "running"}]}

# The element for each kind of parameter, where it is another one than for others of its kind.
ELEMENT = {"body": "arm", "joint": "hinge", "geom": "ball", "mesh": "wedge", "site": "tip",
           "tendon": "rope", "actuator": "motor", "geom/quat": "egg", "geom/surface": "egg",
           "geom/points": "brick", "body/inertia": "hand", "geom/sharpness": "egg"}
# Models without a parameter of that name, or with two names of one; motors need `euler`
# (test_mj_motor.c).
MISSING = {"separating_plane": ("actuator/N/motorprm",),
           "penalty": ("contact/support", "contact/stiffness", "contact/guide"),
           "implicit_surface": ("contact/support", "contact/stiffness", "contact/guide")}


class Written(cli.Case):
    def names(self, model):
        """Parameters of the table, of an element of the scene: of the first model all, of others
        those that have to do with contact."""
        code, text, _ = self.run_cli("help", "parameters")
        self.assertEqual(code, 0)
        for row in [line for line in text.splitlines() if line and line[0] != " "]:
            parts = row.split("/")
            of_contact = parts[0] in ("geom", "mesh", "contact", "option") or row == "body/N/mass"
            if model != MODELS[0] and not of_contact:
                continue
            if row in MISSING.get(model, ()):
                continue
            if parts[1] == "N":
                parts[1] = ELEMENT.get(parts[0] + "/" + parts[2], ELEMENT.get(parts[0]))
            if parts[1]:
                yield row, "/".join(parts)

    def values(self, task, names):
        code, text, err = self.run_cli("grad", self.write("look.json", {**task, "variables": [
            {"name": name} for name in names]}), "--json")
        self.assertIn(code, (0, 1), err)
        return {v["name"]: v["value"] for v in json.loads(text)["variables"]}

    def check(self, task, out, again=True):
        """The summary of a short run, all of which is there."""
        code, text, err = self.run_cli("optimize", self.write("task.json", task), "--out", out,
                                       "--json", "--quiet")
        self.assertIn(code, (0, 1), err)
        self.assertEqual(err, "")
        r = json.loads(text)
        self.assertEqual(r["scene"], "scene.xml", r.get("scene_note"))
        if again:
            text = self.run_cli("grad", os.path.join(out, "replay.json"), "--json")[1]
            self.assertEqual(json.loads(text)["loss"], r["replayed_loss"])
        if abs(r["replayed_difference"]) > 1e-9:
            self.assertIn("single precision", r["replayed_note"])
        else:
            self.assertNotIn("replayed_note", r)
        return r

    def test_parameters(self):
        """Of every kind, by every contact model that it is of."""
        self.write("scene.xml", SCENE)
        moved, seen = set(), set()
        for model in MODELS:
            task = {**TASK, "contact": model}
            names = list(self.names(model))
            values = self.values(task, [name for _, name in names])
            for row, name in names:
                with self.subTest(model=model, name=name):
                    most = max((abs(x) for x in values[name]), default=0)
                    varied = {**task, "variables": [{"name": name}],
                              "optimizer": {"type": "adam", "rate": 1e-3 * most or 1e-5,
                                            "iterations": 2}}
                    self.check(varied, self.path("out"), len(seen) % 8 == 0)
                    with open(self.path("out/final.json")) as f:
                        end = json.load(f)["variables"][0]
                    seen.add(row)
                    if end["value"] != end["start"]:
                        moved.add(row)
        self.assertGreater(len(seen), 42)
        self.assertGreater(len(moved), 30)

    def test_refused(self):
        """MuJoCo's free joints have no place where their spring rests: what was written is refused
        and kept, and the result is in our own model, which gives its loss."""
        self.write("scene.xml", SCENE)
        out = self.path("out")
        task = {**TASK, "set": {"joint/free/stiffness": 3},
                "variables": [{"name": "joint/free/springref", "index": [0, 1]}],
                "optimizer": {"type": "adam", "rate": 0.01, "iterations": 2}}
        code, text, err = self.run_cli("optimize", self.write("task.json", task), "--out", out,
                                       "--json", "--quiet")
        r = json.loads(text)
        self.assertEqual(code, 1)
        self.assertIn("joint/free/springref: could not be written", err)
        self.assertIn("joint/free/springref", r["scene_note"])
        self.assertIsNone(r["scene"])
        self.assertEqual(sorted(os.listdir(out)), sorted(r["files"]))
        for name in ("scene.json", "scene.refused.xml", "replay.json", "task.json", "final.json"):
            self.assertIn(name, r["files"])
        refused = self.run_json("inspect", os.path.join(out, "scene.refused.xml"))["sizes"]
        self.assertEqual({**refused, "nkey": 0},
                         self.run_json("inspect", self.path("scene.xml"))["sizes"])
        again = self.run_json("grad", os.path.join(out, "replay.json"))
        self.assertEqual(again["loss"], r["replayed_loss"])
        self.assertLess(abs(r["replayed_difference"]), 1e-12)
        self.assertLess(r["loss_last"], r["loss_first"])

    def test_without_links(self):
        """An export that fails takes nothing else with it."""
        self.write("scene.xml", "<mujoco><worldbody><body><joint name='j' axis='0 1 0'/>"
                                "<inertial pos='0 0 -.2' mass='1' diaginertia='.1 .1 .1'/></body>"
                                "</worldbody></mujoco>")
        out = self.path("out")
        task = self.write("task.json", {
            "scene": "scene.xml", "horizon": 10, "variables": [{"name": "qvel0"}],
            "loss": [{"type": "qpos", "joint": "j", "target": 0.1}]})
        code, text, err = self.run_cli("optimize", task, "--out", out, "--json", "--export", "stl")
        self.assertEqual(code, 1)
        self.assertIn("--export", err)
        files = json.loads(text)["files"]
        self.assertEqual(sorted(os.listdir(out)), sorted(files))
        for name in ("final.json", "history.csv", "scene.xml", "replay.json", "report.html"):
            self.assertIn(name, files)

    def test_nothing_to_touch(self):
        """Where no two geoms can touch, what default rules find for the scene follows its mass, and
        is of no use."""
        self.write("scene.xml", """<mujoco><option timestep=".005"/>
            <asset><mesh name="wedge" inertia="convex" vertex="%s"/></asset>
            <worldbody><body name="arm" pos="0 0 1"><joint axis="0 1 0" damping=".05"/>
              <geom type="capsule" size=".02 .1" pos="0 0 -.1"/>
              <body pos="0 0 -.2"><joint axis="0 1 0" damping=".05"/>
                <geom type="mesh" mesh="wedge"/><site name="tip" pos="0 0 -.05"/></body>
            </body></worldbody></mujoco>""" % WEDGE)
        for model in MODELS:
            with self.subTest(model=model):
                self.check({"scene": "scene.xml", "horizon": 20, "contact": model,
                            "initial": {"qvel": [1, -2]}, "inertia_from_geom": True,
                            "loss": [{"type": "position", "site": "tip", "target": [0.2, 0, 0.9]}],
                            "variables": [{"name": "mesh/wedge/vert"}],
                            "optimizer": {"type": "adam", "rate": 2e-3, "iterations": 3}},
                           self.path("out"))

    def test_masses(self):
        """Masses that follow vertices, where default rules follow masses: of links that can touch
        and of those that cannot, whichever model they would touch by."""
        for touch in ("", ' contype="0" conaffinity="0"'):
            self.write("scene.xml", SCENE.replace('type="mesh"', 'type="mesh"' + touch))
            for model in MODELS:
                for name in ("mesh/wedge/vert", "geom/ball/size"):
                    with self.subTest(model=model, name=name, touch=touch):
                        self.check({**TASK, "contact": model, "variables": [{"name": name}],
                                    "inertia_from_geom": True,
                                    "optimizer": {"type": "adam", "rate": 2e-3, "iterations": 3}},
                                   self.path("out"), False)


if __name__ == "__main__":
    unittest.main()
