#!/usr/bin/env python3
"""Every parameter by name: in --set, in a task's set, and as a variable of grad."""
import copy
import os
import unittest

from common import cli

# An arm of two links (hinge, ball) over a floor, with a box and a stone on it.
CUBE = [[x, y, z] for x in (-0.06, 0.06) for y in (-0.05, 0.05) for z in (-0.07, 0.07)]
SCENE = {
    "dijoco_model": 1, "name": "parameters",
    "option": {"integrator": "position", "timestep": 0.005, "density": 5, "viscosity": 0.02,
               "friction_eps": 1e-4},   # euler's limits have sharp corners
    "bodies": [
        {"name": "world"},
        {"name": "arm", "pos": [0, 0, 0.465], "quat": [0.96, 0, 0.28, 0], "ipos": [0, 0.02, -0.2],
         "iquat": [0.96, 0.28, 0, 0], "mass": 0.5, "inertia": [0.02, 0.018, 0.004],
         "gravcomp": 0.2},
        {"name": "hand", "parent": "arm", "pos": [0, 0, -0.4], "ipos": [0, 0, -0.05], "mass": 0.2,
         "inertia": [0.002, 0.0021, 0.0005]},
        {"name": "box", "pos": [0.4, 0, 0.1], "mass": 1, "inertia": [0.01, 0.011, 0.012]},
        {"name": "stone", "pos": [-0.5, 0.3, 0.09], "mass": 0.7,
         "inertia": [0.003, 0.0035, 0.003]}],
    "joints": [
        {"name": "hinge", "type": "hinge", "body": "arm", "axis": [0, 1, 0], "pos": [0, 0, 0.05],
         "damping": 0.1, "stiffness": 2, "springref": 0.3, "armature": 0.01, "frictionloss": 0.2,
         "limited": True, "range": [-1, 0.05]},
        {"name": "wrist", "type": "ball", "body": "hand", "damping": 0.02, "stiffness": 0.1,
         "limited": True, "range": [0, 0.1], "frictionloss": 0.01, "armature": 0.001},
        {"name": "loose", "type": "free", "body": "box", "damping": 0.01},
        {"type": "free", "body": "stone"}],
    "geoms": [
        {"name": "floor", "type": "plane", "body": "world", "size": [0, 0, 1],
         "friction": [0.4, 0, 0]},
        {"name": "finger", "type": "capsule", "body": "hand", "size": [0.03, 0.05, 0],
         "pos": [0, 0, -0.1], "friction": [0.4, 0, 0]},
        {"name": "cube", "type": "box", "body": "box", "size": [0.1, 0.11, 0.1],
         "friction": [0.5, 0, 0]},
        {"name": "knob", "type": "sphere", "body": "box", "size": [0.05, 0, 0],
         "pos": [0.2, 0, -0.05], "friction": [0.5, 0, 0]},
        {"name": "hull", "type": "mesh", "body": "stone", "mesh": "rock",
         "friction": [0.5, 0, 0]}],
    "meshes": [{"name": "rock", "vert": CUBE}],
    "sites": [{"name": "tip", "body": "hand", "pos": [0, 0.01, -0.2]}],
    "actuators": [
        {"name": "servo", "joint": "hinge", "gainprm": [2, 0, 0], "bias": "affine",
         "biasprm": [0.1, -1, -0.1]},
        {"name": "twist", "joint": "wrist", "gear": [0, 0.1, 0.2, 0, 0, 0], "gain": "affine",
         "gainprm": [1, 0.2, -0.1]},
        {"name": "push", "joint": "loose", "gear": [1, 0.2, 0, 0, 0, 0.1]}],
}
QPOS = [0.04, 0.996, 0.06, 0.05, 0.04, 0.4, 0, 0.1, 1, 0, 0, 0, -0.5, 0.3, 0.07, 1, 0, 0, 0]
QVEL = [0.3, 1, 0.5, 0.2, 0.5, 0.1, 0, 0, 0, 0.3, 0.4, 0.2, -0.1, 0, 0, 0]
TASK = {
    "scene": "s.json", "horizon": 20, "initial": {"qpos": QPOS, "qvel": QVEL},
    "ctrl": [0.5, -0.4, 0.8],
    "loss": [{"type": "position", "site": "tip", "target": [0.1, 0.1, 0.3]},
             {"type": "com", "target": [0.1, 0, 0], "when": "running"},
             {"type": "orientation", "body": "box", "target": [0.9, 0.1, 0, 0.4]},
             {"type": "orientation", "body": "stone", "target": [0.9, 0, 0.1, 0.4]},
             {"type": "orientation", "body": "hand", "target": [0.9, 0, 0.1, 0.4]},
             {"type": "position", "geom": "finger", "target": [0, 0.2, 0.1]}],
}

# Name, the name by number, value in the model, another value; and what the gradient is: "all"
# entries differ from 0, a list of those that do, or nothing said (None).
NAMES = [
    ("body/arm/pos", "body/#1/pos", [0, 0, 0.465], [0.01, 0, 0.46], "all"),
    ("body/arm/quat", "body/#1/quat", [0.96, 0, 0.28, 0], [0.95, 0, 0.28, 0.1], "all"),
    ("body/box/pos", "body/#3/pos", [0.4, 0, 0.1], None, []),
    ("body/arm/mass", "body/#1/mass", [0.5], [0.6], "all"),
    ("body/arm/ipos", "body/#1/ipos", [0, 0.02, -0.2], [0, 0.02, -0.22], "all"),
    ("body/hand/iquat", "body/#2/iquat", [1, 0, 0, 0], [1, 0.1, 0.3, 0], "all"),
    ("body/box/inertia", "body/#3/inertia", [0.01, 0.011, 0.012], [0.01, 0.012, 0.013], "all"),
    ("body/arm/gravcomp", "body/#1/gravcomp", [0.2], [0.3], "all"),
    ("joint/hinge/pos", "joint/#0/pos", [0, 0, 0.05], [0.01, 0, 0.04], [0, 2]),
    ("joint/hinge/axis", "joint/#0/axis", [0, 1, 0], [0, 1, 0.1], [0, 2]),
    ("joint/hinge/damping", "joint/#0/damping", [0.1], [0.2], "all"),
    ("joint/wrist/damping", "joint/#1/damping", [0.02], [0.03], "all"),
    ("joint/hinge/stiffness", "joint/#0/stiffness", [2], [3], "all"),
    ("joint/hinge/springref", "joint/#0/springref", [0.3], [0.2], "all"),
    ("joint/wrist/springref", "joint/#1/springref", [1, 0, 0, 0], [0.9, 0.1, 0.1, 0], "all"),
    ("joint/loose/springref", "joint/#2/springref", [0.4, 0, 0.1, 1, 0, 0, 0], None, []),
    ("joint/hinge/armature", "joint/#0/armature", [0.01], [0.02], "all"),
    ("joint/hinge/frictionloss", "joint/#0/frictionloss", [0.2], [0.3], "all"),
    ("joint/hinge/range", "joint/#0/range", [-1, 0.05], [-1, 0.04], "all"),
    ("joint/wrist/range", "joint/#1/range", [0, 0.1], [0, 0.09], [1]),
    ("geom/finger/pos", "geom/#1/pos", [0, 0, -0.1], [0, 0.01, -0.1], None),
    ("geom/hull/quat", "geom/#4/quat", [1, 0, 0, 0], [1, 0.01, 0.02, 0], None),
    ("geom/cube/size", "geom/#2/size", [0.1, 0.11, 0.1], [0.1, 0.12, 0.1], None),
    ("geom/knob/size", "geom/#3/size", [0.05, 0, 0], [0.06, 0, 0], [0]),
    ("geom/finger/size", "geom/#1/size", [0.03, 0.05, 0], None, None),
    ("geom/floor/size", "geom/#0/size", [0, 0, 1], None, []),
    ("geom/cube/friction", "geom/#2/friction", [0.5, 0, 0], [0.6, 0, 0], [0]),
    ("mesh/rock/vert", "mesh/#0/vert", [x for v in CUBE for x in v],
     [1.01 * x for v in CUBE for x in v], None),
    ("site/tip/pos", "site/#0/pos", [0, 0.01, -0.2], None, "all"),
    ("actuator/servo/gainprm", "actuator/#0/gainprm", [2, 0, 0], [3, 0, 0], [0]),
    ("actuator/servo/biasprm", "actuator/#0/biasprm", [0.1, -1, -0.1], [0.2, -1, -0.2], "all"),
    ("actuator/twist/gainprm", "actuator/#1/gainprm", [1, 0.2, -0.1], [1, 0.3, -0.1], "all"),
    ("actuator/twist/gear", "actuator/#1/gear", [0, 0.1, 0.2, 0, 0, 0],
     [0.1, 0.1, 0.2, 0, 0, 0], [0, 1, 2]),
    ("actuator/push/gear", "actuator/#2/gear", [1, 0.2, 0, 0, 0, 0.1], [1, 0.3, 0, 0, 0, 0.1],
     "all"),
]
# The sanitizers' build is slow: every fifth there.
SOME = NAMES[::5] if os.environ.get("DIJOCO_FLAVOUR") == "debug" else NAMES
MODEL = ["option/gravity", "contact/stiffness", "contact/support"]


def numbers(values):
    return ",".join("%.17g" % v for v in values)


class Parameters(cli.Case):
    def setUp(self):
        super().setUp()
        self.scene = self.write("s.json", SCENE)
        self.start = ["--qpos", self.write("q", numbers(QPOS)), "--qvel",
                      self.write("v", numbers(QVEL)), "--ctrl",
                      self.write("c", "ctrl[0],ctrl[1],ctrl[2]\n0.5,-0.4,0.8\n")]
        self.base = self.end()

    def end(self, *options):
        """The last row of a run."""
        out = self.path("out.csv")
        self.run_json("simulate", self.scene, "--time", "0.1", *self.start, *options, "--out", out)
        with open(out) as f:
            return f.read().splitlines()[-1]

    def test_present_values(self):
        sets = [part for name, _, value, _, _ in NAMES
                for part in ("--set", name + "=" + numbers(value))]
        self.assertEqual(self.end(*sets), self.base)

    def test_other_values(self):
        for name, number, _, other, _ in SOME:
            if other is None:
                continue
            with self.subTest(name=name):
                by_name = self.end("--set", name + "=" + numbers(other))
                self.assertNotEqual(by_name, self.base)
                self.assertEqual(self.end("--set", number + "=" + numbers(other)), by_name)
        for name in MODEL:
            value = "0,0,-5" if name == "option/gravity" else "0.01"
            self.assertNotEqual(self.end("--set", name + "=" + value), self.base)

    def test_task_set(self):
        """A task's set and --set are the same; the command line is stronger."""
        for name, _, value, other, _ in SOME:
            if other is None:
                continue
            task = {**TASK, "variables": [{"name": "ctrl"}], "set": {name: other}}
            given = self.run_json("grad", self.write("t.json", task))["loss"]
            plain = self.write("p.json", {**TASK, "variables": [{"name": "ctrl"}]})
            text = name + "=" + numbers(other)
            self.assertEqual(self.run_json("grad", plain, "--set", text)["loss"], given, name)
            back = name + "=" + numbers(value)
            self.assertEqual(self.run_json("grad", self.path("t.json"), "--set", back)["loss"],
                             self.run_json("grad", plain)["loss"], name)

    def test_refused(self):
        good = {name: value for name, _, value, _, _ in SOME}
        for name, value in good.items():
            bad = [numbers(value) + ",1", numbers(value[:-1]) + ",nan", ""]
            kind = name.rsplit("/", 1)[1]
            if kind in ("quat", "iquat", "axis"):
                bad.append(numbers([0] * len(value)))
            if kind == "springref" and len(value) > 1:
                bad.append(numbers(value[:-4] + [0, 0, 0, 0]))
            if kind in ("mass", "damping", "stiffness", "armature", "frictionloss"):
                bad.append("-1")
            if kind == "inertia":
                bad += ["1,1,3", "-1,1,1"]
            for text in bad:
                with self.subTest(name=name, text=text):
                    self.refused("simulate", self.scene, "--time", "0.1", "--set",
                                 name + "=" + text, names=["s.json", name])
            task = {**TASK, "variables": [], "set": {name: value + [1]}}
            self.refused("grad", self.write("t.json", task), names=["t.json", name])
        for name in ("body/world/pos", "body/#9/mass", "body/none/mass", "joint/#-1/axis",
                     "joint/hinge/mass", "geom/cube", "mesh/rock/verts", "option/wind"):
            self.refused("simulate", self.scene, "--time", "0.1", "--set", name + "=1",
                         names=["s.json", name])
            task = {**TASK, "variables": [{"name": name}]}
            self.refused("grad", self.write("t.json", task), names=["t.json", name])

    def test_zero_quaternions(self):
        for change, name in (({"set": {"body/arm/quat": [0, 0, 0, 0]}}, "arm"),
                             ({"set": {"joint/wrist/springref": [0, 0, 0, 0]}}, "wrist"),
                             ({"initial": {"qpos": QPOS[:1] + [0] * 4 + QPOS[5:]}}, "qpos")):
            self.refused("grad", self.write("t.json", {**TASK, "variables": [], **change}),
                         names=["t.json", name])

    def test_variables(self):
        """Shapes, values and which entries are 0; #id and index give the same gradient."""
        def variables(list_of_them):
            task = {**TASK, "variables": list_of_them}
            return self.run_json("grad", self.write("t.json", task))["variables"]

        by_name = variables([{"name": n[0]} for n in NAMES] + [{"name": n} for n in MODEL])
        by_number = variables([{"name": n[1]} for n in NAMES])
        picked = variables([{"name": n[0], "index": [len(v["gradient"]) - 1]}
                            for n, v in zip(NAMES, by_name)])
        for (name, number, value, _, which), v, w, last in zip(NAMES, by_name, by_number, picked):
            with self.subTest(name=name):
                self.assertEqual((v["name"], w["name"]), (name, number))
                turns = name.endswith("quat") or name in ("joint/wrist/springref",
                                                          "joint/loose/springref")
                self.assertEqual(v["shape"], [len(value) - turns])
                self.assertEqual(len(v["gradient"]), len(value) - turns)
                self.assertEqual(v["value"], value)
                self.assertEqual(w["gradient"], v["gradient"])
                self.assertEqual(last["gradient"], v["gradient"][-1:])
                self.assertEqual(last["shape"], [1])
                nonzero = [k for k, g in enumerate(v["gradient"]) if g != 0]
                if which == "all":
                    self.assertEqual(nonzero, list(range(len(v["gradient"]))))
                elif which is not None:
                    self.assertEqual(nonzero, which)
                else:
                    self.assertTrue(nonzero)
        for v, n in zip(by_name[len(NAMES):], (3, 1, 1)):
            self.assertEqual(v["shape"], [n])
            self.assertTrue(all(g != 0 for g in v["gradient"]), v)

    def test_normalised(self):
        """Values of grad are those in force: unit quaternions and axes, sizes in use."""
        task = copy.deepcopy(TASK)
        task["set"] = {"body/arm/quat": [96, 0, 28, 0], "joint/hinge/axis": [0, 3, 4],
                       "geom/knob/size": [0.05, 2, -1]}
        task["variables"] = [{"name": name} for name in task["set"]]
        value = [v["value"] for v in self.run_json("grad", self.write("t.json", task))["variables"]]
        for found, right in zip(value, [[0.96, 0, 0.28, 0], [0, 0.6, 0.8], [0.05, 0, 0]]):
            self.assertEqual([round(x, 15) for x in found], right)

    def certify(self, names, **option):
        scene = copy.deepcopy(SCENE)
        scene["option"].update(option)
        # The stone lies askew: flat on flat, differences hardly resolve a turn of its hull.
        task = {**TASK, "scene": self.write("own.json", scene), "variables": [
                    {"name": n} for n in names],
                "initial": {"qpos": QPOS[:12] + [-0.5, 0.3, 0.072, 1, 0.004, -0.003, 0],
                            "qvel": QVEL}}
        g = self.run_json("grad", self.write("t.json", task), "--check")
        self.assertEqual(len(g["certificate"]), len(names))
        for c in g["certificate"]:
            self.assertTrue(c["passed"], c)

    def test_certificates(self):
        self.certify([x[0] for x in SOME] + MODEL)

    def test_friction_by_the_end(self):
        """Frames move what friction goes by, too."""
        self.certify(["body/arm/pos", "body/arm/quat", "joint/hinge/pos", "geom/finger/pos",
                      "geom/cube/friction", "geom/cube/size"], friction="implicit")


if __name__ == "__main__":
    unittest.main()
