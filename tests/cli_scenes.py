#!/usr/bin/env python3
"""Tasks with several scenes: grad, optimize, what they write, restarts, and errors that name the
scene."""
import json
import os
import signal
import unittest

from common import cli, interrupt

START = {"qvel": [0.4, 0.1, 0, 0, 0, 0.5, 0.2]}
TASK = {
    "scene": "s.json", "timestep": 0.005, "horizon": 20, "initial": START, "ctrl": [0.3],
    "loss": [{"type": "position", "body": "box", "target": [0.2, 0, 0.1], "weight": 2},
             {"type": "relative", "body": "box", "body2": "arm", "when": {"from": 5}}],
    "set": {"geom/floor/friction": [0.4, 0, 0]},
    "variables": [{"name": "ctrl", "min": -1, "max": 1}, {"name": "qvel0", "index": [0, 6]},
                  {"name": "geom/cube/friction", "index": [0]}],
    "scenes": [{"name": "near"},
               {"name": "heavy", "scene": "heavy.json", "weight": 0.5,
                "initial": {"keyframe": "up", **START}, "set": {"geom/*/friction": [1, 0, 0]}},
               {"name": "low", "set": {"body/box/gravcomp": [0.2]},
                "loss": [{"type": "qpos", "joint": "hinge", "target": 0.5}]}],
    "optimizer": {"type": "adam", "rate": 0.02, "iterations": 6},
}
NAMES = [scene["name"] for scene in TASK["scenes"]]


class Scenes(interrupt.Case):
    def setUp(self):
        super().setUp()
        self.write("s.json", cli.SCENE)
        heavy = json.loads(json.dumps(cli.SCENE))
        heavy["bodies"][1]["mass"] = 2
        heavy["geoms"][1]["size"] = [0.08, 0.1, 0.1]
        self.write("heavy.json", heavy)
        self.task = self.write("task.json", TASK)

    def history(self, out):
        """Rows of history.csv, whose losses of scenes add up to the loss."""
        rows = cli.rows(os.path.join(out, "history.csv"))
        self.assertEqual(list(rows[0]), ["iteration", "loss", "step_norm", "wall_s"] +
                         ["loss_" + name for name in NAMES])
        for row in rows:
            each = [float(row["loss_" + name]) for name in NAMES]
            self.assertAlmostEqual(each[0] + 0.5 * each[1] + each[2], float(row["loss"]),
                                   delta=1e-12)
        return rows

    def test_grad(self):
        first = self.run_json("grad", self.task, "--check", "--threads", "1")
        self.assertEqual([t["scene"] for t in first["terms"]],
                         ["near", "near", "heavy", "heavy", "low"])
        self.assertEqual([s["name"] for s in first["scenes"]], NAMES)
        self.assertEqual([s["weight"] for s in first["scenes"]], [1, 0.5, 1])
        self.assertAlmostEqual(first["loss"], sum(s["weight"] * s["loss"] for s in first["scenes"]),
                               delta=1e-14 * first["loss"])
        self.assertEqual(first["steps"], 60)
        self.assertTrue(all(c["passed"] for c in first["certificate"]))
        for threads in (2, 3):   # the same bits
            other = self.run_json("grad", self.task, "--check", "--threads", threads)
            for key in first:
                if key not in ("time", "settings"):
                    self.assertEqual(other[key], first[key], key)
        code, out, _ = self.run_cli("grad", self.task)
        self.assertEqual(code, 0)
        self.assertIn("of heavy", out)

        # a scene's part is what its own task gives
        for k, scene in enumerate(TASK["scenes"]):
            one = {**TASK, **{key: v for key, v in scene.items() if key not in ("name", "weight")}}
            one["set"] = {**TASK["set"], **scene.get("set", {})}
            del one["scenes"]
            alone = self.run_json("grad", self.write("one.json", one))
            self.assertEqual(alone["loss"], first["scenes"][k]["loss"])
            self.assertNotIn("scenes", alone)
            self.assertNotIn("scene", alone["terms"][0])

    def test_optimize(self):
        runs = []
        for threads in (1, 2, 3):
            out = self.path("out%d" % threads)
            r = self.run_json("optimize", self.task, "--out", out, "--threads", threads)
            self.assertLess(r["loss_last"], r["loss_first"])
            files = ["final.json", "history.csv", "replay.json", "report.html", "task.json"]
            files += ["ctrl_%s.csv" % name for name in NAMES]
            scenes = ["scene_%s.xml" % name for name in NAMES]
            if not r["scene"]:   # in a build without MuJoCo
                scenes = ["scene_%s.json" % name for name in NAMES]
            files += scenes
            self.assertEqual(sorted(os.listdir(out)), sorted(files))
            self.assertEqual(sorted(r["files"]), sorted(files))
            rows = self.history(out)
            final = cli.load(os.path.join(out, "final.json"))
            self.assertEqual([t["scene"] for t in final["terms"]],
                             ["near", "near", "heavy", "heavy", "low"])
            self.assertEqual([s["name"] for s in final["scenes"]], NAMES)
            for s in final["scenes"]:
                self.assertEqual(s["loss_first"], float(rows[0]["loss_" + s["name"]]))
            again = self.run_json("grad", os.path.join(out, "task.json"))
            self.assertEqual(again["loss"], r["loss_last"])
            self.assertEqual(self.run_json("grad", os.path.join(out, "replay.json"))["loss"],
                             r["loss_last"])
            self.assertEqual(r["replayed_loss"], r["loss_last"])
            self.assertEqual([s["loss"] for s in again["scenes"]],
                             [s["loss_last"] for s in final["scenes"]])
            runs.append((final, [row["loss"] for row in rows]))
        self.assertEqual(runs[0], runs[1])
        self.assertEqual(runs[0], runs[2])
        page = cli.read(os.path.join(out, "report.html"))
        for name in NAMES:
            self.assertIn(name, page)

    def test_optimizers(self):
        for kind in ("trust_region", "lbfgsb", "gauss_newton"):
            r = self.run_json("optimize", self.task, "--out", self.path("out"), "--optimizer", kind,
                              "--iterations", "25", "--phases", "2")
            self.history(self.path("out"))   # also of points that were not the last tried
            self.assertLessEqual(r["loss_last"], r["loss_first"])
            self.assertEqual(r["phases"], 2)

    def test_restart(self):
        """An interrupted run in stages, gone on with, ends with the bits of a whole one."""
        stages = [{"iterations": 3}, {"set": {"joint/hinge/damping": [0.2]}, "iterations": 10**7}]
        task = {**TASK, "optimizer": {**TASK["optimizer"], "stages": stages}}
        out = self.path("out")
        t = interrupt.Terminal("optimize", self.write("task.json", task), "--out", out, "--json")
        t.wait_for("stage 2 of 2, iteration [1-9]")
        t.run.send_signal(signal.SIGINT)
        code, text = t.finish()
        self.assertEqual((code, json.loads(text)["status"]), (1, "interrupted"))
        written = os.path.join(out, "task.json")
        left = cli.load(written)
        again = self.run_json("grad", written)
        self.assertEqual(again["loss"], json.loads(text)["loss_last"])
        ends = []
        for one in (left, task):
            one["optimizer"]["stages"][1]["iterations"] = 5
            folder = self.path("end%d" % len(ends))
            path = os.path.join(out, "task.json") if one is left else self.task
            with open(path, "w") as f:
                json.dump(one, f)
            r = self.run_json("optimize", path, "--out", folder)
            with open(os.path.join(folder, "final.json")) as f:
                ends.append((r["loss_last"], json.load(f)["scenes"][1]["loss_last"]))
        self.assertEqual(ends[0], ends[1])

    def test_refused(self):
        lacking = json.loads(json.dumps(cli.SCENE))
        lacking["geoms"][1]["name"] = "block"
        self.write("lacking.json", lacking)
        for scenes, names in [
                ([], ["scenes: must be a list of scenes"]),
                ([{}, {"colour": 1}], ["scenes[1]: unknown key 'colour'"]),
                ([{}, {"name": "a/b"}], ["scenes[1]: name"]),
                ([{"name": "a"}, {"name": "a"}], ["scenes[1]: name: 'a' is that of scenes[0]"]),
                ([{}, {"weight": -1}], ["scenes[1]: weight"]),
                ([{}, {"name": "gone", "scene": "gone.json"}], ["gone.json"]),
                ([{}, {"name": "x", "scene": "lacking.json"}],
                 ["scenes[1] 'x': variables", "geom/cube/friction"]),
                ([{}, {"name": "x", "horizon": 9}], ["scenes[1] 'x': variable 'ctrl' has another"]),
                ([{}, {"name": "x", "ctrl": [0.1]}],
                 ["scenes[1] 'x': variable 'ctrl' begins with other values"]),
                ([{}, {"name": "x", "initial": {"keyframe": "down"}}],
                 ["scenes[1] 'x': initial: keyframe"]),
                ([{}, {"name": "x", "set": {"body/lid/mass": [1]}}],
                 ["scenes[1] 'x': set", "body/lid/mass"]),
                ([{}, {"name": "x", "loss": [{"type": "com", "target": [1]}]}],
                 ["scenes[1] 'x': loss[0]: target"])]:
            task = self.write("task.json", {**TASK, "scenes": scenes})
            self.refused("grad", task, names=names)
            self.refused("optimize", task, "--out", self.path("out"), names=names)
        window = {**TASK, "optimizer": {"receding": {"horizon": 5}}}
        self.refused("optimize", self.write("task.json", window), "--out", self.path("out"),
                     names=["receding: takes one scene"])
        stage = {**TASK, "optimizer": {"stages": [{"set": {"geom/block/friction": [1, 0, 0]}}]}}
        task = self.write("task.json", stage)
        for verb in (("optimize", "--out", self.path("out")), ("grad",)):
            code, _, err = self.run_cli(verb[0], task, *verb[1:])
            self.assertEqual(code, 2)
            self.assertIn("stages[0]: set: scenes[0] 'near': ", err)


if __name__ == "__main__":
    unittest.main()
