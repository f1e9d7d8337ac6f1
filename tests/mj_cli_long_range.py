#!/usr/bin/env python3
"""The long-range tasks: files as their generator writes them, certified gradients before, at and
after contact, progress where plain contact has none. With arguments: these tasks, else a few."""
import csv
import json
import os
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ["DIJOCO_SOURCE"], "tests/common"))
import cli  # noqa: E402

FOLDER = os.path.join(cli.SOURCE, "models", "long_range")
STEPS = 20

# Of each task: the joint of what is to be moved, where it is thrown at what moves it, with which
# velocity (None: it stays), variables beside the start, and a geom whose size varies.
TASKS = {
    "billiards": ("green0", (-0.5, 0, 0.06), (-1.5, 0, 0), [], "red"),
    "push": ("box", (0.16, -0.12, 0.1), (1, 0, 0), ["ctrl"], "rod"),
    "sort": ("cube0", (0, -0.55, 0.05), (0, -1, 0), ["ctrl"], "rod"),
    "gather": ("cube0", (0, -0.75, 0.05), (0, -1, 0), ["ctrl"], "rod"),
    "gather_bunny": ("blob0", (0, -0.8, 0), (0, -1, 0), ["ctrl"], "rod"),
    "ant_push": ("box", (1, 0.7, 0.2), (-1.2, 0, 0), ["ctrl"], "ant"),
    "puck": ("disc", (0.02, 0.2, 0.04), (1, 0, 0), ["ctrl"], "cylinder"),
    "button": ("button", None, None, ["ctrl"], "hand"),
    "franka_push": ("blob0", None, None, ["ctrl"], "hand"),
}
TRIANGLES = {"push": "scene.xml"}   # scenes of long_range.json
NAMES = [a for a in sys.argv[1:] if a in TASKS] or ["push", "franka_push"]
sys.argv[1:] = [a for a in sys.argv[1:] if a not in TASKS]


def load(name, file="task.json"):
    with open(os.path.join(FOLDER, name, file), encoding="utf-8") as f:
        task = json.load(f)
    task["scene"] = os.path.join(FOLDER, name, "scene.xml")
    return task


class LongRange(cli.Case):
    def states(self, name):
        """(qpos, qvel) as the task begins, when something is thrown, and after it has hit."""
        joint, place, speed = TASKS[name][:3]
        task, scene = load(name), self.path("scene.json")
        self.run_cli("convert", task["scene"], "--out", scene)
        with open(scene, encoding="utf-8") as f:
            model = json.load(f)
        q = v = at = dof = 0
        for j in model["joints"]:
            kind = j.get("type", "hinge")
            if j.get("name") == joint:
                at, dof = q, v
            q += {"free": 7, "ball": 4}.get(kind, 1)
            v += {"free": 6, "ball": 3}.get(kind, 1)
        key = task.get("initial", {}).get("keyframe")
        start = self.rows(task, "--time", task["timestep"],
                          *(["--keyframe", key] if key else []))[0]
        yield "before", start
        if place is None:
            return
        qpos, qvel = list(start[0]), list(start[1])
        qpos[at:at + 2], qvel[dof:dof + 3] = place[:2], speed
        if place[2]:
            qpos[at + 2] = place[2]
        yield "at", (qpos, qvel)
        files = []
        for key, value in (("qpos", qpos), ("qvel", qvel)):
            files += ["--" + key, self.path(key)]
            with open(files[-1], "w", encoding="utf-8") as f:
                f.write(" ".join("%.17g" % x for x in value))
        yield "after", self.rows(task, "--time", 8 * task["timestep"], *files)[-1]

    def rows(self, task, *arguments):
        out = self.path("run.csv")
        self.run_json("simulate", task["scene"], "--out", out, *arguments)
        with open(out, newline="", encoding="utf-8") as f:
            found = list(csv.DictReader(f))
        return [([float(r[k]) for k in r if k.startswith("qpos[")],
                 [float(r[k]) for k in r if k.startswith("qvel[")]) for r in found]

    def test_certificates(self):
        for name in NAMES:
            variables, geom = TASKS[name][3:]
            for when, (qpos, qvel) in self.states(name):
                task = load(name)
                for key in ("optimizer", "maps", "free", "initial"):
                    task.pop(key, None)
                for term in task["loss"]:
                    term.pop("tolerance")
                task["contact"].pop("guide_backward_only", None)
                task.update(horizon=STEPS, initial={"qpos": qpos, "qvel": qvel})
                task["variables"] = [{"name": v} for v in
                                     variables + ["qpos0", "qvel0", "contact/guide",
                                                  "geom/%s/size" % geom]]
                for integrator in ("position", "variational"):
                    with self.subTest(name=name, when=when, integrator=integrator):
                        task["integrator"] = integrator
                        path = self.write("grad.json", json.dumps(task))
                        r = self.run_json("grad", path, "--check")
                        for one in r["certificate"]:
                            self.assertTrue(one["passed"], one)

    def test_plain_is_blind(self):
        """Without a guide every gradient is exactly 0; with it none is."""
        for name in NAMES:
            for file in ("task.json", "plain.json"):
                with self.subTest(name=name, file=file):
                    task = load(name, file)
                    task.pop("optimizer")
                    task["horizon"] = STEPS
                    r = self.run_json("grad", self.write("grad.json", json.dumps(task)))
                    norm = sum(x * x for v in r["variables"] for x in v["gradient"])
                    if file == "plain.json":
                        self.assertEqual(norm, 0)
                    else:
                        self.assertGreater(norm, 0)

    def test_triangles(self):
        """Under contact between triangles gradients lead before contact, and are exact in it."""
        for name in ("push", "ant_push", "billiards"):
            task = load(name, "long_range.json")
            task["scene"] = os.path.join(FOLDER, name, TRIANGLES.get(name, "long_range.xml"))
            task.pop("optimizer")
            task["horizon"] = 4
            r = self.run_json("grad", self.write("grad.json", json.dumps(task)))
            self.assertEqual(r["unconverged_steps"], 0)
            self.assertGreater(sum(abs(x) for v in r["variables"] for x in v["gradient"]), 0, name)
        task = load("push", "long_range.json")
        for term in task["loss"]:
            term.pop("tolerance")
        qpos = task["initial"]["qpos"]
        qpos[7:9] = 0.16, -0.12     # the box comes to the rod
        task["initial"]["qvel"] = [0] * 6 + [1, 0, 0, 0, 0, 0]
        task.pop("optimizer")
        task["horizon"] = 2
        task["variables"] = [{"name": v} for v in
                             ("ctrl", "qpos0", "contact/long_range/stiffness")]
        r = self.run_json("grad", self.write("grad.json", json.dumps(task)), "--check")
        for one in r["certificate"]:
            self.assertTrue(one["passed"], one)

    def test_long_rod(self):
        """A rod that is cut along its length pushes what lies 0.4 m before it, and does not rub."""
        task = load("gather_bunny", "long_range.json")
        task["scene"] = os.path.join(FOLDER, "gather_bunny", "long_range.xml")
        task.pop("optimizer")
        task["horizon"] = 5
        r = self.run_json("grad", self.write("grad.json", json.dumps(task)), "--check-runs", "40")
        self.assertTrue(r["certificate"][0]["passed"] and r["certificate"][0]["leads"], r)
        by = r["variables"][0]["gradient"]
        for k in range(0, len(by), 4):
            self.assertLess(by[k + 1], 0)
            self.assertEqual(max(map(abs, by[k:k + 4])), -by[k + 1])

    def test_generator(self):
        """The files are what generate.py writes."""
        before = cli.tree(FOLDER)
        copy = self.path("long_range")
        os.mkdir(copy)
        for name in list(TASKS):
            os.mkdir(os.path.join(copy, name))
        script = os.path.join(copy, "generate.py")
        with open(os.path.join(FOLDER, "generate.py"), encoding="utf-8") as f:
            text = f.read()
        with open(script, "w", encoding="utf-8") as f:
            f.write(text)
        subprocess.run([sys.executable, script], check=True)
        for name in TASKS:
            files = os.listdir(os.path.join(FOLDER, name))
            self.assertEqual(sorted(os.listdir(os.path.join(copy, name))), sorted(files))
            for file in files:
                with open(os.path.join(copy, name, file), encoding="utf-8") as f:
                    made = f.read()
                with open(os.path.join(FOLDER, name, file), encoding="utf-8") as f:
                    self.assertEqual(made, f.read(), "%s/%s" % (name, file))
        self.assertEqual(cli.tree(FOLDER), before)

    def test_push(self):
        """The rod finds the way round the box and pushes it home, without a tail in the run."""
        task = load("push")
        task["horizon"] = 24
        task["optimizer"]["receding"]["horizon"] = 24
        out = self.path("out")
        r = self.run_json("optimize", self.write("push.json", json.dumps(task)), "--out", out)
        self.assertLess(r["loss_last"], r["loss_first"])
        with open(os.path.join(out, "final.json"), encoding="utf-8") as f:
            bias = json.load(f)["bias"]
        self.assertEqual(bias["position"], 0)
        self.assertEqual(bias["loss_plain"], r["loss_last"])

    def test_puck(self):
        """A round body finds its way round another to each of three marks, from four starts."""
        script = os.path.join(cli.SOURCE, "scripts", "long_range.py")
        done = subprocess.run([sys.executable, script, "--command", cli.BIN, "--out",
                               self.path("out"), "puck"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), 13, done.stdout)

    def test_button(self):
        """An arm finds its way round a plate by candidates, of two seeds, and not without."""
        script = os.path.join(cli.SOURCE, "scripts", "long_range.py")
        done = subprocess.run([sys.executable, script, "--command", cli.BIN, "--jitters", "1",
                               "--out", self.path("out"), "button"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        task = load("button")
        task["optimizer"]["receding"]["candidates"] = 1
        r = self.run_json("optimize", self.write("one.json", json.dumps(task)), "--out",
                          self.path("one"))
        self.assertGreaterEqual(r["loss_last"], r["loss_first"])

    def test_round(self):
        """With guide_decay pushers go round what they push, in 16 scenes; without it not all do."""
        script = os.path.join(cli.SOURCE, "scripts", "guide_round.py")
        for decay, step, missed in (("0.25", "30", 0), ("1.5", "90", 2)):
            done = subprocess.run([sys.executable, script, "--command", cli.BIN, "--out",
                                   self.path("out"), "--step", step, "--decay", decay],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  check=False)
            runs = 2 + 2 * 180 // int(step)
            self.assertEqual(done.returncode, missed > 0, done.stdout + done.stderr)
            self.assertIn("%d of %d reach" % (runs - missed, runs), done.stdout)


if __name__ == "__main__":
    unittest.main()
