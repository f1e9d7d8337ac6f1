#!/usr/bin/env python3
"""Implicit surfaces as given for geoms of .json scenes: `sharpness` and `shape`, their parameters
and gradients, what is refused, what `inspect` says of them."""
import json
import math
import unittest

from common import cli

AXES = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
POSE = [0.01, -0.02, 0.015, 0.9, 0.3, -0.2, 0.1]
SHAPES = {
    "truncated_cone": {"Rb": 0.1, "Rt": 0.06, "a": 0.05, "b": 0.07, "beta": 12},
    "superellipsoid": {"size": [0.1, 0.08, 0.06], "n": 2.5},
    "superelliptic_cylinder": {"R": 0.07, "h": 0.09, "n": 3},
    "smooth_capsule": {"r": 0.06, "h": 0.05, "beta": 9},
    "smooth_polytope": {"A": AXES, "b": [0.1, 0.09, 0.08, 0.085, 0.07, 0.075], "L": 0.1,
                        "beta": 15},
}
VERTICES = [[0.1, 0.02, 0], [-0.09, 0.03, 0.01], [0, 0.1, -0.02], [0.01, -0.1, 0], [0.02, 0, 0.09],
            [0, 0.01, -0.08], [0.06, 0.06, 0.05], [-0.05, -0.06, 0.05]]


def shape(family, **change):
    out = {"shape": family, **SHAPES[family], **change}
    return {key: value for key, value in out.items() if value is not None}


class Surfaces(cli.Case):
    def scene(self, a, b, **option):
        """Two free bodies that overlap."""
        bodies, geoms = [{"name": "world"}], []
        for name, geom, x in (("A", a, 0), ("B", b, 0.14)):
            bodies.append({"name": name, "pos": [x, 0.25 * x, 0.15 * x],
                           "quat": [0.9, 0.3 - 5 * x / 6, 0.2, 0.1 + x], "mass": 1,
                           "inertia": [0.003, 0.004, 0.005]})
            geoms.append({"name": "g" + name, "body": name, "type": "box",
                          "size": [0.08, 0.07, 0.06], "pos": [0.01, 0.005, -0.01],
                          "quat": [0.9, 0.1, 0.3, -0.2], **geom})
        for g in geoms:
            if g["type"] == "mesh":
                del g["size"]
        return self.write("s.json", {
            "dijoco_model": 1, "name": "pair",
            "option": {"timestep": 0.002, "gravity": [0, 0, 0], "contact": "implicit_surface",
                       **option},
            "bodies": bodies, "geoms": geoms, "meshes": [{"name": "m", "vert": VERTICES}],
            "joints": [{"body": name, "type": "free", "name": name} for name in "AB"]})

    def check(self, scene, names):
        task = {"scene": scene, "horizon": 5,
                "initial": {"qvel": [1.5, .3, .2, .5, 1, 2, -1.5, -.3, -.2, 1, .5, -2]},
                "loss": [{"type": "position", "body": "A", "target": [0.1, 0.2, 0.3]},
                         {"type": "orientation", "body": "A", "target": [1, 0, 0, 0]}],
                "variables": [{"name": name} for name in names]}
        r = self.run_json("grad", self.write("t.json", task), "--check")
        for block in r["certificate"]:
            self.assertTrue(block["passed"], block)
        for v in r["variables"]:
            self.assertGreater(max(map(abs, v["gradient"])), 0, v)
        return {v["name"]: v for v in r["variables"]}

    def test_gradients(self):
        """By sharpness, numbers and frames of every family, given and by the geom's type."""
        mesh = {"type": "mesh", "mesh": "m"}
        own = {"shape": "smooth_polytope", "L": 0.05, "beta": 15}
        pairs = [({"shape": shape("truncated_cone", pose=POSE)},
                  {"shape": shape("superellipsoid")}),
                 ({"shape": shape("superelliptic_cylinder")},
                  {"shape": shape("smooth_polytope", pose=POSE)}),
                 ({**mesh, "shape": own},
                  {"type": "sphere", "size": [0.08, 0, 0], "sharpness": 1.5}),
                 ({**mesh, "shape": shape("smooth_capsule")}, {**mesh, "sharpness": 20})]
        for a, b in pairs:
            names = []
            for name, geom in (("gA", a), ("gB", b)):
                fields = ["pos", "sharpness"] + ["quat"] * (geom.get("type") != "sphere")
                names += ["geom/%s/%s" % (name, field) for field in fields]
                if "shape" in geom:
                    names.append("geom/%s/surface" % name)
            if a.get("shape") == own:
                names.append("mesh/m/vert")
            found = self.check(self.scene(a, b), names)
            for name, geom in (("gA", a), ("gB", b)):
                s = geom.get("shape", {})
                sharp = geom.get("sharpness", s.get("n", s.get("beta")))
                self.assertEqual(found["geom/%s/sharpness" % name]["value"], [sharp])
        self.assertEqual(found["geom/gA/surface"]["value"], [0.06, 0.05])

    def test_set(self):
        """A parameter set is the same as one given; a plain geom's sharpness follows its rule."""
        small = self.scene({"shape": shape("truncated_cone")}, {})
        r = self.run_json("simulate", small, "--time", 0.05)
        small = self.scene({"shape": shape("truncated_cone", Rb=0.11, beta=14)}, {"sharpness": 9})
        given = self.run_json("simulate", small, "--time", 0.05)
        large = self.scene({"shape": shape("truncated_cone")}, {})
        sets = self.run_json("simulate", large, "--time", 0.05, "--set",
                             "geom/gA/surface=0.11,0.06,0.05,0.07", "--set", "geom/gA/sharpness=14",
                             "--set", "geom/gB/sharpness=9")
        self.assertEqual(given["energy_last"], sets["energy_last"])
        self.assertNotEqual(given["energy_last"], r["energy_last"])
        # and so after the model was written and read
        self.run_json("convert", large, "--set", "geom/gA/surface=0.11,0.06,0.05,0.07", "--set",
                      "geom/gA/sharpness=14", "--set", "geom/gB/sharpness=9", "--out",
                      self.path("w.json"))
        again = self.run_json("simulate", self.path("w.json"), "--time", 0.05)
        self.assertEqual(again["energy_last"], given["energy_last"])

    def test_round_trip(self):
        for family in SHAPES:
            scene = self.scene({"shape": shape(family, pose=POSE)}, {"sharpness": 3.25})
            self.run_json("convert", scene, "--out", self.path("a.json"))
            first = cli.read(self.path("a.json"))
            self.run_json("convert", self.path("a.json"), "--out", self.path("b.json"))
            with open(self.path("b.json")) as f:
                self.assertEqual(f.read(), first)
            geom = json.loads(first)["geoms"][0]["shape"]
            self.assertEqual({k: v for k, v in geom.items() if k != "pose"}, shape(family))
            norm = math.hypot(*POSE[3:])
            for x, y in zip(geom["pose"], POSE[:3] + [q / norm for q in POSE[3:]]):
                self.assertAlmostEqual(x, y, places=14)
            self.assertEqual(json.loads(first)["geoms"][1]["sharpness"], 3.25)

    def test_only_there(self):
        """Other kernels go on with the geom as it is."""
        plain = self.scene({}, {}, contact="separating_plane")
        r = self.run_json("simulate", plain, "--time", 0.05)
        given = self.scene({"shape": shape("truncated_cone")}, {"sharpness": 2},
                           contact="separating_plane")
        other = self.run_json("simulate", given, "--time", 0.05)
        for key in ("energy_last", "smallest_gap", "deepest_overlap"):
            self.assertEqual(r[key], other[key])

    def test_bad(self):
        cube = shape("smooth_polytope")
        cases = [({"sharpness": 0.5}, ["sharpness"]), ({"sharpness": -2}, ["sharpness"]),
                 ({"shape": shape("superellipsoid", n=0.9)}, ["n = 0.9"]),
                 ({"shape": shape("truncated_cone", beta=0)}, ["beta = 0"]),
                 ({"shape": shape("truncated_cone", Rt=0)}, ["Rt = 0"]),
                 ({"shape": shape("truncated_cone", Rt=-1)}, ["Rt = -1"]),
                 ({"shape": shape("truncated_cone", Rt=None)}, ["Rt"]),
                 ({"shape": shape("superellipsoid", size=[1, 1])}, ["size"]),
                 ({"shape": {"shape": "ball"}}, ["ball"]), ({"shape": "ball"}, ["shape"]),
                 ({"shape": {**cube, "b": [1, 1, 1, 1, 1, 0]}}, ["b[5]"]),
                 ({"shape": {**cube, "b": [1, 1, 1, 1, 1, -1]}}, ["b[5]"]),
                 ({"shape": {**cube, "b": [1] * 5}}, ["b"]),
                 ({"shape": {**cube, "A": AXES[:5], "b": [1] * 5}}, ["do not bound"]),
                 ({"shape": {**cube, "A": [], "b": []}}, ["A"]),
                 ({"shape": {"shape": "smooth_polytope", "L": 1, "beta": 20}}, ["meshes"]),
                 ({"shape": {**cube, "beta": 1}}, ["origin"]),
                 ({"shape": {**cube, "edge": 1}}, ["edge"]), ({"sharpness": 1e300}, ["at most"]),
                 ({"shape": shape("superellipsoid", size=[1e-300] * 3)}, ["too small"]),
                 ({"shape": shape("superellipsoid", size=[1, 1, 1e-12])}, ["too far apart"]),
                 ({"shape": shape("superellipsoid", size=[1, 1, 1e300])}, ["larger than 1e20"]),
                 ({"shape": shape("superellipsoid", n=1e300)}, ["larger than 1e20"]),
                 ({"shape": cube, "sharpness": 3}, ["twice"]),
                 ({"shape": shape("superellipsoid", pose=[0] * 7)}, ["pose"]),
                 ({"type": "plane", "size": [0, 0, 1], "shape": cube, "body": "world"}, ["planes"])]
        for contact in ("implicit_surface", "separating_plane"):
            for geom, names in cases:
                scene = self.scene(geom, {}, contact=contact)
                self.refused("simulate", scene, "--time", 0.01, names=["gA", *names])
        scene = self.scene({"shape": shape("truncated_cone")}, {})
        for text, names in (("geom/gA/surface=0.1,-1,1,1", ["gA", "Rt = -1"]),
                            ("geom/gA/surface=0.1", ["surface"]),
                            ("geom/gB/surface=1", ["no shape"]),
                            ("geom/gB/sharpness=0.5", ["gB", "at least 1"])):
            self.refused("simulate", scene, "--time", 0.01, "--set", text, names=names)

    def test_failure_by_type(self):
        """A surface that fits a geom but cannot be made is an error that names it."""
        scene = self.scene({"type": "mesh", "mesh": "m", "sharpness": 1}, {})
        self.refused("simulate", scene, "--time", 0.01, names=["gA", "origin is not inside"])

    def test_inspect(self):
        """How far a surface lies from the geom: closed forms of corners and rims."""
        half = [0.08, 0.07, 0.06]
        scene = self.scene({"type": "sphere", "size": [0.05, 0, 0]}, {"sharpness": 8})
        r = self.run_json("inspect", scene)
        self.assertEqual(r["state"], "approximated")
        self.assertEqual([f["element"] for f in r["features"]], ["geom/gB"])
        f = r["features"][0]
        self.assertEqual((f["feature"], f["state"], f["family"], f["sharpness"]),
                         ("surface", "approximated", "superellipsoid", 8))
        self.assertEqual(f["outside"], 0)
        # the corner's nearest point is at most as far as the one towards the origin
        most = math.hypot(*half) * (1 - 3 ** (-1 / 16))
        self.assertLess(f["inside"], most)
        self.assertGreater(f["inside"], 0.9 * most)
        ball = self.scene({"type": "sphere", "size": [0.05, 0, 0],
                           "shape": shape("superellipsoid", size=[0.06, 0.05, 0.03], n=1)},
                          {"type": "sphere", "size": [0.05, 0, 0]})
        f, = self.run_json("inspect", ball)["features"]
        self.assertAlmostEqual(f["outside"], 0.01, places=8)
        self.assertAlmostEqual(f["inside"], 0.02, places=8)
        code, text, _ = self.run_cli("inspect", ball)
        self.assertEqual(code, 0)
        self.assertIn("given", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 100)
        self.assertEqual(self.run_json("inspect", ball, "--contact", "separating_plane")["state"],
                         "exact")


if __name__ == "__main__":
    unittest.main()
