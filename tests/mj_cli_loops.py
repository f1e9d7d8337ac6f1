#!/usr/bin/env python3
"""Linkages closed by equality constraints: certificates, design, MuJoCo with what is written."""
import os
import unittest

from common import cli

TASK = os.path.join(os.environ["DIJOCO_SOURCE"], "models/four_bar/task.json")


class Loops(cli.Case):
    def certified(self, *options):
        found = self.run_json("grad", TASK, "--check", *options)
        self.assertEqual(found["unconverged_steps"], 0)
        for entry in found["certificate"]:
            self.assertTrue(entry["passed"], entry)
        return found["loss"]

    def test_certificates(self):
        soft = self.certified()
        hard = self.certified("--equality", "hard")
        self.assertAlmostEqual(hard, soft, delta=0.01 * soft)
        self.assertNotAlmostEqual(hard, soft, delta=1e-5 * soft)
        # open loops are 1e-4 m with the soft law, and the same curve by others
        for integrator in "position", "variational", "bdf2":
            other = self.certified("--equality", "hard", "--integrator", integrator)
            self.assertAlmostEqual(other, hard, delta=0.2 * hard)

    def test_design(self):
        final = self.run_json("optimize", TASK, "--out", self.path("out"))
        self.assertLess(final["loss_last"], 1e-5 * final["loss_first"])
        self.assertLess(final["iterations"], 15)
        self.assertLess(final["replay"]["position"]["max"], 1e-5)
        final = self.run_json("optimize", TASK, "--out", self.path("hard"), "--equality", "hard")
        self.assertLess(final["loss_last"], 1e-5 * final["loss_first"])

    def test_refused(self):
        self.refused("grad", TASK, "--equality", "hard", "--integrator", "midpoint",
                     names=["equality 'loop'", "midpoint"])
        self.refused("grad", TASK, "--equality", "firm", names=["equality"])


if __name__ == "__main__":
    unittest.main()
