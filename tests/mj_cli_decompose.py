#!/usr/bin/env python3
"""`decompose`: closed meshes as convex hulls, by blocks, by CoACD, by shells; scenes that include what it
writes, in stock MuJoCo and here; what is refused, and that nothing is left then."""
import json
import math
import os
import re
import struct
import unittest
from unittest import mock

from common import cli

COACD = os.path.join(cli.SOURCE, "build/deps/coacd/coacd/lib_coacd.so")
BOX = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
SCENE = """<mujoco>
  <include file="fragment.xml"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" pos="0 0 -1"/>
    <body name="other" pos="0 0 3"><freejoint/><geom name="ball" size=".1"/></body>
  </worldbody>
</mujoco>
"""


def box(a, b, c):
    return [((-a, a)[i & 1], (-b, b)[i >> 1 & 1], (-c, c)[i >> 2]) for i in range(8)], BOX


def joined(*parts):
    """Meshes in one, each moved."""
    vertices, faces = [], []
    for (own, own_faces), (dx, dy, dz) in parts:
        faces += [tuple(i + len(vertices) for i in f) for f in own_faces]
        vertices += [(x + dx, y + dy, z + dz) for x, y, z in own]
    return vertices, faces


def swept(middles, radius, k, closed):
    """A tube of k-gons about a curve in the plane z = 0."""
    n, vertices, faces = len(middles), [], []
    for i, (x, y) in enumerate(middles):
        before, after = middles[i - 1 if closed or i else 0], middles[(i + 1) % n if closed else
                                                                      min(i + 1, n - 1)]
        tx, ty = after[0] - before[0], after[1] - before[1]
        length = math.hypot(tx, ty)
        for j in range(k):
            u, w = radius * math.cos(2 * math.pi * j / k), radius * math.sin(2 * math.pi * j / k)
            vertices.append((x + u * ty / length, y - u * tx / length, w))
    for i in range(n if closed else n - 1):
        for j in range(k):
            a, b = i * k + j, (i + 1) % n * k + j
            c, d = (i + 1) % n * k + (j + 1) % k, i * k + (j + 1) % k
            faces += [(a, b, c), (a, c, d)]
    if not closed:
        faces += [tuple(range(k)), tuple(reversed(range((n - 1) * k, n * k)))]
    return vertices, faces


def torus():
    return swept([(math.cos(2 * math.pi * i / 32), math.sin(2 * math.pi * i / 32))
                  for i in range(32)], 0.3, 16, True)


def bent_rod():
    """A quarter of a ring, and a straight part."""
    arc = [(math.cos(a), math.sin(a)) for a in (math.pi / 2 * i / 12 for i in range(13))]
    return swept([(1, y) for y in (-1, -0.7, -0.4)] + arc, 0.1, 12, False)


def volume_of(mesh):
    vertices, faces = mesh
    total = 0
    for f in faces:
        for k in range(1, len(f) - 1):
            (a, b, c), (d, e, g), (h, i, j) = (vertices[f[m]] for m in (0, k, k + 1))
            total += (a * (e * j - g * i) + b * (g * h - d * j) + c * (d * i - e * h)) / 6
    return total


class Decompose(cli.Case):
    def obj(self, name, mesh):
        lines = ["v %r %r %r" % tuple(v) for v in mesh[0]]
        lines += ["f " + " ".join(str(i + 1) for i in f) for f in mesh[1]]
        cli.put(self.path(name), "\n".join(lines) + "\n")
        return self.path(name)

    def stl(self, name, mesh):
        parts = [(mesh[0][f[0]], mesh[0][f[k]], mesh[0][f[k + 1]])
                 for f in mesh[1] for k in range(1, len(f) - 1)]
        with open(self.path(name), "wb") as f:
            f.write(b"solid, of bytes".ljust(80) + struct.pack("<I", len(parts)))
            for corners in parts:
                f.write(struct.pack("<12fH", 0, 0, 0, *sum(corners, ()), 0))
        return self.path(name)

    def decompose(self, mesh, *options, out="out"):
        r = self.run_json("decompose", mesh, "--out", self.path(out), *options)
        names = {h["file"] for h in r["hulls"]} | {"fragment.xml", "decompose.json"}
        self.assertEqual(names, set(os.listdir(self.path(out))))
        with open(self.path(out + "/decompose.json")) as f:
            self.assertEqual(json.load(f), r)
        return r

    def hull(self, name, out="out"):
        with open(self.path(os.path.join(out, name))) as f:
            lines = [line.split() for line in f if line[0] in "vf"]
        return ([tuple(map(float, w[1:])) for w in lines if w[0] == "v"],
                [tuple(int(i) - 1 for i in w[1:]) for w in lines if w[0] == "f"])

    def scene_runs(self, r, mass, out="out"):
        """In both engines, with the body that is written; its mass by MuJoCo's density."""
        scene = self.path(out + "/scene.xml")
        fragment = cli.read(self.path(out + "/fragment.xml"))
        cli.put(scene, SCENE)
        found = self.run_json("inspect", scene)
        self.assertEqual((found["sizes"]["nbody"], found["sizes"]["nmesh"]), (3, len(r["hulls"])))
        hulls, = found["overlap"]
        self.assertEqual((hulls["body"], hulls["hulls"]), (r["body"], len(r["hulls"])))
        self.assertAlmostEqual(hulls["share"], r["overlap"], places=5)  # MuJoCo keeps floats
        for engine in ("dijoco", "mujoco"):
            for path in (scene, self.path(out + "/fragment.xml")):
                self.run_json("simulate", path, "--time", 0.02, "--engine", engine)
        # A free body of it.
        with open(scene, "w") as f:
            text = fragment.replace('<body name="%s">' % r["body"],
                                    '<body name="%s"><freejoint/>' % r["body"])
            f.write(text)
        total = self.run_json("inspect", scene)["total_mass"]
        self.assertAlmostEqual(total / mass, 1, places=4)
        pasted = re.findall(r"\[[^]]*\]", fragment.split("-->")[0])
        self.assertEqual(json.loads(pasted[0]), [h["file"][:-4] for h in r["hulls"]])
        self.assertEqual(json.loads(pasted[1]),
                         ["mesh/%s/vert" % h["file"][:-4] for h in r["hulls"]])
        task = self.path(out + "/task.json")
        with open(task, "w") as f:
            json.dump({"scene": scene, "horizon": 2,
                       "loss": [{"type": "position", "body": r["body"], "target": [0, 0, 1]}],
                       "variables": [{"name": json.loads(pasted[1])[0]}]}, f)
        self.run_json("grad", task)

    def test_box(self):
        """The lattice of small boxes, from both formats."""
        mesh = box(.75, .5, .25)
        for path, out in ((self.obj("box.obj", mesh), "a"), (self.stl("box.STL", mesh), "b")):
            r = self.decompose(path, "--grid", "3,2,1", out=out)
            self.assertEqual((r["method"], r["grid"], len(r["hulls"])), ("blocks", [3, 2, 1], 6))
            self.assertAlmostEqual(r["volume"], 0.75, places=12)
            self.assertAlmostEqual(r["volume_ratio"], 1, places=12)
            self.assertEqual(r["overlap"], 0)
            self.assertLess(r["hausdorff"], 1e-6)
            corners = set()
            for h in r["hulls"]:
                hull = self.hull(h["file"], out)
                self.assertEqual((len(hull[0]), h["vertices"]), (8, 8))
                self.assertAlmostEqual(h["volume"], 0.125, places=12)
                self.assertAlmostEqual(volume_of(hull), 0.125, places=12)
                corners |= set(hull[0])
            self.assertEqual(len(corners), 24)
            self.scene_runs(r, 750, out)
        text = self.run_cli("decompose", path, "--out", self.path("a"), "--grid", "3,2,1")[1]
        for word in ("6 hulls of 8 vertices", "blocks", "grid 3,2,1", "volume 0.75"):
            self.assertIn(word, text)

    def test_bent_rod(self):
        """With few hulls, and more: nearer to the rod."""
        path, ratios = self.obj("rod.obj", bent_rod()), []
        for hulls in (4, 30):
            r = self.decompose(path, "--method", "blocks", "--hulls", hulls, "--vertices", 40,
                               out="rod%d" % hulls)
            self.assertLessEqual(len(r["hulls"]), hulls)
            self.assertLessEqual(max(h["vertices"] for h in r["hulls"]), 40)
            total = sum(h["volume"] for h in r["hulls"])
            self.assertAlmostEqual(total / r["volume"], r["volume_ratio"], places=7)
            self.assertAlmostEqual(r["volume"], volume_of(bent_rod()), places=9)
            ratios.append(r["volume_ratio"])
        self.assertGreater(ratios[0], ratios[1])
        self.assertLess(ratios[1], 1.15)
        self.scene_runs(r, 1000 * total, "rod30")

    def test_same(self):
        """The same bytes again."""
        path = self.obj("t.obj", torus())
        for out in ("a", "b"):
            self.decompose(path, "--grid", "4,4,2", "--vertices", "20", out=out)
        a, b = (cli.tree(self.path(out)) for out in ("a", "b"))
        a.pop("decompose.json"), b.pop("decompose.json")  # which has the folder
        self.assertEqual(a, b)

    @unittest.skipUnless(os.path.exists(COACD), "scripts/fetch.py coacd fetches CoACD")
    @unittest.skipUnless(os.environ["DIJOCO_FLAVOUR"] == "release", "slow under sanitizers")
    def test_coacd(self):
        """The default where it is; by seed, with any number of threads."""
        path = self.obj("t.obj", torus())
        trees = []
        for threads in "12":
            with mock.patch.dict(os.environ, DIJOCO_COACD=COACD, OMP_NUM_THREADS=threads):
                r = self.decompose(path, "--hulls", "4", "--vertices", "24", "--seed", "3",
                                   out="c" + threads)
            trees.append(cli.tree(self.path("c" + threads)))
            trees[-1].pop("decompose.json")
            self.assertEqual((r["method"], r["seed"], len(r["hulls"])), ("coacd", 3, 4))
            self.assertLessEqual(max(h["vertices"] for h in r["hulls"]), 24)
            self.assertLess(abs(r["volume_ratio"] - 1), 0.3)
            self.assertLess(r["overlap"], 0.05)
        self.assertEqual(*trees)
        self.scene_runs(r, 1000 * sum(h["volume"] for h in r["hulls"]), "c2")

    @unittest.skipUnless(os.path.exists(COACD), "scripts/fetch.py coacd fetches CoACD")
    def test_coacd_merges_on(self):
        """It stops at two hulls of a star; at most N means N."""
        ring = [((1, .4)[i % 2] * math.cos(math.pi * i / 5), (1, .4)[i % 2] * math.sin(math.pi * i / 5))
                for i in range(10)]
        star = [(x, y, z) for z in (-.1, .1) for x, y in ring] + [(0, 0, -.1), (0, 0, .1)]
        faces = [f for i, j in ((i, (i + 1) % 10) for i in range(10))
                 for f in ((i, j, j + 10), (i, j + 10, i + 10), (20, j, i), (21, i + 10, j + 10))]
        with mock.patch.dict(os.environ, DIJOCO_COACD=COACD):
            for hulls in (1, 2):
                r = self.decompose(self.obj("star.obj", (star, faces)), "--hulls", hulls,
                                   "--vertices", "9", out="s%d" % hulls)
                self.assertEqual((r["method"], len(r["hulls"])), ("coacd", hulls))
                self.assertLessEqual(max(h["vertices"] for h in r["hulls"]), 9)
                self.assertGreater(r["volume_ratio"], 1.2)

    def test_shells(self):
        """Boxes that share a face, and one that crosses: a hull each, from both formats."""
        half = box(.5, .5, .5)
        mesh = joined((half, (0, 0, 0)), (half, (1, 0, 0)), (box(.25, .25, .5), (0, 0, .5)))
        for path, out in ((self.obj("three.obj", mesh), "a"), (self.stl("three.stl", mesh), "b")):
            r = self.decompose(path, "--method", "shells", out=out)
            self.assertEqual((r["method"], "grid" in r, "seed" in r), ("shells", False, False))
            self.assertEqual([h["vertices"] for h in r["hulls"]], [8, 8, 8])
            for h, volume in zip(r["hulls"], (1, 1, .25)):
                self.assertAlmostEqual(h["volume"], volume, places=12)
                self.assertAlmostEqual(volume_of(self.hull(h["file"], out)), volume, places=12)
            self.assertAlmostEqual(r["volume"], 2.125, places=7)
            self.assertAlmostEqual(r["volume_ratio"], 1, places=7)
            self.assertAlmostEqual(r["overlap"], .125 / 2.25, places=7)
            self.assertLess(r["hausdorff"], 1e-5)
            self.scene_runs(r, 2250, out)
        joint = self.decompose(path, "--method", "shells", "--hulls", 2, out="c")
        self.assertEqual([round(h["volume"], 9) for h in joint["hulls"]], [2, .25])
        text = self.run_cli("decompose", path, "--out", self.path("a"), "--method", "shells")[1]
        for word in ("3 hulls of 8 vertices, by shells", "volume 2.125 m^3"):
            self.assertIn(word, text)
        self.refused("decompose", path, "--out", self.path("d"), "--method", "blocks",
                     names=[path, "of 4 triangles", "--method shells"])

    def test_concave_shells(self):
        """A ring becomes its hull, which the report tells; where that overlaps another there is no
        volume of all."""
        ring, out = torus(), self.path("c")
        r = self.decompose(self.obj("apart.obj", joined((ring, (0, 0, 0)), (box(1, 1, 1), (3, 0, 0)))),
                           "--method", "shells", out="a")
        self.assertEqual(len(r["hulls"]), 2)
        self.assertAlmostEqual(r["volume"], 8 + volume_of(ring), places=9)
        self.assertAlmostEqual(r["volume_ratio"] * r["volume"], sum(h["volume"] for h in r["hulls"]),
                               places=6)
        self.assertGreater(r["volume_ratio"], 1.05)
        path = self.obj("crossed.obj", joined((ring, (0, 0, 0)), (box(1, .1, .1), (0, 0, 0))))
        r = self.decompose(path, "--method", "shells", out="b")
        self.assertEqual((r["volume"], r["volume_ratio"], len(r["hulls"])), (None, None, 2))
        self.assertGreater(r["overlap"], .01)
        text = self.run_cli("decompose", path, "--out", out, "--method", "shells")[1]
        self.assertIn("volume not known: the hull of a concave shell overlaps others; overlap", text)

    def test_bad_shells(self):
        vertices, faces = joined((box(1, 1, 1), (0, 0, 0)), (box(1, 1, 1), (3, 0, 0)))
        inward = faces[:6] + [f[::-1] for f in faces[6:]]
        less = [(x, y, z * (.5 if i > 7 else 1)) for i, (x, y, z) in enumerate(vertices)]
        for name, mesh, names in (
                ("open", (vertices, faces[:-1]), ["shell 1 (triangle 12 first)", "open"]),
                ("inward", (less, inward), ["shell 1 (triangle 12 first)", "faces inward"])):
            path = self.obj(name + ".obj", mesh)
            self.refused("decompose", path, "--out", self.path("x"), "--method", "shells",
                         names=[path, *names])
            self.refused("decompose", path, "--out", self.path("x"), "--method", "blocks",
                         names=[path])
        many = joined(*((box(.4, .4, .4), (i % 8, i // 8 % 8, i // 64)) for i in range(501)))
        self.refused("decompose", self.obj("many.obj", many), "--out", self.path("x"), "--method",
                     "shells", names=["501 hulls, more than 500"])
        self.assertFalse(os.path.exists(self.path("x")))

    def test_small(self):
        """MuJoCo compiles no mesh of less than 1e-15 m^3: told before anything is written."""
        for size, good in ((1.1e-5, True), (0.9e-5, False)):
            path, out = self.obj("s.obj", box(size / 2, size / 2, size / 2)), self.path("s")
            options = ("--out", out, "--grid", "1,1,1")
            if good:
                self.run_json("decompose", path, *options)
                self.run_json("inspect", out + "/fragment.xml")
            else:
                self.refused("decompose", path, *options, names=[path, "hull 0", "7.29e-16", "1e-15"])
                self.assertFalse(os.path.exists(out))
            for name in os.listdir(out) if good else ():
                os.remove(os.path.join(out, name))
            if good:
                os.rmdir(out)

    def test_without_coacd(self):
        path = self.obj("box.obj", box(1, 1, 1))
        with mock.patch.dict(os.environ, DIJOCO_COACD=self.path("none.so")):
            self.assertEqual(self.decompose(path)["method"], "blocks")
            self.refused("decompose", path, "--out", self.path("x"), "--method", "coacd",
                         names=["--method coacd", "scripts/fetch.py coacd", "DIJOCO_COACD"])
        with mock.patch.dict(os.environ, DIJOCO_COACD="libm.so.6"):
            self.refused("decompose", path, "--out", self.path("x"), "--method", "coacd",
                         names=["libm.so.6 is no CoACD"])

    def test_bad_options(self):
        path = self.obj("box.obj", box(1, 1, 1))
        blocks = ("--method", "blocks")
        for options, names in (
                ((), ["--out", "missing"]),
                (("--out", "x", "--grid", "1,2"), ["--grid", "'1,2'"]),
                (("--out", "x", "--grid", "1,2,x"), ["--grid", "'1,2,x'"]),
                (("--out", "x", "--grid", "1,2,3,4"), ["--grid"]),
                (("--out", "x", "--grid", "0,1,1"), ["--grid", "1 to 256"]),
                (("--out", "x", "--grid", "256,256,256"), ["cells"]),
                (("--out", "x", "--grid", "64,64,1"), ["hulls, more than 500"]),
                (("--out", "x", "--grid", "1,1,1", "--method", "coacd"), ["--grid", "blocks"]),
                (("--out", "x", "--grid", "1,1,1", "--method", "shells"), ["--grid", "blocks"]),
                (("--out", "x", "--seed", "1", "--method", "shells"), ["--seed", "coacd"]),
                (("--out", "x", "--hulls", "0"), ["--hulls", "'0'"]),
                (("--out", "x", "--hulls", "2000"), ["--hulls", "500"]),
                (("--out", "x", "--vertices", "3"), ["--vertices", "4"]),
                (("--out", "x", "--vertices", "many"), ["--vertices", "'many'"]),
                (("--out", "x", "--method", "hulls"), ["--method", "coacd|blocks|shells"]),
                (("--out", path, *blocks), [path])):
            options = [self.path(o) if o == "x" else o for o in options]
            self.refused("decompose", path, *options, names=names)
            self.assertFalse(os.path.exists(self.path("x")))

    def test_no_text(self):
        """What a file holds is named as text that terminals and programs can show."""
        path = self.path("noise.obj")
        with open(path, "wb") as f:
            f.write(b"v 0 0 0\nf\xff\x1b[31m\xc3\xa9\xe2\x82 1\n")
        code, _, error = self.run_cli("decompose", path, "--out", self.path("x"))
        self.assertEqual(code, 2)
        self.assertIn("f??[31m\u00e9??", error)

    def test_limit(self):
        """More hulls than asked for are written, with status 1; blocks are the same by any seed."""
        path, out = self.obj("box.obj", box(1, 1, 1)), self.path("x")
        for hulls, status in ((8, 0), (7, 1)):
            code, text, _ = self.run_cli("decompose", path, "--out", out, "--grid", "2,2,2",
                                         "--seed", "3", "--hulls", str(hulls))
            self.assertEqual(code, status, text)
            self.assertEqual("more than --hulls" in text, status == 1)
            self.assertTrue(os.path.exists(os.path.join(out, "box_07.obj")))

    def test_bad_meshes(self):
        vertices, faces = box(1, 1, 1)
        flat = [(x, y, 0) for x, y, z in vertices]
        twice = vertices + [(x + 1, y + .5, z + .25) for x, y, z in vertices]
        more = [tuple(i + 8 for i in f) for f in faces]
        far = [(1e300, 0, 0)] + list(vertices[1:])
        for name, mesh, names in (
                ("open", (vertices, faces[1:]), ["open: the edge of vertices"]),
                ("turned", (vertices, [faces[0][::-1]] + faces[1:]), ["opposite windings"]),
                ("inward", (vertices, [f[::-1] for f in faces]), ["inward"]),
                ("twice", (twice, faces + more), ["intersects itself: triangles"]),
                ("flat", (flat, faces), []),
                ("far", (far, faces), []),
                ("empty", (vertices, []), ["no triangles"]),
                ("corner", (vertices, faces + [(0, 1, 8)]), ["line 15", "no vertex '9'"])):
            path = self.obj(name + ".obj", mesh)
            self.refused("decompose", path, "--out", self.path("x"), "--method", "blocks",
                         names=[path, *names])
            self.assertFalse(os.path.exists(self.path("x")))
        for name, text, names in (
                ("a.ply", "ply", ["a.ply", ".obj, .stl"]), ("b.obj", "v 0 0 a", ["line 1", "'a'"]),
                ("c.stl", "solid\nvertex 0 nan 0", ["line 2", "'nan'"]),
                ("d.stl", "x", ["d.stl", "STL"]), ("e.obj", "solid", ["line 1", "'solid'"])):
            cli.put(self.path(name), text)
            self.refused("decompose", self.path(name), "--out", self.path("x"), names=names)
        self.refused("decompose", self.path("none.obj"), "--out", self.path("x"),
                     names=["none.obj", "opened"])
        self.assertFalse(os.path.exists(self.path("x")))


if __name__ == "__main__":
    unittest.main()
