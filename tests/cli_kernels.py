#!/usr/bin/env python3
"""Contact models of single pairs by the command: queries of any model, inspect, convert. Runs a
command with the kernels of tests/kernels."""
import json
import os
import unittest

from common import cli

cli.BIN = os.path.join(os.environ["DIJOCO_BUILD"], "bin/tests/dijoco_kernels")
QUERY = {"model": "spring", "params": {"stiffness": 1000, "damping": 5},
         "a": {"geom": "sphere", "size": [0.1], "pose": [0, 0, 0.09, 1, 0, 0, 0]},
         "b": {"geom": "plane", "pose": [0, 0, 0, 1, 0, 0, 0]}}


def scene(**keys):
    """The scene of cli.py with a ball for its box, whose geom has more keys."""
    text = json.loads(json.dumps(cli.SCENE))
    text["geoms"][1] = dict({"name": "ball", "body": "box", "type": "sphere",
                             "size": [0.1, 0, 0]}, **keys)
    return text


class Kernels(cli.Case):
    def ask(self, status=0, **change):
        code, out, err = self.run_cli("contact", "-", stdin=json.dumps(dict(QUERY, **change)))
        self.assertEqual(code, status, err)
        return json.loads(out)

    def test_query(self):
        """Wrenches without an energy, by velocities too, whichever shape comes first."""
        still = self.ask()
        self.assertEqual(still["value"], 0)
        self.assertAlmostEqual(still["gap"], -0.01)
        self.assertAlmostEqual(still["twist_gradient"][5], -10)
        self.assertAlmostEqual(still["twist_gradient"][11], 10)
        moving = self.ask(twist_a=[0, 0, 0, 0, 0, -2])
        self.assertAlmostEqual(moving["twist_gradient"][5], -10 - 0.01 * 5 * 2)
        self.assertAlmostEqual(moving["twist_jac"][5][5], 0.01 * 5)
        self.assertAlmostEqual(moving["twist_jac"][5][11], -0.01 * 5)
        turned = self.ask(a=QUERY["b"], b=QUERY["a"], twist_b=[0, 0, 0, 0, 0, -2], hessian=True)
        self.assertAlmostEqual(turned["twist_gradient"][11], moving["twist_gradient"][5])
        self.assertAlmostEqual(turned["twist_jac"][11][11], 0.01 * 5)
        self.assertAlmostEqual(turned["twist_hessian"][11][11], 1000 + 5 * 2)
        apart = self.ask(a=dict(QUERY["a"], pose=[0, 0, 0.2, 1, 0, 0, 0]))
        self.assertEqual(apart["twist_gradient"], [0] * 12)

    def test_rules(self):
        """Settings that are not given follow the rules, with a weight of 1 N."""
        self.assertAlmostEqual(self.ask(params={})["twist_gradient"][5], -0.01 * 100 / 0.1)

    def test_slides(self):
        sliding = self.ask(params={"viscosity": 4}, twist_a=[0, 0, 0, 3, 0, 0],
                           friction={"coefficient": 0.5, "dt": 0.01})
        self.assertAlmostEqual(sliding["twist_gradient"][3], 0.5 * 4 * 0.01 * 3)

    def test_energy(self):
        ball = dict(QUERY["a"], pose=[0, 0, 1, 1, 0, 0, 0])
        out = self.ask(model="charge", params={"charge": 2}, b=ball,
                       a=dict(ball, pose=[0, 0, 0, 1, 0, 0, 0]))
        self.assertEqual(out["value"], 2)
        self.assertNotIn("twist_jac", out)
        self.assertAlmostEqual(out["twist_gradient"][11], -2)

    def test_refused(self):
        for change, text in (
                ({"model": "sprung"}, "unknown model 'sprung'"),
                ({"params": {"dumping": 1}}, "params.dumping: unknown key"),
                ({"params": {"damping": -1}}, "damping must not be negative"),
                ({"twist_a": [1, 2]}, "twist_a"),
                ({"model": "charge", "params": {}}, "charge: a and b are of types"),
                ({"model": "penalty", "params": {}}, "params.kn: missing")):
            self.assertIn(text, self.ask(status=2, **change)["message"])

    def test_inspect(self):
        path = self.path("scene.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(scene(contact="spring", stiffness=7, friction_arms="paper"), file)
        _, out, _ = self.run_cli("inspect", path)
        self.assertIn("contact of geom 'ball': spring stiffness 7 N/m friction_arms paper", out)
        self.assertIn("spring: stiffness", out)
        _, out, _ = self.run_cli("inspect", path, "--json")
        settings = json.loads(out)["settings"]
        self.assertEqual(settings["own"], [{"geom": "ball", "id": 1, "contact": "spring",
                                            "stiffness": 7, "friction_arms": "paper"}])
        self.assertEqual(settings["spring"]["viscosity"], 1)
        copy = self.path("copy.json")
        code, _, err = self.run_cli("convert", path, "--out", copy)
        self.assertEqual(code, 0, err)
        with open(copy, encoding="utf-8") as file:
            ball = json.load(file)["geoms"][1]
        self.assertEqual((ball["contact"], ball["stiffness"], ball["friction_arms"]),
                         ("spring", 7, "paper"))

    def test_restitution(self):
        path = self.path("scene.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(scene(restitution=0.5, solref_restitution=0.25), file)
        _, out, _ = self.run_cli("inspect", path, "--restitution", "given")
        self.assertIn("contact of geom 'ball': restitution 0.5\n", out)
        _, out, _ = self.run_cli("inspect", path, "--json")
        settings = json.loads(out)["settings"]
        self.assertEqual(settings["restitution"], "solref")
        self.assertEqual(settings["own"], [{"geom": "ball", "id": 1, "restitution": 0.25}])


if __name__ == "__main__":
    unittest.main()
