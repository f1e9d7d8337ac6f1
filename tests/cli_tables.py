#!/usr/bin/env python3
"""Losses, parameters, maps and optimizers by the command: every row of `dijoco help TOPIC`, and
patterns in --set and tasks."""
import json
import os
import re
import unittest

from common import cli

TASK = {"scene": "s.json", "horizon": 3, "loss": [{"type": "com", "target": [0, 0, 1]}],
        "variables": [{"name": "qvel0"}]}
SHAPE = {"shape": "superellipsoid", "size": [0.1, 0.1, 0.1], "n": 4}
SCENE = dict(cli.SCENE, geoms=[
    dict(g, shape=SHAPE, points=[[0.1, 0, -0.1]]) if g["name"] == "cube" else g for g in cli.SCENE["geoms"]] + [
    {"name": "ball", "type": "sphere", "body": "arm", "size": [0.05, 0, 0], "pos": [0, 0, -0.9]}],
    pairs=[{"name": "meeting", "geom1": "cube", "geom2": "ball", "restitution": 0.25}],
    tendons=[{"name": "rope", "joints": ["hinge"], "coef": [0.5], "springlength": [0.1, 0.3],
              "stiffness": 2, "limited": True, "range": [-1, 1]}],
    equalities=[{"name": "hold", "type": "connect", "body1": "arm", "body2": "box",
                 "anchor1": [0, 0, -1], "anchor2": [0.1, 0, 0.2], "active": False}],
    sites=[{"name": "tip", "body": "arm", "pos": [0, 0, -1]}],
    meshes=[{"name": "tetra", "vert": [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]}],
    flexes=[{"name": "net", "dim": 2, "bodies": ["arm", "box", 0], "elastic2d": "both",
             "young": 10, "thickness": 0.01, "vert": [[0, 0, 0], [1, 0, 0], [0, 1, 0]],
             "elements": [[0, 1, 2]]}],
    hfields=[{"name": "land", "size": [1, 1, 0.1], "heights": [[0.1, 0.2, 0.3], [0.2, 0.1, 0.2]]}])
# euler alone has motors.
MOTOR = {"gain": "dcmotor", "bias": "dcmotor", "gainprm": [2, 1], "motorprm": [1, 1, 1, 1, 1, 1, 1]}
ELEMENT = {"body": "arm", "joint": "hinge", "geom": "cube", "mesh": "tetra", "site": "tip",
           "actuator": "motor", "tendon": "rope", "pair": "meeting", "equality": "hold",
           "hfield": "land", "flex": "net"}


class Tables(cli.Case):
    def setUp(self):
        super().setUp()
        self.scene = self.write("s.json", SCENE)

    def put_motor(self):
        """In the place of the actuator."""
        motor = {k: v for k, v in SCENE["actuators"][0].items() if k in ("name", "joint")}
        self.write("s.json", dict(SCENE, option=dict(SCENE["option"], integrator="euler"),
                                  actuators=[dict(motor, **MOTOR)]))

    def rows(self, topic):
        return self.run_json("help", topic)["rows"]

    def grad(self, **more):
        return self.run_json("grad", self.write("t.json", dict(TASK, **more)))

    def test_losses(self):
        for row in self.rows("losses"):
            term = {"type": row["type"]}
            for key in ("body", "body2", "joint"):
                if "`%s`" % key in row["keys"]:
                    term[key] = {"body": "box", "body2": "arm", "joint": "hinge"}[key]
            if "`target`" in row["keys"]:
                n = 4 if "4 numbers" in row["keys"] else 3 if "3 numbers" in row["keys"] else 1
                term["target"] = [0.1, 0.2, 0.3, 0.4][:n]
            with self.subTest(type=row["type"]):
                found = self.grad(loss=[term])
                self.assertEqual(found["terms"][0]["type"], row["type"])
                self.assertEqual(found["terms"][0]["value"], found["loss"])
                if n and "target" in term:
                    bad = self.write("b.json", dict(TASK, loss=[dict(term, target="x")]))
                    self.refused("grad", bad, names=["loss[0]: target"])
        self.refused("grad", self.write("b.json", dict(TASK, loss=[{"type": "luck"}])),
                     names=["luck"] + [row["type"] for row in self.rows("losses")])

    def test_parameters(self):
        for row in self.rows("parameters"):
            kind, *_, field = row["name"].split("/")
            name = row["name"].replace("/N/", "/%s/" % ELEMENT.get(kind, ""))
            with self.subTest(name=name):
                self.write("s.json", SCENE)
                if field == "motorprm":
                    self.put_motor()
                # What it is now, from a gradient's output; then set by the command and by a task.
                found = self.grad(variables=[{"name": name}])["variables"][0]
                value = found["value"]
                if not value:
                    continue
                wanted = [1.125 * v for v in value]
                if field in ("quat", "iquat", "axis"):
                    wanted = value
                text = ",".join("%.17g" % v for v in wanted)
                task = self.write("t.json", dict(TASK, variables=[{"name": name}]))
                by_command = self.run_json("grad", task, "--set", "%s=%s" % (name, text))
                by_task = self.grad(variables=[{"name": name}], set={name: wanted})
                for out in (by_command, by_task):
                    for a, b in zip(out["variables"][0]["value"], wanted):
                        self.assertAlmostEqual(a, b, delta=1e-15)
                for bad in (text + ",1", "x", ""):
                    self.refused("inspect", self.scene, "--set", "%s=%s" % (name, bad),
                                 names=[name])
                self.refused("grad", self.write("b.json", dict(TASK, set={name: value + [1]})),
                             names=[name])

    @staticmethod
    def option(key):
        """Of an optimizer; `damping` alone is a setting of contact's, too."""
        return "--" + ("optimizer-" if key == "damping" else "") + key.replace("_", "-")

    def test_optimizers(self):
        rows = self.rows("optimizers")
        objects = ("all", "receding", "anneal", "stages")
        types = [r["name"] for r in rows if r["keys"] and r["name"] not in objects]
        keys = [r["name"] for r in rows if not r["keys"]]
        self.assertGreaterEqual(len(keys), 10)
        text = self.run_cli("optimize", "--help")[1]
        task = self.write("t.json", TASK)
        named = re.findall(r"^ +(--[\w-]+)", text, re.MULTILINE)
        self.assertEqual(sorted(set(named)), sorted(named))
        for key in keys:
            option = self.option(key)
            self.assertIn(option + " ", text)
            for bad in ("-1", "x", "nan"):
                self.refused("optimize", task, "--out", self.path("out"), option, bad,
                             names=[option])
            good = "0.5" if "beta" in key else "adam" if key == "direction" else "1"
            self.refused("optimize", task, "--out", self.path("out"), option, good, option, good,
                         names=[option + ": is given twice"])
            self.refused("optimize", self.write("b.json", dict(TASK, optimizer={key: -1})), "--out",
                         self.path("out"), names=["optimizer: " + key])
        self.refused("optimize", task, "--out", self.path("out"), "--optimizer", "luck",
                     names=["--optimizer", "luck"] + types)
        self.refused("optimize", self.write("b.json", dict(TASK, optimizer={"type": "luck"})),
                     "--out", self.path("out"), names=["luck"] + types)

    def test_keys_of_other_optimizers(self):
        """They are refused, in tasks and as options; a type of the command line drops the task's."""
        rows = {r["name"]: r for r in self.rows("optimizers")}
        types = [name for name, r in rows.items()
                 if r["keys"] and name not in ("all", "receding", "anneal", "stages")]
        names = {name: set(re.findall(r"`(\w+)`", rows[name]["keys"])) for name in types + ["all"]}
        given = dict(TASK, variables=[{"name": "qvel0", "index": [0, 1]}])
        for kind in types:
            for key in sorted(set().union(*names.values()) - names[kind] - names["all"]):
                value = "adam" if key == "direction" else 0.5 if "beta" in key else 1
                users = [t for t in types if key in names[t]]
                how = {"type": kind, key: value}
                bad = self.write("b.json", dict(given, optimizer=how))
                self.refused("grad", bad, names=["optimizer: " + key, kind, *users])
                self.refused("optimize", self.write("t.json", given), "--out", self.path("out"),
                             "--optimizer", kind, self.option(key), value,
                             names=[self.option(key), kind, *users])
        adam = {"type": "adam", "rate": 0.1, "epsilon": 1e-6, "iterations": 2}
        self.run_json("optimize", self.write("t.json", dict(given, optimizer=adam)), "--out",
                      self.path("out"), "--optimizer", "trust_region", "--radius", 0.05)
        with open(os.path.join(self.path("out"), "task.json")) as f:
            self.assertEqual(json.load(f)["optimizer"], {"type": "trust_region", "radius": 0.05,
                                                         "epsilon": 1e-6, "iterations": 2})
        self.run_json("grad", self.path("out/task.json"))

    def test_optimizer_is_used(self):
        """Given on the command line as in the task: the same course, and the next task has it."""
        given = dict(TASK, variables=[{"name": "qvel0", "index": [0, 1]}])
        task = self.write("t.json", given)
        how = {"type": "lbfgsb", "memory": 3, "radius": 0.02, "iterations": 4}
        same = self.write("u.json", dict(given, optimizer=how))
        first = self.run_json("optimize", same, "--out", self.path("a"))
        other = self.run_json("optimize", task, "--out", self.path("b"), "--optimizer", "lbfgsb",
                              "--memory", "3", "--radius", "0.02", "--iterations", "4")
        self.assertEqual(first["loss_last"], other["loss_last"])
        self.assertLess(other["loss_last"], other["loss_first"])
        with open(os.path.join(self.path("b"), "task.json")) as f:
            self.assertEqual(json.load(f)["optimizer"], how)

    def test_iterations_of_stages(self):
        """--iterations is for each stage, in the run and in the task that is written."""
        how = {"type": "adam", "stages": [{"iterations": 5}, {}]}
        task = self.write("t.json", dict(TASK, optimizer=how))
        r = self.run_json("optimize", task, "--out", self.path("out"), "--iterations", 3)
        self.assertEqual(r["iterations"], 6)
        with open(os.path.join(self.path("out"), "task.json")) as f:
            self.assertEqual(json.load(f)["optimizer"]["stages"], 2 * [{"iterations": 3}])

    def test_gauss_newton(self):
        """It solves what is a sum of squares, and refuses what is none."""
        given = dict(TASK, optimizer={"type": "gauss_newton", "iterations": 6})
        found = self.run_json("optimize", self.write("t.json", given), "--out", self.path("out"))
        self.assertEqual(found["optimizer"], "gauss_newton")
        self.assertLess(found["loss_last"], 1e-12 * found["loss_first"])
        bad = dict(given, loss=[dict(TASK["loss"][0], weight=-1)])
        self.refused("optimize", self.write("b.json", bad), "--out", self.path("x"),
                     names=["gauss_newton", "sum of squares", "loss[0]: a negative weight"])

    def test_phases(self):
        """The mean over moved starts, by any number of threads; the files say so."""
        v = [0.4, 0.1, 0.2, 0, 0, 0, 0.5]
        given = dict(TASK, timestep=0.01, initial={"qvel": v},
                     variables=[{"name": "qvel0", "index": [0, 1]}],
                     optimizer={"type": "lbfgsb", "iterations": 3, "phases": 3})
        task = self.write("t.json", given)
        runs = [self.run_json("optimize", task, "--out", self.path("out%d" % n), "--threads", n)
                for n in (1, 3)]
        self.assertEqual([(r["phases"], r["phase_threads"]) for r in runs], [(3, 1), (3, 3)])
        files = []
        for n in (1, 3):
            with open(os.path.join(self.path("out%d" % n), "final.json")) as f:
                files.append(f.read())
        self.assertEqual(files[0], files[1])
        self.assertEqual(json.loads(files[0])["phases"], 3)
        with open(os.path.join(self.path("out3"), "report.html")) as f:
            self.assertIn("means over 3 starts", f.read())
        with open(os.path.join(self.path("out3"), "task.json")) as f:
            self.assertEqual(json.load(f)["optimizer"], given["optimizer"])

        # loss and terms are the means of those of the starts
        q = self.grad(variables=[{"name": "qpos0"}])["variables"][0]["value"]
        mean = 0
        for j in range(3):
            moved = [a + j / 3 * 0.01 * b for a, b in zip(q, v[:3] + [0] * 4 + v[6:])]
            start = {"qpos": moved, "qvel": v}
            found = self.run_json("grad", self.write("m.json", dict(given, initial=start)))
            mean += found["terms"][0]["value"] / 3
        self.assertAlmostEqual(runs[0]["loss_first"] / mean, 1, delta=1e-11)
        self.assertAlmostEqual(runs[0]["terms"][0]["first"] / mean, 1, delta=1e-11)

        one = self.run_json("optimize", task, "--out", self.path("one"), "--phases", 1)
        self.assertNotEqual(one["loss_first"], runs[0]["loss_first"])
        self.refused("optimize", task, "--out", self.path("x"), "--phases", 0, names=["phases"])

    def test_maps(self):
        names = [row["type"] for row in self.rows("maps")]
        self.refused("grad", self.write("b.json", dict(
            TASK, free={"z": {"value": [1]}}, maps=[{"type": "luck", "from": "z"}])),
            names=["maps[0]", "luck"] + names)

    def test_patterns(self):
        out = self.path("out.json")
        self.run_cli("convert", self.scene, "--set", "geom/*b*/friction=0.25,0,0", "--out", out)
        with open(out) as f:
            friction = {g["name"]: g.get("friction", [1])[0] for g in json.load(f)["geoms"]}
        self.assertEqual(friction, {"floor": 1, "cube": 0.25, "ball": 0.25})
        os.unlink(out)
        found = self.grad(variables=[{"name": "geom/*b*/friction", "index": [0]},
                                     {"name": "qvel0[joint/h*]"}])
        self.assertEqual([v["name"] for v in found["variables"]],
                         ["geom/cube/friction", "geom/ball/friction", "qvel0[joint/hinge]"])
        self.refused("inspect", self.scene, "--set", "geom/jaw_*/size=1,1,1",
                     names=["--set", "'geom/jaw_*/size'", "'cube'"])
        self.refused("inspect", self.scene, "--set", "geom/*b*/size=1,1",
                     names=["geom/cube/size", "expected 3 numbers"])
        self.refused("grad", self.write("b.json", dict(TASK, variables=[{"name": "geom/q*/size"}])),
                     names=["'geom/q*/size'", "'floor'"])


if __name__ == "__main__":
    unittest.main()
