#!/usr/bin/env python3
"""Tendons around geoms through the command: the shipped designs, certified and in MuJoCo; files;
what is refused."""
import json
import os
import unittest
import xml.etree.ElementTree as ET

from common import cli

MODELS = os.path.join(cli.SOURCE, "models")

# A link with a cord around a ball, by a side, and through a ring to a weight.
MODEL = {
    "dijoco_model": 1, "option": {"timestep": 0.005, "contact": "none"},
    "bodies": [{"name": "world"},
               {"name": "arm", "parent": "world", "pos": [0, 0, 0.2], "mass": 1,
                "ipos": [0.2, 0, 0], "inertia": [0.01, 0.02, 0.02]},
               {"name": "load", "parent": "world", "pos": [0.6, 0, 0.3], "mass": 0.5,
                "inertia": [0.01, 0.01, 0.01]}],
    "joints": [{"name": "j", "body": "arm", "type": "hinge", "axis": [0, 1, 0], "damping": 0.1},
               {"name": "k", "body": "load", "type": "slide", "axis": [0, 0, 1], "damping": 0.1}],
    "geoms": [{"name": "ring", "body": "world", "type": "cylinder", "size": [0.05, 0.01, 0],
               "pos": [0.45, 0, 0.7], "quat": [0.7071067811865476, 0.7071067811865476, 0, 0],
               "contype": 0, "conaffinity": 0},
              {"name": "ball", "body": "arm", "type": "sphere", "size": [0.05, 0, 0],
               "pos": [0.2, 0, 0.1], "contype": 0, "conaffinity": 0},
              {"name": "box", "body": "arm", "type": "box", "size": [0.01, 0.01, 0.01],
               "contype": 0, "conaffinity": 0}],
    "sites": [{"name": "top", "body": "world", "pos": [0, 0, 1]},
              {"name": "eye", "body": "world", "pos": [0.46, 0, 0.71]},
              {"name": "hand", "body": "arm", "pos": [0.4, 0, 0.05]},
              {"name": "under", "body": "arm", "pos": [0.1, 0, 0]},
              {"name": "hook", "body": "load", "pos": [0, 0.01, 0.06]}],
    "tendons": [{"name": "cord", "stiffness": 60, "damping": 0.5, "springlength": [0.9, 0.9],
                 "path": ["hand", {"geom": "ball", "side": "under"}, "top",
                          {"geom": "ring", "side": "eye"}, "hook"]}],
    "actuators": [{"name": "winch", "tendon": "cord", "gear": [2, 0, 0, 0, 0, 0]}],
}

NAMES = ["site/hand/pos", "site/hook/pos", "geom/ball/pos", "geom/ball/size", "geom/ring/pos",
         "geom/ring/quat", "geom/ring/size", "tendon/cord/stiffness", "body/arm/pos", "ctrl", "qpos0"]


class Wraps(cli.Case):
    def model(self, change=None, name="model.json"):
        model = json.loads(json.dumps(MODEL))
        if change:
            change(model)
        return self.write(name, json.dumps(model))

    def check_design(self, name, iterations, factor, apart):
        task = os.path.join(MODELS, name, "task.json")
        result = self.run_json("grad", task, "--check")
        for entry in result["certificate"]:
            self.assertTrue(entry["passed"], entry)
        for v in result["variables"]:
            self.assertGreater(max(abs(g) for g in v["gradient"]), 0, v["name"])
        out = self.path(name)
        run = self.run_json("optimize", task, "--iterations", iterations, "--out", out)
        self.assertEqual(run["status"], "ok")
        self.assertLess(run["loss_last"], factor * run["loss_first"])
        self.assertLess(run["replay"]["position"]["max"], apart)
        return ET.parse(os.path.join(out, [f for f in sorted(os.listdir(out))
                                           if f.endswith(".xml")][0])).getroot()

    def test_finger(self):
        scene = self.check_design("tendon_finger", 25, 1e-6, 1e-12)
        sizes = {g.get("name"): float(g.get("size").split()[0]) for g in scene.iter("geom")
                 if g.get("name")}
        self.assertNotEqual(sizes["pulley1"], 0.006)
        self.assertNotEqual(sizes["pulley2"], 0.006)
        self.assertEqual(len(list(scene.find("tendon").iter("geom"))), 2)

    def test_arm(self):
        scene = self.check_design("muscle_arm", 15, 0.05, 1e-4)
        self.assertEqual(len(list(scene.find("tendon").iter("geom"))), 8)
        self.assertTrue(all(g.get("sidesite") for g in scene.find("tendon").iter("geom")))

    def test_gradient(self):
        for integrator in ("euler", "position", "variational", "bdf2"):
            task = self.write("task.json", json.dumps({
                "scene": self.model(), "integrator": integrator, "horizon": 20, "ctrl": [0.3],
                "initial": {"qvel": [0.5, -0.3]},
                "loss": [{"type": "position", "body": "load", "target": [0.5, 0, 0.4]},
                         {"type": "qvel", "joint": "j", "target": 0.2, "when": "running"}],
                "variables": [{"name": name} for name in NAMES]}))
            result = self.run_json("grad", task, "--check")
            for entry in result["certificate"]:
                self.assertTrue(entry["passed"], (integrator, entry))
            for v in result["variables"]:
                self.assertGreater(max(abs(g) for g in v["gradient"]), 0, (integrator, v["name"]))

    def test_written(self):
        """The same motion from a model file, from one that was written, and from MJCF of a design."""
        runs = []
        self.model()
        self.run_cli("convert", self.path("model.json"), "--out", self.path("again.json"), "--quiet")
        task = self.write("task.json", json.dumps({
            "scene": self.path("model.json"), "horizon": 5,
            "loss": [{"type": "position", "body": "load", "target": [0.5, 0, 0.4]}],
            "variables": [{"name": "geom/ball/size", "index": [0]}],
            "optimizer": {"type": "adam", "rate": 1e-9, "iterations": 1}}))
        self.run_json("optimize", task, "--out", self.path("out"))
        for scene in ("model.json", "again.json", "out/scene.xml"):
            out = self.path("run.csv")
            self.run_json("simulate", self.path(scene), "--time", "0.5", "--out", out)
            with open(out) as f:
                runs.append(f.read())
        self.assertEqual(runs[0], runs[1])
        last = [[float(x) for x in run.split()[-1].split(",")] for run in runs]
        self.assertEqual(len(last[0]), len(last[2]))
        for a, b in zip(last[0], last[2]):
            self.assertAlmostEqual(a, b, delta=1e-6)
        found = self.run_json("compare", self.path("out/scene.xml"), "--time", "0.5", "--out",
                              self.path("compare"))
        self.assertLess(found["difference"]["position"]["max"], 1e-5)

    def test_refused(self):
        def path(*elements):
            def change(model):
                model["tendons"][0]["path"] = list(elements)
            return change

        ball = {"geom": "ball"}
        for change, words in (
                (path("hand", {"geom": "box"}, "top"), "must be a sphere or a cylinder"),
                (path("hand", ball), "a geom must be between two sites"),
                (path(ball, "hand", "top"), "a geom must be between two sites"),
                (path("hand", ball, ball, "top"), "a geom must be between two sites"),
                (path("hand", ball, {"pulley": 2}, "top", "hook"), "a geom must be between"),
                (path("hand", {"geom": 7}, "top"), "a geom does not exist"),
                (path("hand", {"geom": "cube"}, "top"), "there is no 'cube'"),
                (path("hand", {"geom": "ball", "side": 9}, "top"), "a side site does not exist"),
                (path("hand", {"geom": "ball", "side": "nose"}, "top"), "there is no 'nose'"),
                (path("hand", {"geom": "ball", "by": 1}, "top"), "by"),
                (path("hand", {"geom": None}, "top"), "path")):
            code, _, err = self.run_cli("simulate", self.model(change), "--time", "0.1", "--quiet")
            self.assertEqual(code, 2, err)
            self.assertIn("tendon", err)
            self.assertIn(words, err)


if __name__ == "__main__":
    unittest.main()
