#!/usr/bin/env python3
"""`--export` of `convert` and `optimize`: closed outward shells of links, and their union."""
import csv
import json
import math
import os
import re
import shutil
import stat
import sys
import unittest

from common import cli

HAMMER = os.path.join(cli.SOURCE, "models", "hammer")

# A link of a mesh, turned, and a box; one of a mesh; one of round shapes; one without a geom.
SCENE = """<mujoco>
  <asset>
    <mesh name="wedge" inertia="exact" vertex="0 0 0  .3 0 0  0 .2 0  .3 .2 0  0 0 .1  0 .2 .1"/>
    <mesh name="tip" inertia="exact" vertex="0 0 0  .1 0 0  0 .1 0  0 0 .1  .02 .02 .02"/>
  </asset>
  <worldbody>
    <geom type="plane" size="1 1 .1"/>
    <body name="arm" pos="0 0 1"><freejoint/>
      <geom type="mesh" mesh="wedge" pos=".1 .2 .3" quat=".8 .6 0 0"/>
      <geom type="box" size=".02 .03 .05" pos=".1 .25 .3"/>
      <body name="a tip/2" pos="0 0 .5"><joint/>
        <geom name="top" type="mesh" mesh="tip"/>
        <body pos="0 0 .2"><joint/>
          <geom type="sphere" size=".05"/><geom type="capsule" size=".02 .1"/>
          <geom type="cylinder" size=".03 .01"/><geom type="ellipsoid" size=".01 .02 .03"/>
          <body name="bare" pos="0 0 .1"><joint/><inertial pos="0 0 0" mass="1"
            diaginertia=".1 .1 .1"/></body>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""

# Takes what comes in for a list of polyhedra, checks that these face outward, and writes a cube.
OPENSCAD = """#!%s
import re, sys
out, source = sys.argv[4:6]
text = open(source).read()
bodies = re.findall(r"polyhedron\\(points = (\\[.*?\\]), faces = (\\[.*?\\])\\);", text)
assert sys.argv[1:4] == ["--export-format", "asciistl", "-o"]
assert text.count("polyhedron") == len(bodies) > 1
for points, faces in bodies:
    points, volume = eval(points), 0
    for a, b, c in ([points[i] for i in face] for face in eval(faces)):
        volume += sum(a[i] * (b[i - 2] * c[i - 1] - b[i - 1] * c[i - 2]) for i in range(3)) / 6
    assert volume < 0     # clockwise from outside
faces = []
for k in range(3):
    for s in (0, 1):
        ring = [(0, 0), (1, 0), (1, 1), (0, 1)]
        quad = [[0, 0, 0] for _ in ring]
        for p, (u, v) in zip(quad, ring):
            p[k], p[k - 2], p[k - 1] = 10 * s, 10 * u, 10 * v
        quad = quad if s else quad[::-1]
        faces += [quad[:3], [quad[0]] + quad[2:]]
%s
with open(out, "w") as f:
    f.write("solid OpenSCAD_Model\\n")
    for face in faces:
        f.write("facet normal 0 0 0\\nouter loop\\n")
        f.write("".join("vertex %%g %%g %%g\\n" %% tuple(p) for p in face))
        f.write("endloop\\nendfacet\\n")
    f.write("endsolid\\n")
"""


def shells(path):
    """Triangles of each solid of a text STL file."""
    text = cli.read(path)
    found = []
    for solid in re.findall(r"^solid .*?^endsolid", text, re.S | re.M):
        v = [tuple(map(float, x.split())) for x in re.findall(r"vertex (.*)", solid)]
        found.append([v[i:i + 3] for i in range(0, len(v), 3)])
    return found


def read_obj(path):
    with open(path, encoding="utf-8") as f:
        rows = [line.split() for line in f if line[0] in "vf"]
    v = [tuple(map(float, r[1:])) for r in rows if r[0] == "v"]
    return [[v[int(i) - 1] for i in r[1:]] for r in rows if r[0] == "f"]


def volume(triangles):
    return math.fsum(a[i] * (b[i - 2] * c[i - 1] - b[i - 1] * c[i - 2])
                     for a, b, c in triangles for i in range(3)) / 6


class Export(cli.Case):
    def setUp(self):
        super().setUp()
        self.real_path = os.environ["PATH"]
        with open(self.path("s.xml"), "w", encoding="utf-8") as f:
            f.write(SCENE)
        self.openscad("raise SystemExit(1)", installed=False)

    def openscad(self, line="", installed=True):
        """A program of this name, or none, on the PATH."""
        folder = self.path("bin")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "openscad")
        if installed:
            with open(path, "w", encoding="utf-8") as f:
                f.write(OPENSCAD % (sys.executable, line))
            os.chmod(path, stat.S_IRWXU)
        before = os.environ["PATH"]
        os.environ["PATH"] = folder
        self.addCleanup(os.environ.__setitem__, "PATH", before)

    def check_closed(self, triangles):
        """Each edge twice, once each way."""
        edges = [(t[k], t[(k + 1) % 3]) for t in triangles for k in range(3)]
        self.assertEqual(len(edges), len(set(edges)))
        self.assertEqual(set(edges), {(b, a) for a, b in edges})

    def convert(self, form):
        r = self.run_json("convert", self.path("s.xml"), "--export", form, "--out", self.path(form))
        return {link["link"]: link for link in r["export"]}, sorted(os.listdir(self.path(form)))

    def test_shells(self):
        links, files = self.convert("stl")
        self.assertEqual(files, sorted(["arm.scad", "arm.stl", "a_tip_2_body_2.stl", "body_3.scad",
                                        "body_3.stl"]))
        self.assertEqual(list(links), ["arm", "a_tip_2_body_2", "body_3"])
        for name, link in links.items():
            found = shells(self.path("stl/%s.stl" % name))
            self.assertEqual(len(found), link["shells"])
            for one in found:
                self.check_closed(one)
                self.assertGreater(volume(one), 0)
            self.assertAlmostEqual(sum(map(volume, found)), link["volume"], delta=1e-12)
            self.assertIsNone(link["union"])
        self.assertIn("not installed", links["arm"]["note"])
        self.assertNotIn("note", links["a_tip_2_body_2"])
        self.assertAlmostEqual(links["arm"]["volume"], .003 + 8 * 3e-5, delta=1e-9)
        self.assertAlmostEqual(links["arm"]["thickness"], .04, delta=1e-12)
        self.assertAlmostEqual(links["a_tip_2_body_2"]["volume"], 1e-3 / 6, delta=1e-9)
        self.assertAlmostEqual(links["a_tip_2_body_2"]["thickness"], .1 / 3 ** .5, delta=1e-7)
        exact = math.pi * (4 / 3 * (.05 ** 3 + .02 ** 3 + 6e-6) + .02 ** 2 * .2 + .03 ** 2 * .02)
        self.assertEqual([link["inscribed"] for link in links.values()], [0, 0, 4])
        self.assertLess(links["body_3"]["volume"], exact)
        self.assertGreater(links["body_3"]["volume"], .96 * exact)

    def test_frames_and_moments(self):
        """Where shells are: their volume and centre are those of the compiled body."""
        self.convert("stl")
        model = self.path("m.json")
        self.run_json("convert", self.path("s.xml"), "--out", model)
        with open(model, encoding="utf-8") as f:
            bodies = json.load(f)["bodies"]
        for name, i in (("arm", 1), ("a_tip_2_body_2", 2)):
            found = [t for one in shells(self.path("stl/%s.stl" % name)) for t in one]
            v = volume(found)
            self.assertAlmostEqual(1000 * v, bodies[i]["mass"], delta=1e-6 * bodies[i]["mass"])
            for k in range(3):
                centre = math.fsum(volume([t]) * math.fsum(p[k] for p in t) / 4 for t in found) / v
                self.assertAlmostEqual(centre, bodies[i]["ipos"][k], delta=1e-7)

    def test_obj(self):
        links, files = self.convert("obj")
        self.assertEqual(files, sorted(["arm_0.obj", "arm_1.obj", "a_tip_2_body_2_0.obj"] +
                                       ["body_3_%d.obj" % k for k in range(4)]))
        for name in files:
            self.check_closed(read_obj(self.path("obj/" + name)))
        self.assertAlmostEqual(sum(volume(read_obj(self.path("obj/arm_%d.obj" % k)))
                                   for k in range(2)), links["arm"]["volume"], delta=1e-12)

    def test_union(self):
        self.openscad()
        links, files = self.convert("stl")
        self.assertIn("arm_union.stl", files)
        self.assertNotIn("a_tip_2_body_2_union.stl", files)     # one shell is its own union
        self.assertAlmostEqual(links["arm"]["union"]["volume"], 1e-6, delta=1e-15)   # 10 mm
        (cube,) = shells(self.path("stl/arm_union.stl"))
        self.assertAlmostEqual(volume(cube), 1e-6, delta=1e-15)
        self.assertFalse([name for name in files if name[0] == "."])

    def test_slivers(self):
        """A triangle without area, on an edge with a vertex in its middle, is mended."""
        self.openscad("a, b, c = faces[0]; m = [(x + y) / 2 for x, y in zip(a, b)]; "
                      "faces[0] = [a, m, c]; faces += [[m, b, c], [a, b, m]]")
        links, _ = self.convert("stl")
        self.assertNotIn("note", links["arm"])
        self.assertAlmostEqual(links["arm"]["union"]["volume"], 1e-6, delta=1e-15)
        (cube,) = shells(self.path("stl/arm_union.stl"))
        self.assertEqual(len(cube), 14)
        self.check_closed(cube)

    def test_real_union(self):
        """By OpenSCAD, where it is."""
        os.environ["PATH"] = self.real_path
        if not shutil.which("openscad"):
            self.skipTest("OpenSCAD is not installed")
        links, files = self.convert("stl")
        self.assertIn("arm_union.stl", files)
        (whole,) = shells(self.path("stl/arm_union.stl"))
        self.check_closed(whole)
        self.assertAlmostEqual(volume(whole), links["arm"]["union"]["volume"], delta=1e-12)
        # the box, turned by nothing, is partly in the wedge
        self.assertGreater(volume(whole), .003)
        self.assertLess(volume(whole), links["arm"]["volume"] + 1e-8)

    def test_bad_unions(self):
        for line, note in (("faces = faces[:-1]", "edge"), ("raise SystemExit(3)", "failed"),
                           ("faces = [f[::-1] for f in faces]", "inward")):
            with self.subTest(line):
                self.openscad(line)
                links, files = self.convert("stl")
                self.assertIsNone(links["arm"]["union"])
                self.assertIn(note, links["arm"]["note"])
                self.assertNotIn("arm_union.stl", files)

    def test_refused(self):
        scene = self.path("s.xml")
        r = self.refused("convert", scene, "--export", "ply", "--out", self.path("x"))
        self.assertIn("--export", r)
        self.refused("convert", scene, "--export", "stl", "--surface", "--out", self.path("x"))
        self.refused("convert", scene, "--export", "stl")
        with open(self.path("flat.xml"), "w", encoding="utf-8") as f:
            f.write("<mujoco><worldbody><geom type='plane' size='1 1 1'/></worldbody></mujoco>")
        self.assertIn("--export", self.refused("convert", self.path("flat.xml"), "--export", "stl",
                                               "--out", self.path("x")))

    def test_optimize(self):
        """What comes out is what is built: shells, and the loss of scene.xml."""
        out = self.path("out")
        task = cli.load(os.path.join(HAMMER, "task.json"))
        task["scene"] = os.path.join(HAMMER, "scene.xml")
        r = self.run_json("optimize", self.write("task.json", task), "--out", out,
                          "--iterations", 6, "--export", "stl")
        head = [link for link in r["export"] if link["link"] == "head"][0]
        page = cli.read(os.path.join(out, "report.html"))
        shown = re.findall(r'aria-label="(\w+) (before|after), (along|against) (.):[^"]*">'
                           r'(.*?)</svg>', page, re.S)
        self.assertEqual([s[:4] for s in shown],
                         [(body, when, *side) for body in ("handle", "head")
                          for when in ("before", "after")
                          for side in (("against", "x"), ("along", "y"), ("against", "z"))])
        paths = {s[:4]: re.findall(r'<path d="(.*?)Z"', s[4]) for s in shown}
        self.assertEqual(len(paths["head", "before", "against", "z"]), 2)   # a box: one facet
        self.assertNotEqual(paths["head", "before", "against", "z"],
                            paths["head", "after", "against", "z"])
        self.assertLess(len(page), 2e6)
        (shell,) = shells(os.path.join(out, "head.stl"))
        self.check_closed(shell)
        with open(os.path.join(out, "ctrl.csv"), encoding="utf-8") as f:
            rows = [list(map(float, row)) for row in list(csv.reader(f))[1:]]
        self.assertEqual(len(rows), task["horizon"])
        task.update(scene=os.path.join(out, "scene.xml"), initial={"keyframe": "optimized"},
                    variables=[{"name": "ctrl"}], ctrl=rows)
        for key in ("maps", "free", "optimizer", "inertia_from_geom"):
            task.pop(key)
        again = self.run_json("grad", self.write("again.json", task))
        self.assertAlmostEqual(again["loss"], r["loss_last"], delta=1e-6 * r["loss_last"])
        self.run_json("convert", os.path.join(HAMMER, "scene.xml"), "--export", "stl", "--out",
                      self.path("then"))
        (before,) = shells(self.path("then/head.stl"))
        self.assertNotEqual(before, shell)
        self.assertAlmostEqual(volume(shell), head["volume"], delta=1e-12)


if __name__ == "__main__":
    unittest.main()
