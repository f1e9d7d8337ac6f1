#!/usr/bin/env python3
"""`grad --check`: whether a gradient, exact or not, leads over steps of a useful size."""
import copy
import unittest

from common import cli

# A ball that moves up and down alone, and bounces for two seconds.
SCENE = {
    "dijoco_model": 1, "option": {"timestep": 0.002},
    "bodies": [{"name": "world"},
               {"name": "ball", "pos": [0, 0, 1], "mass": 1, "inertia": [0.001, 0.001, 0.001]}],
    "joints": [{"name": "z", "type": "slide", "axis": [0, 0, 1], "body": "ball"}],
    "geoms": [{"name": "floor", "type": "plane", "body": "world", "size": [0, 0, 1]},
              {"name": "ball", "type": "sphere", "body": "ball", "size": [0.05, 0, 0],
               "restitution": 0.9}]}
BOUNCE = {"scene": "s.json", "horizon": 1000, "initial": {"qvel": [0]},
          "loss": [{"type": "position", "body": "ball", "target": [0, 0, 1], "index": [2]}],
          "variables": [{"name": "qpos0"}, {"name": "qvel0"}, {"name": "geom/ball/restitution"}]}
STEPS = [1e-3, 1e-2, 5e-2]


def leads(slope, gradient):
    return 0.5 <= slope / gradient <= 2


class Lead(cli.Case):
    def setUp(self):
        super().setUp()
        self.write("s.json", SCENE)

    def lines(self, *arguments):
        code, text, err = self.run_cli("grad", *arguments, "--check")
        self.assertEqual((code, err), (0, ""))
        self.assertLessEqual(max(map(len, text.splitlines())), 100)
        self.assertNotIn("guide", text)
        return text.splitlines()

    def test_leads(self):
        """A fall without a floor in reach, by all that varies."""
        task = {**BOUNCE, "horizon": 150, "variables": BOUNCE["variables"][:2]}
        path = self.write("t.json", task)
        for c in self.run_json("grad", path, "--check")["certificate"]:
            self.assertIs(c["leads"], True, c)
            self.assertEqual([step for step, _ in c["secants"]], STEPS)
            self.assertEqual((c["secant_sides"], c["scale"]), ([2, 2, 2], 1))
            for (_, slope), gradient in zip(c["secants"], c["secant_gradients"]):
                self.assertAlmostEqual(slope / c["analytic"], 1, delta=1e-6)
                self.assertAlmostEqual(gradient / c["analytic"], 1, delta=1e-9)
        self.assertEqual(self.lines(path)[-2:], ["qpos0: leads", "qvel0: leads"])

    def test_does_not_lead(self):
        """Exact gradients of a run with some impacts: by its start they lead, by the restitution not
        far, though the certificate passes and the spread is small."""
        path = self.write("t.json", BOUNCE)
        found = self.run_json("grad", path, "--check")["certificate"]
        at = {}
        for c in found:
            self.assertTrue(c["passed"], c)
            bad = [(step, slope) for step, slope in c["secants"]
                   if abs(c["analytic"]) > 1e-6 and not leads(slope, c["analytic"])]
            self.assertIs(c["leads"], not bad, c)
            at[c["name"]] = bad[0] if bad else None
            if bad:
                self.assertLess(c["spread"], 1e-2)
        self.assertIsNone(at["qpos0"])
        self.assertIsNone(at["qvel0"])
        self.assertEqual(at["geom/ball/restitution"][0], 5e-2)
        lines = self.lines(path)
        for c, line in zip(found, lines[-len(found):]):
            if at[c["name"]]:
                step, slope = at[c["name"]]
                self.assertEqual(line, "%s: does not lead at %s: slope %.2g, gradient %.2g" % (
                    c["name"], {1e-3: "1e-3", 1e-2: "1e-2", 5e-2: "5e-2"}[step], slope,
                    c["analytic"]))
        self.assertEqual(lines[-2], "qvel0: leads")

    def test_slopes_are_those_of_runs(self):
        c = self.run_json("grad", self.write("t.json", BOUNCE), "--check")["certificate"][1]
        gradient = self.run_json("grad", self.path("t.json"))["variables"][1]["gradient"][0]
        for step, slope in c["secants"]:
            loss = []
            for sign in (1, -1):
                task = copy.deepcopy(BOUNCE)
                task["initial"]["qvel"] = [sign * step]
                loss.append(self.run_json("grad", self.write("m.json", task))["loss"])
            expected = (loss[0] - loss[1]) / (2 * step) * c["analytic"] / gradient
            self.assertAlmostEqual(slope, expected, delta=1e-6 * abs(expected))

    def test_bounds(self):
        """Steps end at them, and scales come of them."""
        task = {**BOUNCE, "horizon": 150,
                "variables": [{"name": "qvel0", "min": 0, "max": 4}, {"name": "qpos0", "max": 0}]}
        path = self.write("t.json", task)
        speed, place = self.run_json("grad", path, "--check")["certificate"]
        self.assertEqual((speed["scale"], speed["secant_sides"]), (2, [1, 1, 1]))
        self.assertEqual((place["scale"], place["secant_sides"]), (1, [1, 1, 1]))
        self.assertTrue(speed["leads"] and place["leads"])
        self.assertIn("*: of one side", "\n".join(self.lines(path)))

    def test_no_verdict(self):
        """Of a certificate that is not begun there are no slopes."""
        path = self.write("t.json", {**BOUNCE, "horizon": 150})
        g = self.run_json("grad", path, "--check-runs", "40", status=1)
        last = g["certificate"][-1]
        self.assertIn("not begun", last["gave_up"])
        self.assertEqual((last["leads"], last["scale"], last["secants"]), (None, None, []))
        text = self.run_cli("grad", path, "--check-runs", "40")[1]
        self.assertTrue(text.endswith(": no verdict: no slopes were taken\n"), text)

    def test_surrogate(self):
        """A guide in derivatives alone: slopes are of runs without it, where the loss is flat."""
        ball = {"mass": 0.5, "inertia": [0.002, 0.003, 0.004]}
        self.write("s.json", {
            "dijoco_model": 1, "option": {"timestep": 0.01, "gravity": [0, 0, 0]},
            "bodies": [{"name": "world"}, {"name": "hand", **ball},
                       {"name": "box", "pos": [0.3, 0, 0], **ball}],
            "joints": [{"type": "slide", "body": "hand", "axis": [1, 0, 0]},
                       {"type": "free", "body": "box"}],
            "geoms": [{"type": "sphere", "body": "hand", "size": [0.05, 0, 0]},
                      {"type": "box", "body": "box", "size": [0.05, 0.04, 0.03]}]})
        path = self.write("t.json", {
            "scene": "s.json", "horizon": 20,
            "contact": {"guide": 0.05, "guide_backward_only": True},
            "initial": {"qvel": [0.3] + 6 * [0]},
            "loss": [{"type": "position", "body": "box", "target": [0.5, 0.1, 0]}],
            "variables": [{"name": "qvel0", "index": [0]}]})
        c = self.run_json("grad", path, "--check")["certificate"][0]
        self.assertIs(c["surrogate"], True)
        self.assertIs(c["leads"], False)
        self.assertNotEqual(c["analytic"], 0)
        self.assertEqual([slope for _, slope in c["secants"]], [0, 0, 0])
        text = self.run_cli("grad", path, "--check")[1]
        self.assertIn("surrogate: these slopes are of runs, the gradients of other steps", text)
        self.assertIn("qvel0: does not lead at 1e-3: slope 0, gradient ", text)


if __name__ == "__main__":
    unittest.main()
