#!/usr/bin/env python3
"""Implicit surfaces of MJCF's geoms: texts and numbers of <custom>, frames, designs written back,
and `convert --surface`, whose scene stock MuJoCo loads."""
import json
import re
import unittest

from common import cli

# A wedge, its mesh's file far from its centre of mass and turned against its principal axes.
WEDGE = [[.3, .1, .2], [.5, .12, .22], [.32, .25, .19], [.33, .14, .3], [.45, .2, .28]]
CENTRE = [sum(v[k] for v in WEDGE) / 5 for k in range(3)]
XML = """<mujoco>
  <option timestep="0.002"/>
  <custom>
    <text name="dijoco_contact" data="implicit_surface"/>
    %s
  </custom>
  <asset><mesh name="wedge" vertex="%s"/></asset>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="A" pos="0 0 0.2">
      <freejoint/>
      <geom name="drum" type="cylinder" size="0.06 0.08" pos="0.01 0 0" euler="10 20 30"/>
    </body>
    <body name="B" pos="0.1 0.02 0.25">
      <freejoint/>
      <geom name="brick" type="box" size="0.06 0.05 0.04"/>
      <geom name="bead" type="sphere" size="0.03" pos="0 0 0.06"/>
    </body>
    <body name="C" pos="-0.3 0 0.1" euler="0 30 0">
      <freejoint/><geom name="wedge" type="mesh" mesh="wedge" pos="-.38 -.16 -.24" euler="0 0 15"/>
    </body>
  </worldbody>
</mujoco>
"""
CONE = '<text name="dijoco_shape/drum" data="truncated_cone 0.07 0.05 0.06 0.08 15"/>'
AT_CENTRE = "pose %r %r %r 1 0 0 0" % tuple(CENTRE)
ELLIPSOID = ('<text name="dijoco_shape/wedge" data="superellipsoid 0.09 0.06 0.05 1.5 %s"/>'
             % AT_CENTRE)
OWN = '<text name="dijoco_shape/wedge" data="smooth_polytope 0.05 30"/>'
SHARP = '<numeric name="dijoco_sharpness/brick" data="6.5"/>'


class Surfaces(cli.Case):
    def scene(self, *custom):
        vertices = " ".join(" ".join(map(str, v)) for v in WEDGE)
        return self.write("s.xml", XML % ("".join(custom), vertices))

    def model(self, *custom):
        self.run_json("convert", self.scene(*custom), "--out", self.path("m.json"))
        with open(self.path("m.json")) as f:
            return {g["name"]: g for g in json.load(f)["geoms"]}

    def same_run(self, a, b, places):
        first, second = (self.run_json("simulate", s, "--time", 0.1, "--integrator", "position")
                         for s in (a, b))
        self.assertAlmostEqual(first["energy_last"], second["energy_last"], places=places)
        self.assertLess(first["smallest_gap"], 0)

    def test_texts(self):
        geoms = self.model(CONE, ELLIPSOID, SHARP)
        self.assertEqual(geoms["drum"]["shape"], {"shape": "truncated_cone", "Rb": 0.07, "Rt": 0.05,
                                                  "a": 0.06, "b": 0.08, "beta": 15})
        self.assertEqual(geoms["brick"]["sharpness"], 6.5)
        # The frame is that of the mesh's file, put at the mean of the vertices.
        wedge = geoms["wedge"]["shape"]
        self.assertEqual(wedge["n"], 1.5)
        self.assertLess(max(map(abs, wedge["pose"][:3])), 0.03)
        self.assertGreater(max(map(abs, wedge["pose"][4:])), 0.05)
        own = self.model(OWN)["wedge"]["shape"]
        self.assertEqual((own["L"], own["beta"]), (0.05, 30))

    def test_frame(self):
        """The surface is where the author means it, whatever MuJoCo does to the mesh."""
        self.run_json("convert", self.scene(ELLIPSOID), "--surface", "--surface-error", 0.001,
                      "--out", self.path("t.xml"))
        with open(self.path("t.xml")) as f:
            mesh, = re.findall(r'<geom name="wedge"[^>]*>', f.read())
        pos = [float(x) for x in re.search(r' pos="([^"]*)"', mesh).group(1).split()]
        # geom: -.38 -.16 -.24, turned by 15 degrees about z
        c, s = 0.9659258262890683, 0.25881904510252074
        want = [-.38 + c * CENTRE[0] - s * CENTRE[1], -.16 + s * CENTRE[0] + c * CENTRE[1],
                -.24 + CENTRE[2]]
        for x, y in zip(pos, want):
            self.assertAlmostEqual(x, y, places=6)

    def test_bad(self):
        for custom, names in (
                ('<text name="dijoco_shape/nobody" data="superellipsoid 1 1 1 1"/>', ["nobody"]),
                ('<text name="dijoco_shape/drum" data="ball 1 1 1 1"/>', ["drum", "family 'ball'"]),
                ('<text name="dijoco_shape/drum" data="superellipsoid 1 nan 1 2"/>',
                 ["drum", "not finite"]),
                ('<text name="dijoco_shape/drum" data="superellipsoid 1 1e-300 1 2"/>',
                 ["drum", "too small"]),
                ('<text name="dijoco_shape/drum" data="superellipsoid 1 1e300 1 2"/>',
                 ["drum", "larger than"]),
                ('<text name="dijoco_shape/drum" data="superellipsoid 1 1 1"/>',
                 ["drum", "4", "3"]),
                ('<text name="dijoco_shape/drum" data="superellipsoid 1 x 1 1"/>', ["drum"]),
                ('<text name="dijoco_shape/drum" data="superellipsoid 1 1 1 0.5"/>',
                 ["drum", "n = 0.5"]),
                ('<text name="dijoco_shape/drum" data="truncated_cone 1 0 1 1 20"/>',
                 ["drum", "Rt = 0"]),
                ('<text name="dijoco_shape/drum" data="smooth_polytope 1 20"/>',
                 ["drum", "meshes"]),
                ('<text name="dijoco_shape/drum" data="smooth_polytope 1 0 0 1 1 20"/>',
                 ["drum", "do not bound"]),
                ('<text name="dijoco_shape/floor" data="superellipsoid 1 1 1 1"/>', ["floor"]),
                ('<text name="dijoco_shape/drum" data="superellipsoid 1 1 1 1 pose 1"/>',
                 ["drum", "pose"]),
                ('<numeric name="dijoco_sharpness/brick" data="0.5"/>', ["brick", "at least 1"]),
                ('<numeric name="dijoco_sharpness/nobody" data="2"/>', ["nobody"])):
            self.refused("simulate", self.scene(custom), "--time", 0.01, names=names)

    def test_design(self):
        """A scene that optimize writes has the surfaces that it found."""
        scene = self.scene(CONE, ELLIPSOID, SHARP)
        names = ["geom/drum/surface", "geom/drum/sharpness", "geom/wedge/surface",
                 "geom/brick/sharpness", "mesh/wedge/vert"]
        task = {"scene": scene, "horizon": 60,
                "loss": [{"type": "position", "body": "A", "target": [0, 0, 0.15]},
                         {"type": "position", "body": "C", "target": [-0.3, 0, 0.05]}],
                "variables": [{"name": name} for name in names],
                "optimizer": {"type": "adam", "rate": 1e-4, "iterations": 2}}
        self.run_json("optimize", self.write("t.json", task), "--out", self.path("o"))
        before = self.model(CONE, ELLIPSOID, SHARP)
        self.run_json("convert", self.path("o/scene.xml"), "--out", self.path("n.json"))
        with open(self.path("n.json")) as f:
            after = {g["name"]: g for g in json.load(f)["geoms"]}
        with open(self.path("o/final.json")) as f:
            final = {v["name"]: v["value"] for v in json.load(f)["variables"]}
        got = after["drum"]["shape"]
        self.assertNotEqual(got, before["drum"]["shape"])
        self.assertEqual([got[k] for k in ("Rb", "Rt", "a", "b")], final["geom/drum/surface"])
        self.assertEqual([got["beta"]], final["geom/drum/sharpness"])
        self.assertEqual(after["wedge"]["shape"]["size"], final["geom/wedge/surface"])
        self.assertEqual([after["brick"]["sharpness"]], final["geom/brick/sharpness"])

    def test_meshes(self):
        """Stock MuJoCo loads the meshes; they reach as far as the surfaces, bodies weigh as before,
        and the scene is the same to us."""
        scene = self.scene(CONE, OWN)
        r = self.run_json("convert", scene, "--surface", "--out", self.path("t.xml"))
        self.assertEqual(r["meshes"], 3)
        self.same_run(scene, self.path("t.xml"), 5)
        self.run_json("simulate", self.path("t.xml"), "--engine", "mujoco", "--time", 0.1)
        first, second = (self.run_json("inspect", s) for s in (scene, self.path("t.xml")))
        self.assertAlmostEqual(first["total_mass"], second["total_mass"], places=9)
        self.run_json("convert", self.path("t.xml"), "--out", self.path("m.json"))
        model = cli.load(self.path("m.json"))
        geoms = {g["name"]: g for g in model["geoms"]}
        self.assertEqual(geoms["bead"]["type"], "sphere")
        # The cone along its axis, x, and around: to the meshes' error of half a percent.
        self.assertEqual(geoms["drum"]["type"], "mesh")
        pose = geoms["drum"]["shape"].get("pose", [0, 0, 0, 1, 0, 0, 0])
        mesh = next(m for m in model["meshes"] if m["name"] == geoms["drum"]["mesh"])
        w, x, y, z = pose[3:]
        R = [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
             [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
             [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]
        local = [[sum(R[i][k] * (v[i] - pose[i]) for i in range(3)) for k in range(3)]
                 for v in mesh["vert"]]
        high = [max(v[k] for v in local) for k in range(3)]
        low = [min(v[k] for v in local) for k in range(3)]
        # A7-A11: in front at b, behind at -a, each a little inside by log(2)/beta of the scale
        self.assertLess(abs(high[0] - 0.08), 0.006)
        self.assertLess(abs(low[0] + 0.06), 0.006)
        self.assertLess(abs(high[1] + low[1]), 1e-3)
        self.assertGreater(high[1], 0.055)
        self.assertLess(high[1], 0.071)

    def test_meshes_refused(self):
        scene = self.scene(CONE)
        out = self.path("t.xml")
        self.refused("convert", scene, "--surface", "--contact", "separating_plane", "--out", out,
                     names=["--surface"])
        self.refused("convert", scene, "--surface", "--out", self.path("t.json"),
                     names=["--surface"])
        self.refused("convert", scene, "--surface-error", 0.1, "--out", out,
                     names=["--surface-error"])
        self.refused("convert", scene, "--surface", "--surface-error", 0, "--out", out,
                     names=["--surface-error"])


if __name__ == "__main__":
    unittest.main()
