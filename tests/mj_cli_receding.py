#!/usr/bin/env python3
"""The verb `optimize` where the horizon recedes: files, restarts, interrupts, bad tasks."""
import csv
import json
import os
import unittest

from common import cli, interrupt

FILES = ["ctrl.csv", "final.json", "history.csv", "replay.json", "report.html", "scene.xml",
         "task.json"]
TASK = {
    "scene": "s.json", "timestep": 0.005, "horizon": 30,
    "initial": {"qvel": [0.4, 0.1, 0, 0, 0, 0.5, 0.2 + 0.1]}, "ctrl": [0.3],
    "loss": [{"type": "qvel", "joint": "hinge", "target": 0.9, "when": "running"},
             {"type": "qpos", "joint": "hinge", "target": 0.1, "weight": 0.01}],
    "variables": [{"name": "ctrl", "min": -1, "max": 1}],
    "optimizer": {"type": "adam", "rate": 0.1 * 0.7, "iterations": 6,
                  "receding": {"horizon": 12, "apply": 4}},
}
HOLD = {"free": {"z": {"value": [0.1] * 15, "min": -2, "max": 2}}, "variables": [{"name": "z"}],
        "maps": [{"type": "tanh", "from": "z", "hold": 2}]}

# Sends SIGINT to its own process AT the n-th look at the clock: that is once an iteration, and no
# terminal has a thread look.
INTERPOSER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec* now) {
  static int (*next)(clockid_t, struct timespec*);
  static long calls;
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "clock_gettime");
  if (++calls == atol(getenv("AT"))) raise(SIGINT);
  return next(clock, now);
}
"""


def receding(**keys):
    return {**TASK, "optimizer": {**TASK["optimizer"], "receding": keys}}


class Case(cli.Case):
    def setUp(self):
        super().setUp()
        self.write("s.json", cli.SCENE)
        self.task = self.write("task.json", TASK)
        self.out = self.path("out")

    def read(self, name, folder=None):
        return cli.read(os.path.join(folder or self.out, name))

    def json(self, name, folder=None):
        return json.loads(self.read(name, folder))

    def rows(self, name, folder=None):
        return list(csv.DictReader(self.read(name, folder).splitlines()))


class Files(Case):
    def check(self, task, variable):
        r = self.run_json("optimize", self.write("t.json", task), "--out", self.out)
        self.assertEqual(r["status"], "ok")
        self.assertLess(r["loss_last"], 0.95 * r["loss_first"])
        self.assertEqual(r["receding"], {"horizon": 12, "apply": 4, "frames": 8, "executed": 30})
        self.assertEqual(sorted(os.listdir(self.out)), FILES)
        final = self.json("final.json")
        for key in ("status", "loss_first", "loss_last", "iterations", "receding", "terms"):
            self.assertEqual(final[key], r[key])
        self.assertEqual([v["name"] for v in final["variables"]], [variable])
        ctrl = [float(row["ctrl[0]"]) for row in self.rows("ctrl.csv")]
        self.assertEqual(len(ctrl), 30)
        self.assertTrue(all(-1 <= u <= 1 for u in ctrl))
        if variable == "ctrl":
            self.assertEqual(final["variables"][0]["value"], ctrl)

        rows = self.rows("history.csv")
        self.assertEqual(list(rows[0]), ["iteration", "loss", "step_norm", "wall_s", "frame"])
        done = [[int(row["iteration"]) for row in rows if int(row["frame"]) == f]
                for f in range(0, 30, 4)]
        self.assertEqual(sum(map(len, done)), len(rows))
        for one in done:   # controls at their bounds end a window early
            self.assertEqual(one, list(range(len(one))))
            self.assertLessEqual(len(one), 7)
        self.assertEqual(len(done[0]), 7)
        self.assertEqual(r["iterations"], len(rows) - 8)
        self.assertGreaterEqual(r["evaluations"], len(rows))

        # the new task is what was executed, and may be improved
        self.assertEqual(self.json("task.json")["optimizer"]["receding"],
                         {"horizon": 12, "apply": 4})
        new = os.path.join(self.out, "task.json")
        self.assertEqual(self.run_json("grad", new)["loss"], r["loss_last"])
        again = self.run_json("optimize", new, "--out", self.path("again"))
        self.assertEqual(again["loss_first"], r["loss_last"])
        return r

    def test_controls(self):
        self.check(TASK, "ctrl")

    def test_held(self):
        self.check({**TASK, **HOLD}, "z")

    def test_report(self):
        self.run_json("optimize", self.task, "--out", self.out)
        report = self.read("report.html")
        self.assertIn("8 windows of 12 steps", report)
        self.assertIn("Losses of the windows", report)
        self.assertNotIn("the best is that of iteration", report)
        self.assertNotIn("nan", report)
        self.assertGreaterEqual(report.count("<svg"), 10)

    def test_text(self):
        code, text, err = self.run_cli("optimize", self.task, "--out", self.out)
        self.assertEqual((code, err), (0, ""))
        self.assertIn("8 windows of 12 steps; 30 of 30 steps are executed", text)

    def test_without(self):
        task = {**TASK, "optimizer": {"type": "adam", "iterations": 2}}
        r = self.run_json("optimize", self.write("t.json", task), "--out", self.out)
        self.assertNotIn("receding", r)
        head = self.read("history.csv").splitlines()[0]
        self.assertEqual(head, "iteration,loss,step_norm,wall_s")

    def test_options(self):
        r = self.run_json("optimize", self.task, "--out", self.out, "--iterations", "2",
                          "--optimizer", "lbfgsb")
        self.assertLessEqual(r["iterations"], 16)
        self.assertEqual(self.json("task.json")["optimizer"]["type"], "lbfgsb")
        self.refused("optimize", self.task, "--out", self.path("other"), "--phases", "2",
                     names=["task.json", "phases"])


class Restart(Case, interrupt.Case):
    def interrupt(self, task, out, call):
        """A run that ends after so many iterations."""
        environment = {**self.interposer(INTERPOSER), "AT": str(call)}
        code, text, err = self.end(self.start("optimize", task, "--out", out, "--json",
                                              env=environment))
        self.assertEqual(err, "")
        return code, json.loads(text)

    def check(self, task):
        """Interrupted at two places on its way, a run ends with the same bits."""
        task = {**task, "optimizer": {**task["optimizer"], "iterations": 50,
                                      "receding": {"horizon": 24, "apply": 4}}}
        path, part = self.write("t.json", task), self.path("part")
        whole = self.run_json("optimize", path, "--out", self.out)
        frame = [int(row["frame"]) for row in self.rows("history.csv")]
        frames, history, f = 0, [], 0
        # the second plans beyond the task, which `window` alone keeps
        for first, last in ((4, 8), (12, 20)):
            within = [k for k, other in enumerate(frame) if first <= other <= last]
            code, r = self.interrupt(path, part, within[len(within) // 2] - frame.index(f))
            self.assertEqual((code, r["status"], r["stop"]), (1, "interrupted", "interrupted"))
            history += self.rows("history.csv", part)
            frames += r["receding"]["frames"]
            keys = self.json("task.json", part)["optimizer"]["receding"]
            f = r["receding"]["executed"]
            self.assertEqual(keys["frame"], f)
            self.assertTrue(first <= f <= last, f)
            self.assertEqual(len(self.rows("ctrl.csv", part)), 30)
            self.assertEqual(self.read("ctrl.csv", part).splitlines()[:f + 1],
                             self.read("ctrl.csv").splitlines()[:f + 1])
            # what is there has the loss that is told
            path = os.path.join(part, "task.json")
            self.assertEqual(self.run_json("grad", path)["loss"], r["loss_last"])
        r = self.run_json("optimize", path, "--out", part)
        history += self.rows("history.csv", part)
        frames += r["receding"]["frames"]
        self.assertEqual(frames, 8)
        self.assertEqual(self.read("ctrl.csv", part), self.read("ctrl.csv"))
        self.assertEqual(r["loss_last"], whole["loss_last"])
        final, other = self.json("final.json"), self.json("final.json", part)
        self.assertEqual(final["variables"][0]["value"], other["variables"][0]["value"])
        self.assertEqual(self.json("task.json", part)["optimizer"]["receding"],
                         {"horizon": 24, "apply": 4})
        # frames that were left have been done anew, with the same losses
        losses = {}
        for row in history:
            losses.setdefault((row["frame"], row["iteration"]), set()).add(row["loss"])
        self.assertTrue(all(len(one) == 1 for one in losses.values()))
        self.assertEqual({key: {row["loss"]} for row in self.rows("history.csv")
                          for key in [(row["frame"], row["iteration"])]}, losses)

    def test_controls(self):
        self.check(TASK)

    def test_held(self):
        self.check({**TASK, **HOLD})


class Refused(Case):
    def bad(self, task, *names):
        path = self.write("bad.json", task)
        self.refused("optimize", path, "--out", self.out, names=["bad.json", *names])

    def test_numbers(self):
        self.bad(receding(horizon=31, apply=4), "receding", "horizon", "31")
        self.bad(receding(horizon=0), "receding", "horizon")
        self.bad(receding(apply=1), "receding", "horizon")
        self.bad(receding(horizon=4, apply=0), "receding", "apply")
        self.bad(receding(horizon=4, apply=5), "receding", "apply")
        self.bad(receding(horizon=4, hurry=1), "receding", "hurry")
        self.bad(receding(horizon=4, frame=30), "receding", "frame")
        self.bad(receding(horizon=4, apply=2, frame=4, window=[0, 1]), "receding", "window", "4")

    def test_what_varies(self):
        self.bad({**TASK, "variables": [{"name": "qvel0"}]}, "qvel0")
        self.bad({**TASK, "variables": [{"name": "geom/cube/size"}]}, "geom/cube/size")
        self.bad({**TASK, "variables": [{"name": "ctrl", "index": [0, 1]}]}, "ctrl", "index")
        self.bad({**TASK, **HOLD, "maps": [{"type": "spline", "from": "z", "actuator": 0}]},
                 "maps[0]", "spline")
        self.bad({**TASK, **HOLD, "optimizer": {**TASK["optimizer"], "receding": {
            "horizon": 12, "apply": 3}}}, "maps[0]", "tanh", "apply")
        self.bad({**TASK, "loss": [{"type": "qpos", "joint": "hinge", "target": 0, "when":
                                    {"step": 3}}]}, "loss[0]")
        self.bad({**TASK, "optimizer": {**TASK["optimizer"], "phases": 2}}, "phases")


if __name__ == "__main__":
    unittest.main()
