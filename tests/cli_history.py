#!/usr/bin/env python3
"""The history of bdf2 in the command: columns of trajectories, states as files, starts and variables
of tasks."""
import csv
import json
import os
import unittest

from common import cli

CART = os.path.join(cli.SOURCE, "examples", "cartpole.json")
STATE = ["time", "qpos[0]", "qpos[1]", "qvel[0]", "qvel[1]"]
HISTORY = ["has_history"] + ["history[%d]" % i for i in range(4)]

# A free box and an arm with a spring, a damper and an activation, without contact.
SCENE = {
    "dijoco_model": 1, "option": {"timestep": 0.01, "integrator": "bdf2", "contact": "none"},
    "bodies": [
        {"name": "world"},
        {"name": "box", "pos": [0, 0, 1], "mass": 1, "inertia": [0.01, 0.02, 0.03]},
        {"name": "arm", "pos": [0, 2, 2], "ipos": [0, 0, -0.5], "mass": 0.5,
         "inertia": [0.02, 0.02, 0.001]}],
    "joints": [
        {"type": "free", "body": "box"},
        {"name": "hinge", "type": "hinge", "body": "arm", "axis": [1, 0, 0], "damping": 0.1,
         "stiffness": 3}],
    "actuators": [{"name": "motor", "joint": "hinge", "dyn": "filter", "tau": 0.05}],
    "keys": [{"name": "go", "qpos": [0, 0, 1, 1, 0, 0, 0, 0.3],
              "qvel": [1, 0, 2, 3, -2, 1, 0.5], "act": [0.2], "ctrl": [0.7]}],
}


class Columns(cli.Case):
    def rows(self, *arguments):
        """Header and numbers of what simulate writes."""
        out = self.path("states.csv")
        code, _, err = self.run_cli("simulate", CART, "--time", "0.1", "--ctrl-seed", "1",
                                    "--out", out, *arguments)
        self.assertEqual(code, 0, err)
        with open(out, encoding="utf-8") as f:
            header, *rows = csv.reader(f)
        return header, [[float(x) for x in row] for row in rows]

    def test_history(self):
        """The history is the state one timestep before."""
        header, rows = self.rows("--integrator", "bdf2")
        self.assertEqual(header, STATE + HISTORY)
        self.assertEqual(rows[0][5:], [0] * 5)
        self.assertGreater(len(rows), 5)
        for before, row in zip(rows, rows[1:]):
            self.assertEqual(row[5], 1)
            self.assertEqual(row[6:], before[1:5])
        self.assertNotEqual(rows[-1][6:8], [0, 0])

    def test_without(self):
        header, rows = self.rows("--integrator", "position")
        self.assertEqual(header, STATE)
        self.assertEqual({len(row) for row in rows}, {5})

    def test_stock(self):
        """Stock MuJoCo has no history."""
        scene = self.write("s.xml", "<mujoco><custom><text name='dijoco_integrator' data='bdf2'/>"
                           "</custom><worldbody><body><joint type='slide'/><geom size='.1'/></body>"
                           "</worldbody></mujoco>")
        folder = self.path("out")
        code, _, err = self.run_cli("compare", scene, "--time", "0.01", "--out", folder)
        if code == 2 and "MuJoCo" in err:
            self.skipTest("this build is without MuJoCo")
        self.assertEqual(code, 0, err)
        headers = {}
        for name in ("dijoco.csv", "mujoco.csv"):
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                lines = f.read().split()
            headers[name] = lines[0]
            self.assertEqual({len(line.split(",")) for line in lines},
                             {len(lines[0].split(","))})
        self.assertEqual(headers["mujoco.csv"], "time,qpos[0],qvel[0]")
        self.assertEqual(headers["dijoco.csv"],
                         "time,qpos[0],qvel[0],has_history,history[0],history[1]")


class States(cli.Case):
    def setUp(self):
        super().setUp()
        self.scene = self.write("scene.json", json.dumps(SCENE))

    def simulate(self, seconds, *arguments, code=0):
        got, out, err = self.run_cli("simulate", self.scene, "--time", seconds, "--keyframe", "go",
                                     *arguments)
        self.assertEqual(got, code, err)
        return err if code else out

    def read(self, name):
        return cli.load(self.path(name))

    def test_goes_on(self):
        """A run that is saved and goes on ends where one without a stop does, bit by bit."""
        self.simulate("0.4", "--save-state", self.path("whole"))
        self.simulate("0.15", "--save-state", self.path("part"))
        self.simulate("0.25", "--state", self.path("part"), "--save-state", self.path("end"))
        whole, part = self.read("whole"), self.read("part")
        self.assertEqual(sorted(whole), ["act", "history", "qpos", "qvel"])
        self.assertEqual(sorted(whole["history"]), ["qpos", "qvel"])
        self.assertEqual([len(whole["history"][k]) for k in ("qpos", "qvel")], [8, 7])
        self.assertEqual(self.read("end"), whole)
        # without the history it is another run
        part["history"] = None
        state = self.write("anew", json.dumps(part))
        self.simulate("0.25", "--state", state, "--save-state", self.path("end"))
        self.assertNotEqual(self.read("end"), whole)
        del part["history"]
        state = self.write("missing", json.dumps(part))
        self.simulate("0.25", "--state", state, "--save-state", self.path("same"))
        self.assertEqual(self.read("same"), self.read("end"))

    def test_other_integrators(self):
        self.simulate("0.15", "--save-state", self.path("part"))
        self.simulate("0.1", "--integrator", "bdf1", "--state", self.path("part"),
                      "--save-state", self.path("end"))
        self.assertIsNone(self.read("end")["history"])

    def test_bad(self):
        self.simulate("0.05", "--save-state", self.path("good"))
        good = self.read("good")
        short = good["history"]["qpos"][:-1]
        broken = [float("nan")] + good["history"]["qvel"][1:]
        for change, element in (
                ({"history": dict(good["history"], qpos=short)}, "history.qpos"),
                ({"history": dict(good["history"], qvel=broken)}, "history.qvel[0]"),
                ({"history": {"qpos": good["history"]["qpos"]}}, "history.qvel"),
                ({"history": 3}, "history"), ({"qvel": [1]}, "qvel"), ({"more": 1}, "more"),
                ({"act": []}, "act")):
            state = self.write("bad", json.dumps(dict(good, **change)))
            err = self.simulate("0.05", "--state", state, "--save-state", self.path("none"),
                                code=2)
            self.assertIn(element + ":", err)
            self.assertEqual(len(err.strip().split("\n")), 1)
            self.assertFalse(os.path.exists(self.path("none")))
        err = self.simulate("0.05", "--state", self.path("good"), "--qvel", self.path("good"),
                            code=2)
        self.assertIn("--qvel", err)


class Tasks(cli.Case):
    def task(self, **changes):
        scene = self.write("scene.json", json.dumps(SCENE))
        history = {"qpos": [-0.01, 0, 0.98, 1, -0.015, 0.01, 0, 0.295],
                   "qvel": [1, 0, 2.1, 3, -2, 1, 0.52]}
        task = {"scene": scene, "horizon": 5, "ctrl": [0.4],
                "initial": {"keyframe": "go", "history": history},
                "loss": [{"type": "position", "body": "box", "target": [0, 0, 0]},
                         {"type": "orientation", "body": "box", "target": [1, 0, 0, 0]},
                         {"type": "qpos", "joint": "hinge", "target": 0},
                         {"type": "qvel", "joint": "hinge", "target": 0}],
                "variables": [{"name": "history_qpos0"}, {"name": "history_qvel0"},
                              {"name": "qpos0"}, {"name": "qvel0"}, {"name": "act0"}]}
        task.update(changes)
        return self.write("task.json", json.dumps(task))

    def test_gradient(self):
        code, out, err = self.run_cli("grad", self.task(), "--check", "--json")
        self.assertEqual(code, 0, err + out)
        found = {v["name"]: v["gradient"] for v in json.loads(out)["variables"]}
        self.assertEqual([len(found[n]) for n in ("history_qpos0", "history_qvel0")], [7, 7])
        for name in ("history_qpos0", "history_qvel0"):   # zeros would pass no check
            self.assertGreater(max(abs(x) for x in found[name]), 1e-3)

    def test_optimize(self):
        """The result's task has the history that was found."""
        folder = self.path("out")
        task = self.task(variables=[{"name": "history_qvel0", "min": -5, "max": 5}])
        code, _, err = self.run_cli("optimize", task, "--out", folder, "--iterations", "3")
        self.assertIn(code, (0, 1), err)
        with open(os.path.join(folder, "task.json"), encoding="utf-8") as f:
            history = json.load(f)["initial"]["history"]
        final = cli.load(os.path.join(folder, "final.json"))
        self.assertEqual(history["qvel"], final["variables"]["history_qvel0"]
                         if isinstance(final["variables"], dict)
                         else final["variables"][0]["value"])
        self.assertNotEqual(history["qvel"][6], 0.52)

    def test_bad(self):
        scene = self.write("scene.json", json.dumps(SCENE))
        good = [0.0] * 7
        for history, element in (
                ({"qpos": [1], "qvel": good}, "initial: history: qpos"),
                ({"qpos": [0, 0, 0, 1, 0, 0, 0, 0], "qvel": good[1:]}, "initial: history: qvel"),
                ({"qvel": good}, "initial: history: qpos"),
                ({"qpos": [0] * 8, "qvel": good}, "initial: history: qpos"),
                ({"qpos": [0, 0, 0, 1, 0, 0, 0, 0], "qvel": [float("nan")] + good[1:]},
                 "initial.history.qvel[0]")):
            task = self.task(scene=scene, initial={"history": history})
            code, _, err = self.run_cli("grad", task)
            self.assertEqual(code, 2, err)
            self.assertIn(element, err)
        code, _, err = self.run_cli("grad", self.task(initial={"keyframe": "go"}))
        self.assertEqual(code, 2)
        self.assertIn("history_qpos0", err)
        code, _, err = self.run_cli("grad", self.task(), "--integrator", "bdf1")
        self.assertEqual(code, 2)
        self.assertIn("history", err)


if __name__ == "__main__":
    unittest.main()
