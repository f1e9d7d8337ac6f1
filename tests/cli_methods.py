#!/usr/bin/env python3
"""Trajectories of an integrator with a history: its columns, beside those of stock MuJoCo. Runs a
command with the integrators of tests/methods (in the place of bdf1: two steps)."""
import csv
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ["DIJOCO_SOURCE"], "tests/common"))
import cli  # noqa: E402

cli.BIN = os.path.join(os.environ["DIJOCO_BUILD"], "bin/tests/dijoco_methods")
SCENE = os.path.join(cli.SOURCE, "examples", "cartpole.json")
STATE = ["time", "qpos[0]", "qpos[1]", "qvel[0]", "qvel[1]"]
HISTORY = ["has_history"] + ["history[%d]" % i for i in range(4)]


class Methods(cli.Case):
    def rows(self, *arguments):
        """Header and numbers of what simulate writes."""
        out = self.path("states.csv")
        code, _, err = self.run_cli("simulate", SCENE, "--time", "0.1", "--ctrl-seed", "1",
                                    "--out", out, *arguments)
        self.assertEqual(code, 0, err)
        with open(out, encoding="utf-8") as f:
            header, *rows = csv.reader(f)
        return header, [[float(x) for x in row] for row in rows]

    def test_history(self):
        """The history is (displacement of the last step, velocity before it)."""
        header, rows = self.rows("--integrator", "bdf1")
        self.assertEqual(header, STATE + HISTORY)
        self.assertEqual(rows[0][5:], [0] * 5)
        self.assertGreater(len(rows), 5)
        for before, row in zip(rows, rows[1:]):
            self.assertEqual(row[5], 1)
            for i in range(2):
                self.assertAlmostEqual(row[6 + i], row[1 + i] - before[1 + i], delta=1e-15)
                self.assertEqual(row[8 + i], before[3 + i])
        self.assertNotEqual(rows[-1][6:8], [0, 0])

    def test_without(self):
        header, rows = self.rows("--integrator", "position")
        self.assertEqual(header, STATE)
        self.assertEqual({len(row) for row in rows}, {5})


class Stock(cli.Case):
    def test_compare(self):
        """Stock MuJoCo has no history."""
        scene = self.write("s.xml", "<mujoco><custom><text name='dijoco_integrator' data='bdf1'/>"
                           "</custom><worldbody><body><joint type='slide'/><geom size='.1'/></body>"
                           "</worldbody></mujoco>")
        folder = self.path("out")
        code, out, err = self.run_cli("compare", scene, "--time", "0.01", "--out", folder)
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


if __name__ == "__main__":
    unittest.main()
