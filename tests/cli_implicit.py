#!/usr/bin/env python3
"""Implicit surfaces by the command: queries of their contact, and the kernel's runs and gradients."""
import itertools
import math
import unittest

from common import cli

BALL = {"shape": "superellipsoid", "size": [1, 1, 1], "n": 1}
CUBE = {"shape": "smooth_polytope", "L": 1, "beta": 20, "b": [1] * 6,
        "A": [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]}
CONE = {"shape": "truncated_cone", "Rb": 1, "Rt": 0.5, "a": 0.6, "b": 0.4, "beta": 20}
DRUM = {"shape": "superelliptic_cylinder", "R": 0.5, "h": 1, "n": 8}
TILTED = [1.5, 0.4, 0.3, 0.9, 0.3, 0.2, 0.1]

GEOMS = {
    "sphere": {"type": "sphere", "size": [0.1, 0, 0]},
    "box": {"type": "box", "size": [0.1, 0.08, 0.06]},
    "capsule": {"type": "capsule", "size": [0.06, 0.08, 0]},
    "ellipsoid": {"type": "ellipsoid", "size": [0.12, 0.09, 0.07]},
    "mesh": {"type": "mesh", "mesh": "m"},
}
VERTICES = [[0.1, 0.02, 0], [-0.09, 0.03, 0.01], [0, 0.1, -0.02], [0.01, -0.1, 0], [0.02, 0, 0.09],
            [0, 0.01, -0.08], [0.06, 0.06, 0.05], [-0.05, -0.06, 0.05]]


def changed(base, **change):
    out = {**base, **change}
    return {key: value for key, value in out.items() if value is not None}


class Queries(cli.Case):
    def ask(self, a, b, status=0, **more):
        query = {"model": "implicit_surface", "a": a, "b": {"pose": TILTED, **b}, **more}
        return self.run_json("contact", self.write("q.json", query), status=status)

    def test_spheres(self):
        """Closed forms: alpha = D/(r + R), and what follows."""
        r = self.ask(BALL, changed(BALL, size=[2, 2, 2], pose=[0, 0, 4, 1, 0, 0, 0]),
                     derivatives=True, sizes=True)
        self.assertAlmostEqual(r["alpha"], 4 / 3, places=12)
        self.assertAlmostEqual(r["gap"], 1, places=12)
        for got, want in ((r["x"], [0, 0, 4 / 3]), (r["normal"], [0, 0, 1]),
                          (r["point_b"], [0, 0, 2])):
            for x, y in zip(got, want):
                self.assertAlmostEqual(x, y, places=11)
        self.assertAlmostEqual(r["dalpha"][11], 1 / 3, places=11)
        self.assertAlmostEqual(sum(r["sizes_b"]["gap"][:3]), -1, places=11)
        self.assertEqual(len(r["dx"]), 3)
        self.assertEqual(len(r["dx"][0]), 12)
        self.assertGreater(r["condition"], 1)

    def test_pairs(self):
        for a, b in itertools.product((BALL, CUBE, CONE, DRUM), repeat=2):
            r = self.ask(a, b)
            self.assertEqual(r["status"], "ok")
            self.assertTrue(min(r["multipliers"]) > 0)
            back = self.ask({"pose": TILTED, **b}, changed(a, pose=[0, 0, 0, 1, 0, 0, 0]))
            self.assertAlmostEqual(r["alpha"], back["alpha"], places=10)

    def test_coincident(self):
        r = self.ask(CUBE, changed(DRUM, pose=[0, 0, 0, 1, 0, 0, 0]), derivatives=True)
        self.assertTrue(r["degenerate"])
        self.assertEqual(r["alpha"], 0)
        self.assertLess(r["gap"], -1)

    def test_plane(self):
        """Heights by the support function; the plane may be first; below it alpha is negative."""
        plane, egg = {"geom": "plane"}, changed(BALL, size=[1, 2, 3])
        for z in (5, 1, -1):
            r = self.ask(plane, changed(egg, pose=[0.3, 0.4, z, 1, 0, 0, 0]), derivatives=True,
                         sizes=True, distance=True)
            self.assertEqual(r["status"], "ok")
            self.assertAlmostEqual(r["alpha"], z / 3, places=12)
            for name in ("gap", "distance"):
                self.assertAlmostEqual(r[name], z - 3, places=11)
            self.assertAlmostEqual(r["dgap"][11], 1, places=12)
            self.assertEqual(r["sizes_a"]["gap"], [])
            self.assertAlmostEqual(r["sizes_b"]["gap"][2], -1, places=11)
            for got, want in zip(r["normal"] + r["x"], [0, 0, 1, 0.3, 0.4, 0]):
                self.assertAlmostEqual(got, want, places=11)
        self.assertIn("both are planes", self.ask(plane, {"geom": "plane"}, status=2)["message"])
        self.assertIn("a.geom", self.ask({"geom": "box"}, BALL, status=2)["message"])

    def test_distance(self):
        """Differs from the gap but for balls; of its sign; derivatives on request."""
        tilted = changed(CUBE, pose=[3, 1.5, 1, 0.9, 0.3, 0.2, 0.1])
        r = self.ask(CUBE, tilted, distance=True, sizes=True)
        self.assertEqual(r["distance_status"], "ok")
        self.assertTrue(0 < r["distance"] < r["gap"])
        a, b = r["points"]
        for k in range(3):
            self.assertAlmostEqual(b[k] - a[k], r["distance"] * r["direction"][k], places=9)
        self.assertNotIn("ddistance", r)
        self.assertEqual(len(r["sizes_a"]["distance"]), 26)
        r = self.ask(BALL, changed(BALL, pose=[0, 0, 1.5, 1, 0, 0, 0]), distance=True,
                     derivatives=True)
        self.assertAlmostEqual(r["distance"], -0.5, places=11)
        self.assertAlmostEqual(r["ddistance"][11], 1, places=11)
        self.assertEqual(len(r["dpoints"]), 6)

    def test_energy_angle(self):
        """Where balls and planes touch the force of energies is along the normal; elsewhere it is
        off by the angle between the gap's gradient and that, which goes to 0 with the overlap."""
        self.assertLess(self.ask(BALL, BALL)["energy_angle"], 1e-12)
        self.assertLess(self.ask({"geom": "plane"}, CONE)["energy_angle"], 1e-12)
        angles = []
        for scale in (0.5, 0.75, 0.9, 0.99):
            r = self.ask(CUBE, CONE, derivatives=True)
            pose = [x * scale / r["alpha"] for x in TILTED[:3]] + TILTED[3:]
            r = self.ask(CUBE, changed(CONE, pose=pose), derivatives=True)
            self.assertAlmostEqual(r["alpha"], scale, places=9)
            g, n = r["dgap"][9:], r["normal"]
            dot = sum(x * y for x, y in zip(g, n)) / math.sqrt(sum(x * x for x in g))
            self.assertAlmostEqual(math.cos(r["energy_angle"]), dot, places=12)
            angles.append(r["energy_angle"])
        self.assertEqual(angles, sorted(angles, reverse=True))
        self.assertGreater(angles[0], 0.1)
        self.assertLess(angles[-1], 0.02)

    def test_bad(self):
        for shape, names in ((changed(BALL, n=0.5), ["n = 0.5"]), (changed(BALL, n=None), ["a.n"]),
                             (changed(BALL, size=[1, 1]), ["a.size"]),
                             (changed(BALL, shape="ball"), ["a.shape", "ball"]),
                             (changed(CONE, Rt=0), ["Rt = 0"]), (changed(CONE, edge=1), ["a.edge"]),
                             (changed(CUBE, b=[1, 1, 1, 1, 1, -1]), ["b[5] = -1"]),
                             (changed(CUBE, A=CUBE["A"][:5], b=[1] * 5), ["do not bound"]),
                             (changed(BALL, size=[1e-300] * 3), ["too small"]),
                             (changed(BALL, size=[1, 1, 1e-12]), ["too far apart"]),
                             (changed(BALL, size=[1, 1, 1e300]), ["larger than 1e20"]),
                             (changed(BALL, n=1e300), ["larger than 1e20"]),
                             (changed(DRUM, pose=[0, 0, 0, 0, 0, 0, 0]), ["a.pose"])):
            r = self.ask(shape, BALL, status=2)
            self.assertEqual(r["status"], "error")
            for name in names:
                self.assertIn(name, r["message"])


class Kernel(cli.Case):
    def scene(self, a, b, apart=0.19, **more):
        bodies, geoms = [{"name": "world"}], []
        for name, kind, x, friction in (("A", a, 0, 0.7), ("B", b, apart, 0.4)):
            bodies.append({"name": name, "pos": [x, 0.25 * x, 0.15 * x],
                           "quat": [0.9, 0.3 - 5 * x / 6, 0.2, 0.1 + x], "mass": 1,
                           "inertia": [0.003, 0.004, 0.005]})
            geoms.append({"name": "g" + name, "body": name, "friction": [friction, 0, 0],
                          **GEOMS[kind], **more})
        return self.write("%s_%s.json" % (a, b), {
            "dijoco_model": 1, "name": "pair",
            "option": {"timestep": 0.002, "gravity": [0, 0, 0], "contact": "implicit_surface"},
            "bodies": bodies, "geoms": geoms,
            "joints": [{"body": name, "type": "free", "name": name} for name in "AB"],
            "meshes": [{"name": "m", "vert": VERTICES}] if "mesh" in (a, b) else []})

    def test_gradients(self):
        """Certified by state, sizes, vertices, places and settings, 20 steps in contact."""
        for pair, integrator, contact, *given in (
                (("box", "ellipsoid"), "variational", {}),
                (("mesh", "sphere"), "position", {"damping": 2}),
                (("capsule", "box"), "variational", {"law": "paper", "damping": 1}),
                (("ellipsoid", "mesh"), "euler", {"law": "paper", "exponent": 2}, 0.18),
                (("sphere", "capsule"), "euler", {"law": "barrier", "damping": 0.5}),
                (("box", "sphere"), "position", {"law": "barrier"}),
                (("ellipsoid", "mesh"), "euler", {"law": "barrier", "damping": 0.5}, 0.14)):
            barrier = contact.get("law") == "barrier"   # and the last one recovers
            mine = "contact/implicit_surface/"
            names = ["qpos0", "qvel0", mine + "stiffness", mine + "damping", "geom/gA/friction"]
            names += [mine + ("support" if barrier else "exponent")]
            for body, kind in zip("AB", pair):
                names += ["geom/g%s/pos" % body, "geom/g%s/quat" % body]
                names += ["mesh/m/vert"] if kind == "mesh" else ["geom/g%s/size" % body]
            apart = given[0] if given else 0.22 if barrier else 0.19
            task = {"scene": self.scene(*pair, apart=apart), "horizon": 20,
                    "integrator": integrator, "contact": dict(contact, model="implicit_surface"),
                    "initial": {"qvel": [1.5, .3, .2, .5, 1, 2, -1.5, -.3, -.2, 1, .5, -2]},
                    "loss": [{"type": "position", "body": "A", "target": [0.1, 0.2, 0.3]},
                             {"type": "orientation", "body": "A", "target": [1, 0, 0, 0]}],
                    "variables": [{"name": name} for name in names]}
            if not contact.get("damping"):   # which may not be negative
                task["variables"] = [v for v in task["variables"] if "damping" not in v["name"]]
            r = self.run_json("grad", self.write("t.json", task), "--check")
            self.assertEqual(r["unconverged_steps"], 0)
            for block in r["certificate"]:
                self.assertTrue(block["passed"], (pair, block))
            for v in r["variables"]:
                if v["name"].startswith(mine) or "friction" in v["name"]:
                    self.assertNotEqual(v["gradient"][0], 0, (pair, v["name"]))

    def lens(self, slope=0.0, height=0.1):
        """An ellipsoid on a plane that gravity is inclined to."""
        return self.write("b.json", {
            "dijoco_model": 1, "name": "lens",
            "option": {"timestep": 0.002, "contact": "implicit_surface",
                       "gravity": [9.81 * slope, 0, -9.81]},
            "bodies": [{"name": "world"},
                       {"name": "A", "pos": [0, 0, height], "mass": 1, "inertia": [0.01] * 3}],
            "geoms": [{"name": "floor", "body": "world", "type": "plane", "size": [1, 1, 1],
                       "friction": [0.5, 0, 0]},
                      {"name": "a", "body": "A", "type": "ellipsoid", "size": [0.4, 0.4, 0.1],
                       "friction": [0.5, 0, 0]}],
            "joints": [{"body": "A", "type": "free", "name": "A"}]})

    def end(self, scene, *args, time=1):
        out = self.path("run.csv")
        r = self.run_json("simulate", scene, "--time", time, "--out", out, *args)
        self.assertEqual(r["unconverged_steps"], 0)
        with open(out, encoding="utf-8") as f:
            lines = f.read().split()
        return r, dict(zip(lines[0].split(","), map(float, lines[-1].split(","))))

    def test_friction(self):
        """It holds on a slope of less than the coefficient, and slides on a steeper one."""
        for law in ("hertz", "paper", "barrier"):
            height = 0.102 if law == "barrier" else 0.1
            options = ["--law", law, "--damping", 5]
            r, held = self.end(self.lens(0.3, height), *options)
            self.assertLess(abs(held["qvel[0]"]), 0.05)
            r, slid = self.end(self.lens(0.8, height), *options)
            self.assertAlmostEqual(slid["qvel[0]"], 9.81 * (0.8 - 0.5), delta=0.2)
            self.assertEqual(r["smallest_gap"] > 0, law == "barrier")

    def test_damping(self):
        """The more it is damped the less it bounces; nothing pulls it."""
        speeds = []
        for damping in (0, 1, 100):
            r, end = self.end(self.lens(height=0.15), "--damping", damping, "--integrator",
                              "midpoint", "--timestep", 5e-4, time=0.14)
            speeds.append(end["qvel[2]"])
        self.assertAlmostEqual(speeds[0], 0.74, delta=0.02)   # that of its fall, less g t
        self.assertLess(speeds[1], speeds[0] - 0.2)
        self.assertLess(speeds[2], speeds[1])
        self.assertGreater(speeds[2], -0.35)

    def test_bad(self):
        scene = self.lens()
        self.refused("simulate", scene, "--law", "hooke", names=["--law", "hertz"])
        self.refused("simulate", scene, "--exponent", 0.5, names=["--exponent"])
        self.refused("simulate", self.scene("box", "sphere", 0.1), "--law", "barrier", "--time", 1,
                     "--overlap", "error", names=["gA", "gB", "overlap by"])
        self.refused("simulate", self.scene("sphere", "sphere", 0.19), "--law", "barrier",
                     "--time", 1, "--overlap", "error", names=["gA", "gB", "overlap by"])

    def test_recovery(self):
        """Under the barrier law what touches or overlaps at the start comes apart, and slowly."""
        for a, b, apart in (("sphere", "sphere", 0.19), ("box", "sphere", 0.1),
                            ("ellipsoid", "mesh", 0.05)):
            r, end = self.end(self.scene(a, b, apart), "--law", "barrier")
            self.assertGreater(r["recovering_steps"], 0)
            self.assertGreater(end["qpos[7]"] - end["qpos[0]"], 0.1)
            self.assertLess(max(abs(end["qvel[%d]" % k]) for k in range(12)), 3)

    def test_energy(self):
        """Two that meet come apart again with the energy that they had."""
        scene = self.scene("box", "ellipsoid", 0.3, friction=[0, 0, 0])
        velocity = self.write("v.txt", " ".join(
            map(str, [1.5, .3, .2, .5, 1, 2, -1.5, -.3, -.2, 1, .5, -2])))
        r = self.run_json("simulate", scene, "--time", 0.1, "--timestep", 1e-4, "--integrator",
                          "midpoint", "--qvel", velocity)
        self.assertEqual(r["unconverged_steps"], 0)
        self.assertLess(r["smallest_gap"], -1e-3)
        self.assertLess(abs(r["energy_last"] / r["energy_first"] - 1), 1e-4)

if __name__ == "__main__":
    unittest.main()
