#!/usr/bin/env python3
"""Contact by all vertices of a mesh: a vertex may sink into its hull, or come out of it."""
import unittest

from common import cli

BOX = [[x, y, z] for x in (-.1, .1) for y in (-.1, .1) for z in (-.1, .1)]


class Vertices(cli.Case):
    def task(self, rise, vertices="all", **keys):
        """A box of nine vertices comes to rest; the ninth is so far above its bottom face."""
        ninth = [0.03, 0.02, -0.1 + rise]
        scene = {
            "dijoco_model": 1, "name": "nine", "option": {"timestep": 0.005},
            "bodies": [{"name": "world"},
                       {"name": "box", "pos": [0, 0, 0.103], "mass": 1,
                        "inertia": [0.01, 0.01, 0.01]}],
            "joints": [{"name": "lift", "type": "slide", "body": "box", "axis": [0, 0, 1],
                        "damping": 20}],
            "meshes": [{"name": "nine", "vert": BOX + [ninth]}],
            "geoms": [{"name": "floor", "type": "plane", "body": "world", "size": [0, 0, 1]},
                      {"name": "cube", "type": "mesh", "mesh": "nine", "body": "box"}],
        }
        # settings that the shape does not move
        contact = {"vertices": vertices, "skin": 0, "support": 0.01, "stiffness": 3e-4,
                   "length_scale": 0.1, "friction_eps": 1e-4,
                   "overlap": "error"}
        return self.write("task.json", {
            "scene": self.write("scene.json", scene), "timestep": 0.005, "horizon": 100,
            "contact": contact, "loss": [{"type": "position", "body": "box", "index": [2],
                                          "target": [0], "norm": True}],
            "variables": [{"name": "mesh/nine/vert"}],
            "optimizer": {"type": "adam", "iterations": 1}, **keys})

    def rest(self, rise, vertices="all"):
        """Height at rest, and its derivative by the ninth vertex's height."""
        r = self.run_json("grad", self.task(rise, vertices))
        return r["loss"], r["variables"][0]["gradient"][26]

    def test_smooth(self):
        """Height and derivative go on where the vertex crosses the face."""
        h = 4e-6
        at = [self.rest(k * h) for k in range(-4, 5)]
        for k in range(1, 8):
            slope = (at[k + 1][0] - at[k - 1][0]) / (2 * h)
            self.assertAlmostEqual(slope, at[k][1], delta=1e-3 * abs(slope))
            self.assertLess(at[k][1], -1e-2)     # it carries
        near = [self.rest(e) for e in (-1e-9, 0, 1e-9)]
        self.assertLess(max(z for z, _ in near) - min(z for z, _ in near), 1e-9)
        self.assertLess(max(g for _, g in near) - min(g for _, g in near),
                        1e-4 * abs(near[0][1]))
        # by the hull alone it does not
        jump = [self.rest(e, "hull") for e in (-1e-6, 1e-6)]
        self.assertGreater(abs(jump[0][0] - jump[1][0]), 5e-6)
        self.assertEqual(jump[1][1], 0)

    def test_certified(self):
        for rise in (-1e-3, 0, 1e-4, 2e-3):
            r = self.run_json("grad", self.task(rise), "--check")
            self.assertTrue(all(c["passed"] for c in r["certificate"]), rise)

    def test_named(self):
        task = self.task(0, "some")
        self.refused("grad", task, names=["task.json", "vertices"])


if __name__ == "__main__":
    unittest.main()
