#!/usr/bin/env python3
"""sweep: samples by rows, by JSON, at random; several processes on one folder, some of them killed."""
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

from common import cli

TASK = {
    "scene": "s.json", "timestep": 0.005, "horizon": 20, "ctrl": [0.3],
    "initial": {"qvel": [0.4, 0.1, 0, 0, 0, 0.5, 0.2]},
    "loss": [{"type": "position", "body": "box", "target": [0.2, 0, 0.1], "weight": 2},
             {"type": "qpos", "joint": "hinge", "target": 0.5}],
    "variables": [{"name": "qvel0", "index": [0, 6], "min": -1, "max": 2},
                  {"name": "geom/cube/friction", "index": [0], "min": 0.1, "max": 1}],
    "optimizer": {"type": "lbfgsb", "iterations": 3},
}
ENTRIES = ["qvel0[0]", "qvel0[6]", "geom/cube/friction[0]"]


def rows(folder):
    return cli.rows(os.path.join(folder, "samples.csv"))


def text(folder):
    return cli.read(os.path.join(folder, "samples.csv"))


class Sweep(cli.Case):
    def setUp(self):
        super().setUp()
        self.write("s.json", cli.SCENE)
        self.task = self.write("task.json", TASK)

    def sweep(self, out, *arguments, status=0):
        return self.run_json("sweep", self.task, "--out", self.path(out), *arguments, status=status)

    def grad(self, task):
        """Loss and gradient of a task as grad has them."""
        found = self.run_json("grad", self.write("other.json", task))
        return found["loss"], [g for v in found["variables"] for g in v["gradient"]]

    def same_as_grad(self, row, task):
        loss, gradient = self.grad(task)
        self.assertEqual(float(row["loss"]), loss)
        self.assertEqual([float(row["d " + name]) for name in ENTRIES], gradient)

    def test_rows(self):
        samples = self.write("s.csv", 'geom/cube/friction[0],"qvel0[0]"\n0.2,1.5\n\n 0.9 ,-0.5\r\n')
        done = self.sweep("o", "--samples", samples)
        self.assertEqual((done["status"], done["samples"], done["here"], done["ok"]),
                         ("done", 2, 2, 2))
        for row, friction, speed in zip(rows(self.path("o")), (0.2, 0.9), (1.5, -0.5)):
            self.assertEqual([float(row[name]) for name in ENTRIES], [speed, 0.2, friction])
            start = {"qvel": [speed, *TASK["initial"]["qvel"][1:]]}
            given = {"geom/cube/friction": [friction, 0.005, 0.0001]}
            self.same_as_grad(row, {**TASK, "initial": start, "set": given})

    def test_patches(self):
        samples = self.write("s.json.json", json.dumps([
            {}, {"initial": None}, {"loss": [TASK["loss"][1]], "set": {"body/box/mass": 2}},
            {"horizon": 0}, {"variables": [{"name": "ctrl"}]}]))
        done = self.sweep("o", "--samples", samples, status=1)
        self.assertEqual((done["ok"], done["failed"]), (3, 2))
        found = rows(self.path("o"))
        self.same_as_grad(found[0], TASK)
        self.same_as_grad(found[1], {k: v for k, v in TASK.items() if k != "initial"})
        self.same_as_grad(found[2], {**TASK, "loss": [TASK["loss"][1]],
                                     "set": {"body/box/mass": 2}})
        self.assertIn("horizon", found[3]["message"])
        self.assertIn("variables", found[4]["message"])
        self.assertEqual(found[3]["loss"], "")

    def test_random(self):
        self.sweep("o", "--random", 40, "--seed", 3)
        found = rows(self.path("o"))
        for name, low, high in zip(ENTRIES, (-1, -1, 0.1), (2, 2, 1)):
            drawn = [float(row[name]) for row in found]
            self.assertEqual(len(set(drawn)), 40)
            self.assertTrue(low <= min(drawn) < low + 0.2 * (high - low))
            self.assertTrue(high - 0.2 * (high - low) < max(drawn) <= high)
        self.sweep("other", "--random", 40, "--seed", 4)
        self.assertNotEqual(text(self.path("o")), text(self.path("other")))
        free = self.write("free.json", {**TASK, "variables": [{"name": "qvel0", "index": [0]}]})
        self.refused("sweep", free, "--random", 3, "--out", self.path("p"),
                     names=["qvel0[0]", "--spread"])
        self.run_json("sweep", free, "--random", 200, "--spread", 0.5, "--out", self.path("p"))
        drawn = [float(row["qvel0[0]"]) for row in rows(self.path("p"))]
        mean = sum(drawn) / 200
        self.assertAlmostEqual(mean, 0.4, delta=0.12)
        self.assertAlmostEqual((sum((x - mean) ** 2 for x in drawn) / 200) ** 0.5, 0.5, delta=0.08)

    def test_certificates_and_optimizers(self):
        """Those of each sample's own point."""
        self.sweep("o", "--random", 3, "--check", "--optimize")
        for row in rows(self.path("o")):
            start = {"qvel": [float(row["qvel0[0]"]), *TASK["initial"]["qvel"][1:6],
                              float(row["qvel0[6]"])]}
            friction = [float(row["geom/cube/friction[0]"]), 0.005, 0.0001]
            task = {**TASK, "initial": start, "set": {"geom/cube/friction": friction}}
            alone = self.run_json("grad", self.write("other.json", task), "--check")
            for one in alone["certificate"]:
                self.assertEqual(float(row["passed " + one["name"]]), 1)
                self.assertAlmostEqual(float(row["error " + one["name"]]), one["relative_error"],
                                       delta=1e-9)
            best = self.run_json("optimize", self.path("other.json"), "--out", self.path("best"))
            self.assertEqual(float(row["loss_last"]), best["loss_last"])
            self.assertEqual(int(row["iterations"]), best["iterations"])
            self.assertEqual(row["stop"], best["stop"])

    def test_processes(self):
        """Four at once, two of which are killed: the table of one, and nothing twice."""
        task = self.write("long.json", {**TASK, "horizon": 200})
        arguments = ["sweep", task, "--random", 16, "--check-runs", 60, "--out"]
        self.run_json(*arguments, self.path("one"), "--threads", 1)
        command = [cli.BIN, *map(str, arguments), self.path("four"), "--threads", "1", "--json"]
        runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
        while not glob.glob(self.path("four/part_*.csv")):
            time.sleep(0.01)
        for run in runs[:2]:
            run.send_signal(signal.SIGKILL)
        done = [json.loads(run.communicate()[0]) for run in runs[2:]]
        self.assertEqual([run.returncode for run in runs[2:]], [0, 0])
        self.assertIn("done", [d["status"] for d in done])
        self.assertEqual(text(self.path("four")), text(self.path("one")))
        taken = []
        for part in glob.glob(self.path("four/part_*.csv")):
            with open(part) as file:
                taken += [line.split(";")[1].split(",")[0] for line in file if ";" in line]
        self.assertEqual(sorted(map(int, taken)), list(range(16)))

    def test_goes_on(self):
        """From any place at which it was cut off, also within a line."""
        arguments = ["--random", 6, "--threads", 1]
        self.sweep("whole", *arguments)
        part = cli.read(self.path("whole/part_0.csv"))
        for kept in (0, 1, len(part) // 2, len(part) - 1):
            shutil.rmtree(self.path("cut"), ignore_errors=True)
            os.mkdir(self.path("cut"))
            shutil.copy(self.path("whole/sweep.json"), self.path("cut/sweep.json"))
            cli.put(self.path("cut/part_0.csv"), part[:kept])
            done = self.sweep("cut", *arguments)
            self.assertEqual(done["here"], 6 - part[:kept].count("\n"))
            self.assertEqual(text(self.path("cut")), text(self.path("whole")))
        self.assertEqual(self.sweep("whole", *arguments)["here"], 0)

    def test_mpirun(self):
        mpirun = shutil.which("mpirun")
        if not mpirun:
            self.skipTest("there is no mpirun")
        self.sweep("one", "--random", 12)
        command = [mpirun, "--allow-run-as-root", "--oversubscribe", "-n", "4", cli.BIN, "sweep",
                   self.task, "--random", "12", "--out", self.path("four")]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(text(self.path("four")), text(self.path("one")))

    def test_cost(self):
        """scripts/bench_sweep.py: its table, and that tables of more ranks are compared."""
        if not shutil.which("mpirun"):
            self.skipTest("there is no mpirun")
        script = os.path.join(cli.SOURCE, "scripts/bench_sweep.py")
        out = subprocess.run(
            [sys.executable, script, "--task", self.path("task.json"), "--samples", "8", "--ranks",
             "1,2", "--runs", "1", "--out", self.path("cost")], check=True, text=True,
            stdout=subprocess.PIPE).stdout
        lines = out.splitlines()
        self.assertIn("task.json, 8 samples;", lines[0])
        ranks = [line.split() for line in lines[3:5]]
        self.assertEqual([row[0] for row in ranks], ["1", "2"])
        self.assertTrue(all(float(x) >= 0 for row in ranks for x in row[1:]))
        self.assertEqual(lines[5], "tables: the same to the bit")
        self.assertIn("1000000 samples on 1000 cores", lines[6])
        self.assertFalse(os.path.exists(self.path("cost")))

    def test_refused(self):
        out = ["--out", self.path("o")]
        rows_of = {"no_column.csv": ("qvel0[3]\n1\n", ["qvel0[3]", "qvel0[0]"]),
                   "twice.csv": ("qvel0[0],qvel0[0]\n1,2\n", ["qvel0[0]", "twice"]),
                   "few.csv": ("qvel0[0],qvel0[6]\n1\n", ["line 2", "too few"]),
                   "many.csv": ("qvel0[0]\n1\n1,2\n", ["line 3", "too many"]),
                   "text.csv": ("qvel0[0]\nx\n", ["line 2", "'x'"]),
                   "nan.csv": ("qvel0[0]\nnan\n", ["line 2", "'nan'"]),
                   "empty.csv": ("", ["empty"]),
                   "none.csv": ("qvel0[0]\n", ["no samples"]),
                   "number.json": ("[{}, 3]", ["[1]"]),
                   "object.json": ("{}", ["list"]),
                   "broken.json": ("[{", ["broken.json"])}
        for name, (content, names) in rows_of.items():
            with self.subTest(name):
                self.refused("sweep", self.task, *out, "--samples", self.write(name, content),
                             names=[name, *names])
        self.refused("sweep", self.task, *out, "--samples", self.path("missing.csv"),
                     names=["missing.csv"])
        self.refused("sweep", self.task, *out, names=["--samples", "--random"])
        self.refused("sweep", self.task, "--random", 3, names=["--out"])
        self.refused("sweep", self.task, *out, "--random", 0, names=["--random"])
        self.refused("sweep", self.task, *out, "--samples", self.write("a.csv", "qvel0[0]\n1\n"),
                     "--seed", 1, names=["--seed"])
        self.refused("sweep", self.task, "--random", 3, "--out", self.task, names=["task.json"])

    def test_other_sweep(self):
        self.sweep("o", "--random", 3)
        before = cli.tree(self.path("o"))
        other = self.write("other.json", {**TASK, "horizon": 21})
        for arguments in ([self.task, "--random", 4], [self.task, "--random", 3, "--seed", 1],
                          [self.task, "--random", 3, "--check"], [other, "--random", 3],
                          [self.task, "--random", 3, "--timestep", "0.004"]):
            with self.subTest(arguments=arguments):
                self.refused("sweep", *arguments, "--out", self.path("o"), names=["sweep.json"])
        self.write("s.json", {**cli.SCENE, "name": "other"})
        self.refused("sweep", self.task, "--random", 3, "--out", self.path("o"),
                     names=["sweep.json"])
        self.assertEqual(cli.tree(self.path("o")), before)


if __name__ == "__main__":
    unittest.main()
