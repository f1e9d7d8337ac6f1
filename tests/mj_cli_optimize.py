#!/usr/bin/env python3
"""The verb `optimize`: shipped tasks, files, restarts, the written scene, interrupts, bad tasks."""
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

from common import cli

MODELS = os.path.join(cli.SOURCE, "models")
FILES = ["final.json", "history.csv", "replay.json", "report.html", "scene.xml", "task.json"]

TASK = {
    "scene": "s.json", "timestep": 0.005, "horizon": 30,
    "initial": {"qvel": [0.4, 0.1, 0, 0, 0, 0.5, 0.2]}, "ctrl": [0.3],
    "loss": [{"type": "position", "body": "box", "target": [0.2, 0, 0.1], "weight": 2},
             {"type": "qpos", "joint": "hinge", "target": 0.5}],
    "variables": [{"name": "ctrl", "min": -1, "max": 1}, {"name": "qvel0", "index": [0, 6]},
                  {"name": "qpos0[joint/hinge]"}, {"name": "geom/cube/friction", "index": [0]}],
    "optimizer": {"type": "adam", "rate": 0.02, "iterations": 8},
}


class Shipped(cli.Case):
    """Short versions of the shipped tasks."""

    def check(self, name, iterations, factor, file="task.json"):
        task = os.path.join(MODELS, name, file)
        out = self.path("out")
        r = self.run_json("optimize", task, "--out", out, "--iterations", iterations)
        self.assertEqual(r["status"], "ok")
        self.assertLess(r["loss_last"], factor * r["loss_first"])
        self.assertEqual(r["iterations"], iterations)
        has_ctrl = ["ctrl.csv"] if name != "throw" else []
        files = sorted(FILES + has_ctrl + (["head.obj"] if name == "hammer" else []))
        self.assertEqual(sorted(os.listdir(out)), files)
        self.assertEqual(sorted(r["files"]), files)

        # the history is that of the run; the best iterate counts
        rows = cli.rows(os.path.join(out, "history.csv"))
        follows = ["overlap", "jump"] if name == "hammer" else []   # inertia_from_geom
        self.assertEqual(list(rows[0]), ["iteration", "loss", "step_norm", "wall_s"] + follows)
        losses = [float(row["loss"]) for row in rows]
        self.assertEqual(len(losses), iterations + 1)
        self.assertAlmostEqual(losses[0], r["loss_first"], delta=1e-10 * r["loss_first"])
        self.assertAlmostEqual(min(losses), r["loss_last"], delta=1e-9 * r["loss_first"])

        # the new task starts where this one ended
        again = self.run_json("grad", os.path.join(out, "task.json"))
        self.assertAlmostEqual(again["loss"], r["loss_last"],
                               delta=1e-10 * r["loss_last"] + 1e-12 * r["loss_first"])

        # the scene loads in MuJoCo, from another folder too
        moved = self.path("moved/scene.xml")
        shutil.copytree(out, self.path("moved"))
        seconds = cli.load(os.path.join(out, "task.json"))
        seconds = seconds["timestep"] * seconds["horizon"]
        ctrl = ["--ctrl", os.path.join(out, "ctrl.csv")] if has_ctrl else []
        c = self.run_json("compare", moved, "--time", seconds, "--keyframe", "optimized", *ctrl,
                          "--out", self.path("compare"))
        self.assertEqual(c["difference"]["position"]["max"], r["replay"]["position"]["max"])
        report = cli.read(os.path.join(out, "report.html"))
        self.assertGreaterEqual(report.count("<svg"), 10)
        self.assertNotIn("http", report.replace("http-equiv", ""))
        return r

    def test_throw(self):
        r = self.check("throw", 60, 0.01)
        self.assertLess(r["replay"]["position"]["max"], 0.1)

    def test_push_arm(self):
        self.check("push_arm", 40, 0.9)

    def test_hammer(self):
        shape = self.check("hammer", 40, 0.1)
        self.assertLess(shape["replay"]["position"]["max"], 0.2)

    def lbfgsb_reaches(self, name, iterations, **start):
        """The last loss, from the task with other keys."""
        task = cli.load(os.path.join(MODELS, name, "task.json"))
        task["scene"] = os.path.join(MODELS, name, task["scene"])
        task.update(start)
        with open(self.path(name + ".json"), "w") as f:
            json.dump(task, f)
        r = self.run_json("optimize", self.path(name + ".json"), "--out", self.path(name),
                          "--optimizer", "lbfgsb", "--iterations", iterations)
        return r["loss_last"]

    def test_lbfgsb(self):
        """How far L-BFGS-B comes; NLopt's stalled at 0.18 and 2e-3. Both losses have several minima,
        and rounding decides which one a start ends at: of twelve of the hammer's three stayed at 3e-3
        or above, so that one of ten, whichever it is, must come below."""
        free = cli.load(os.path.join(MODELS, "push_arm", "task.json"))["free"]
        for k in range(5):
            free["wrist"]["value"][0] += 0.002 * k
            reached = self.lbfgsb_reaches("push_arm", 150, free=free)
            self.assertLess(reached, 0.6)   # it starts at 1.19
            if reached < 0.15:
                break
        self.assertLess(reached, 0.15)
        reached = []
        for k in range(10):
            reached.append(self.lbfgsb_reaches("hammer", 200, ctrl=[0.29 + 0.002 * k]))
            self.assertLess(reached[-1], 0.1)   # they start at 0.3
            if reached[-1] < 2e-3:
                break
        self.assertLess(min(reached), 2e-3)

    def test_hammer_needs_its_shape(self):
        r = self.run_json("optimize", os.path.join(MODELS, "hammer", "controls.json"), "--out",
                          self.path("out"), "--iterations", 60)
        self.assertGreater(r["loss_last"], 0.4 * r["loss_first"])


class Verb(cli.Case):
    def setUp(self):
        super().setUp()
        self.write("s.json", cli.SCENE)
        self.task = self.write("task.json", TASK)
        self.out = self.path("out")

    def test_our_own_scene(self):
        r = self.run_json("optimize", self.task, "--out", self.out)
        self.assertEqual(r["scene"], "scene.xml")
        self.assertEqual(r["replay"]["position"]["body"], "box")
        self.assertEqual(r["iterations"], 8)
        self.assertEqual([t["type"] for t in r["terms"]], ["position", "qpos"])
        again = self.run_json("grad", os.path.join(self.out, "task.json"))
        self.assertAlmostEqual(again["loss"], r["loss_last"],
                               delta=1e-10 * r["loss_last"] + 1e-12 * r["loss_first"])
        final = cli.load(os.path.join(self.out, "final.json"))
        self.assertEqual([v["name"] for v in final["variables"]],
                         [v["name"] for v in TASK["variables"]])
        ctrl = final["variables"][0]["value"]
        self.assertEqual(len(ctrl), 30)
        self.assertTrue(all(-1 <= u <= 1 for u in ctrl))
        # written over without complaint, and restarted from there
        second = self.run_json("optimize", os.path.join(self.out, "task.json"), "--out", self.out)
        self.assertAlmostEqual(second["loss_first"], r["loss_last"],
                               delta=1e-10 * r["loss_last"])
        self.assertLess(second["loss_last"], r["loss_last"])

    def test_settings_reach_the_new_task(self):
        r = self.run_json("optimize", self.task, "--out", self.out, "--stiffness", "0.01", "--set",
                          "body/box/mass=2", "--timestep", "0.004", "--keyframe", "up",
                          "--iterations", "2")
        again = self.run_json("grad", os.path.join(self.out, "task.json"))
        self.assertAlmostEqual(again["loss"], r["loss_last"],
                               delta=1e-10 * r["loss_last"] + 1e-12 * r["loss_first"])
        self.assertEqual(again["settings"]["stiffness"], 0.01)
        self.assertEqual(again["settings"]["timestep"], 0.004)

    def test_paths_from_elsewhere(self):
        deep = os.path.join(self.folder.name, "a", "b")
        self.run_json("optimize", self.task, "--out", deep, "--iterations", "1")
        with open(os.path.join(deep, "task.json")) as f:
            self.assertEqual(json.load(f)["scene"], "../../s.json")
        absolute = self.write("absolute.json", {**TASK, "scene": self.path("s.json")})
        self.run_json("optimize", absolute, "--out", deep, "--iterations", "1")
        with open(os.path.join(deep, "task.json")) as f:
            self.assertEqual(json.load(f)["scene"], self.path("s.json"))

    def test_what_mujoco_cannot_hold(self):
        task = os.path.join(MODELS, "wall_friction", "task.json")
        code, out, err = self.run_cli(
            "optimize", task, "--out", self.out, "--iterations", "1", "--json", "--quiet",
            "--set", "joint/board1/stiffness=1", "--set", "joint/board1/springref=0,0,1,1,0,0,0")
        self.assertEqual(code, 1)
        self.assertEqual(len(err.splitlines()), 1)
        self.assertIn("joint/board1/springref", err)
        r = json.loads(out)
        self.assertIsNone(r["scene"])
        self.assertIn("springref", r["scene_note"])
        self.assertNotIn("scene.xml", os.listdir(self.out))
        self.assertIn("report.html", os.listdir(self.out))

    def test_text(self):
        code, text, err = self.run_cli("optimize", self.task, "--out", self.out)
        self.assertEqual((code, err), (0, ""))
        lines = [l for l in text.splitlines() if os.sep not in l]   # paths are as long as they are
        self.assertGreater(len(lines), 3)
        self.assertLessEqual(max(map(len, lines)), 100)

    def test_scenes(self):
        """Each scene is written with its own start and controls; MuJoCo loads them."""
        scene = json.loads(json.dumps(cli.SCENE))
        scene["geoms"][1]["size"] = [0.08, 0.1, 0.12]
        self.write("other.json", scene)
        scenes = [{"name": "a", "set": {"geom/cube/friction": [0.5, 0.005, 1e-4]}},
                  {"name": "b", "scene": "other.json", "weight": 3,
                   "set": {"geom/cube/friction": [0.5, 0.005, 1e-4]},
                   "initial": {"qvel": [0.4, 0.1, 0.3, 0, 0, 0.5, 0.2]}}]
        task = self.write("scenes.json", {**TASK, "scenes": scenes})
        r = self.run_json("optimize", task, "--out", self.out)
        self.assertEqual(r["scene"], "scene_a.xml")
        self.assertIsNotNone(r["replay"])
        for name, size in (("a", 0.1), ("b", 0.08)):
            path = os.path.join(self.out, "scene_%s.xml" % name)
            with open(os.path.join(self.out, "ctrl_%s.csv" % name)) as f:
                self.assertEqual(len(f.readlines()), 31)
            c = self.run_json("simulate", path, "--time", 0.15, "--keyframe", "optimized", "--ctrl",
                              os.path.join(self.out, "ctrl_%s.csv" % name))
            self.assertEqual(c["steps"], 30)
            text = cli.read(path)
            self.assertIn('size="%g 0.1' % size, text)
        again = self.run_json("grad", os.path.join(self.out, "task.json"))
        self.assertAlmostEqual(again["loss"], r["loss_last"], delta=1e-12 * r["loss_last"])

    def test_interrupt(self):
        task = dict(TASK, optimizer={"type": "adam", "rate": 1e-3, "iterations": 10**6})
        path = self.write("long.json", task)
        run = subprocess.Popen([cli.BIN, "optimize", path, "--out", self.out, "--json"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while run.poll() is None and not os.path.isdir(self.out):
            time.sleep(0.05)
        time.sleep(0.5)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
        self.assertEqual((run.returncode, err), (1, ""))
        r = json.loads(out)
        self.assertEqual(r["status"], "interrupted")
        self.assertLessEqual(r["loss_last"], r["loss_first"])
        again = self.run_json("grad", os.path.join(self.out, "task.json"))
        self.assertAlmostEqual(again["loss"], r["loss_last"],
                               delta=1e-10 * r["loss_last"] + 1e-12 * r["loss_first"])

    def test_bad_input(self):
        def bad(task, *names):
            path = self.write("bad.json", task)
            self.refused("optimize", path, "--out", self.out, names=["bad.json", *names])

        self.refused("optimize", self.task, names=["--out"])
        self.refused("optimize", self.task, "--out", self.out, "--iterations", "0",
                     names=["--iterations"])
        bad({**TASK, "variables": []}, "variables")
        bad({**TASK, "optimizer": {"type": "luck"}}, "luck")
        bad({**TASK, "horizon": 0}, "horizon")
        twice = [{"name": "qvel0"}, {"name": "qvel0[joint/hinge]"}]
        bad({**TASK, "variables": twice}, "qvel0[joint/hinge]")
        self.refused("optimize", self.path("missing.json"), "--out", self.out,
                     names=["missing.json"])
        bad({**TASK, "integrator": "magic"}, "magic")
        self.refused("optimize", self.task, "--out", os.path.join(self.task, "x"),
                     names=["task.json"])


if __name__ == "__main__":
    unittest.main()
