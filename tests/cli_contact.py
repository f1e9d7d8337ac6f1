#!/usr/bin/env python3
"""The verb `contact`: its output, its derivatives against differences, and bad input."""
import copy
import json
import math
import os
import resource
import subprocess
import unittest

from common import cli

CUBE = [[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]
TETRAHEDRON = [[1.06, 0.3, 0.4], [1.5, 0.2, 0.1], [1.6, 0.7, 0.3], [1.4, 0.4, 1.1]]
PAIR = {"model": "separating_plane", "params": {"s": 0.1, "length_scale": 1}, "hessian": True,
        "a": {"vertices": CUBE, "radius": 0}, "b": {"vertices": TETRAHEDRON, "radius": 0}}


def changed(**change):
    pair = copy.deepcopy(PAIR)
    for path, value in change.items():
        place = pair
        *heads, last = path.split("__")
        for head in heads:
            place = place[head]
        if value is None:
            del place[last]
        else:
            place[last] = value
    return pair


class Contact(cli.Case):
    def ask(self, query, status=0):
        code, out, err = self.run_cli("contact", "-", stdin=json.dumps(query))
        self.assertEqual(code, status, err)
        return json.loads(out, parse_constant=self.fail)

    def value(self, query):
        return cli.number(self.ask(query)["value"])

    def test_shape(self):
        r = self.ask(PAIR)
        self.assertEqual(r["status"], "ok")
        self.assertGreater(r["value"], 0)
        self.assertAlmostEqual(r["gap"], 0.06, places=6)
        self.assertEqual(len(r["plane"]), 4)
        self.assertEqual([len(r["gradient_a"]), len(r["gradient_b"])], [8, 4])
        self.assertEqual(len(r["twist_gradient"]), 12)
        self.assertEqual([len(r["hessian"]), len(r["hessian"][0])], [36, 36])
        self.assertEqual([len(r["twist_hessian"]), len(r["twist_hessian"][0])], [12, 12])
        n, o = r["plane"][:3], r["plane"][3]
        for points, side in ((CUBE, -1), (TETRAHEDRON, 1)):
            for p in points:
                self.assertGreater(side * (sum(a * b for a, b in zip(n, p)) + o), 0)

    def test_gap(self):
        box = {"geom": "box", "size": [.1, .2, .3], "pose": [0, 0, 0, 1, 0, 0, 0]}
        ball = {"geom": "sphere", "size": [.1], "pose": [.1, .2, .9, 1, 0, 0, 0]}
        query = {"model": "gap", "a": box, "b": ball}
        r = self.ask(query)
        self.assertEqual(r["status"], "ok")
        exact = self.ask(dict(query, params={"smoothing": 0}))
        self.assertTrue(0 <= r["gap"] - exact["gap"] <= 1.24 * r["smoothing"])
        self.assertAlmostEqual(exact["gap"], 0.5, places=12)
        self.assertIsNone(exact["twist_normal"])
        step, both = 1e-6, []
        for sign in (1, -1):
            moved = copy.deepcopy(query)
            moved["b"]["pose"][0] += sign * step
            both.append(self.ask(moved))
        for name, columns in (("gap", r["twist_gradient"][9]),
                              ("normal", [row[9] for row in r["twist_normal"]]),
                              ("point_a", [row[9] for row in r["twist_point_a"]]),
                              ("point_b", [row[9] for row in r["twist_point_b"]])):
            plus, minus = both[0][name], both[1][name]
            if name == "gap":
                plus, minus, columns = [plus], [minus], [columns]
            for a, b, c in zip(plus, minus, columns):
                self.assertAlmostEqual((a - b) / (2 * step), c, places=6)
        plane = {"geom": "plane"}
        bad = self.ask([dict(query, a=plane, b=plane), dict(query, params={"smoothing": -1}),
                        dict(query, hessian=True), query], 2)["results"]
        self.assertEqual([b["status"] for b in bad], ["error"] * 3 + ["ok"])
        self.assertIn("planes", bad[0]["message"])
        self.assertIn("smoothing", bad[1]["message"])
        same = dict(query, a=dict(ball), b=dict(ball))
        self.assertIsNone(self.ask(same)["twist_normal"])

    def test_gradient_is_that_of_the_value(self):
        r, step = self.ask(PAIR), 1e-6
        for shape, i, k in (("a", 7, 0), ("a", 5, 2), ("b", 0, 0), ("b", 0, 1), ("b", 3, 2)):
            ends = []
            for sign in (1, -1):
                pair = copy.deepcopy(PAIR)
                pair[shape]["vertices"][i][k] += sign * step
                ends.append(self.value(pair))
            difference = (ends[0] - ends[1]) / (2 * step)
            self.assertAlmostEqual(r["gradient_" + shape][i][k], difference,
                                   delta=1e-6 * max(1, abs(difference)))

    def test_forces_balance(self):
        r = self.ask(PAIR)
        for k in range(3):
            total = sum(g[k] for g in r["gradient_a"] + r["gradient_b"])
            self.assertAlmostEqual(total, 0, delta=1e-7 * abs(r["gradient_b"][0][0]))
            self.assertAlmostEqual(r["twist_gradient"][3 + k], sum(g[k] for g in r["gradient_a"]),
                                   delta=1e-9 + 1e-9 * abs(r["twist_gradient"][3 + k]))

    def test_length_scale(self):
        big = copy.deepcopy(PAIR)
        big["params"]["length_scale"] = 10
        for shape in "ab":
            big[shape]["vertices"] = [[10 * x for x in p] for p in big[shape]["vertices"]]
        one, ten = self.ask(PAIR), self.ask(big)
        self.assertAlmostEqual(ten["value"], one["value"], delta=1e-9 * one["value"])
        self.assertAlmostEqual(ten["gap"], 10 * one["gap"])
        self.assertAlmostEqual(ten["gradient_b"][0][0], one["gradient_b"][0][0] / 10,
                               delta=1e-6 * abs(one["gradient_b"][0][0]))

    def test_far_and_overlapping(self):
        far = self.ask(changed(b__vertices=[[x + 5, y, z] for x, y, z in TETRAHEDRON]))
        self.assertEqual(far["value"], 0)
        self.assertEqual(far["twist_gradient"], [0] * 12)
        deep = self.ask(changed(b__vertices=[[x - 0.4, y, z] for x, y, z in TETRAHEDRON]))
        self.assertEqual((deep["status"], deep["value"]), ("ok", "inf"))
        self.assertLess(deep["gap"], 0)
        for key in ("plane", "gradient_a", "gradient_b", "twist_gradient", "hessian",
                    "twist_hessian"):
            self.assertIsNone(deep[key])

    def test_geoms(self):
        box = {"geom": "box", "size": [0.5, 0.5, 0.5], "pose": [0.5, 0.5, 0.5, 1, 0, 0, 0]}
        same = self.ask(changed(a=box, b__radius=0.01))
        plain = self.ask(changed(b__radius=0.01, a__origin=[0.5, 0.5, 0.5]))
        self.assertAlmostEqual(same["value"], plain["value"], delta=1e-9 * plain["value"])
        for x, y in zip(same["twist_gradient"], plain["twist_gradient"]):
            self.assertAlmostEqual(x, y, delta=1e-6 * max(1, abs(y)))
        self.assertIsNone(same["gradient_a"])
        for geom, size, height in (("sphere", [0.1], 0.1), ("capsule", [0.1, 0.2], 0.3),
                                   ("box", [0.1, 0.2, 0.3], 0.3),
                                   ("ellipsoid", [0.1, 0.2, 0.3], 0.3),
                                   ("cylinder", [0.1, 0.2], 0.2)):
            r = self.ask({"model": "separating_plane", "params": {"s": 0.1}, "a":
                          {"geom": geom, "size": size, "pose": [3, 2, height + 0.05, 1, 0, 0, 0]},
                          "b": {"geom": "plane", "pose": [0, 0, 0, 1, 0, 0, 0]}})
            self.assertAlmostEqual(r["gap"], 0.05, places=9)
            self.assertGreater(r["value"], 0)
            self.assertLess(r["twist_gradient"][5], 0)

    def test_friction(self):
        slide = {"coefficient": 0.5, "dt": 0.01, "eps": 1e-8, "motion_b": [0, 0, 0, 0, 0.01, 0]}
        r = self.ask(changed(friction=slide))["friction"]
        self.assertGreater(r["value"], 0)
        self.assertLess(r["wrench_b"][4], 0)
        for k in range(3, 6):
            self.assertAlmostEqual(r["wrench_a"][k], -r["wrench_b"][k],
                                   delta=1e-6 * abs(r["wrench_b"][4]))
        paper = self.ask(changed(friction={**slide, "arms": "paper", "cap": "paper"}))["friction"]
        self.assertNotEqual(paper["value"], r["value"])
        still = self.ask(changed(friction={"coefficient": 0.5, "dt": 0.01}))["friction"]
        self.assertAlmostEqual(max(map(abs, still["wrench_b"])), 0, places=9)

    def test_file_and_list(self):
        path = self.write("q.json", [PAIR, changed(params__s=2), PAIR])
        code, out, err = self.run_cli("contact", path)
        self.assertEqual(code, 2)
        results = json.loads(out)["results"]
        self.assertEqual([r["status"] for r in results], ["ok", "error", "ok"])
        self.assertEqual(results[0], results[2])
        self.assertEqual(results[0], self.ask(PAIR))
        self.assertIn("params.s", results[1]["message"])
        self.assertEqual(len(err.splitlines()), 1)
        self.assertIn("[1]", err)
        self.assertEqual(self.ask([]), {"results": []})

    def test_bad_entries(self):
        box = {"geom": "box", "size": [1, 1, 1], "pose": [0, 0, 0, 1, 0, 0, 0]}
        bad = {
            "colour": changed(colour=1), "a.sides": changed(a__sides=3),
            "params.k": changed(params__k=1), "params.s": changed(params__s=0),
            "params.length_scale": changed(params__length_scale=-1),
            "a": changed(a=None), "b": changed(b=[1]),
            "a.vertices": changed(a__vertices=[]), "b.vertices": changed(b__vertices=None),
            "a.vertices[1]": changed(a__vertices=[[0, 0, 0], [1, 2]]),
            "a.vertices[0][2]": changed(a__vertices=[[0, 0, math.nan]]),
            "b.vertices[0][0]": changed(b__vertices=[["x", 0, 0]]),
            "a.radius": changed(a__radius=-1), "b.origin": changed(b__origin=[0, 0]),
            "hessian": changed(hessian=1), "model": changed(model="glue"),
            "a.geom": changed(a={**box, "geom": "teapot"}),
            "b.geom": changed(b={**box, "geom": "mesh"}),
            "a.size": changed(a={**box, "size": [1, 1]}),
            "a.pose": changed(a={**box, "pose": [0, 0, 0, 0, 0, 0, 0]}),
            "b.pose": changed(b={**box, "pose": [0, 0, 0, 1]}),
            "friction.dt": changed(friction={"coefficient": 1, "dt": 0}),
            "friction.coefficient": changed(friction={"dt": 1}),
            "friction.arms": changed(friction={"coefficient": 1, "dt": 1, "arms": "long"}),
            "friction.motion_a": changed(friction={"coefficient": 1, "dt": 1, "motion_a": [1]}),
            "friction.slip": changed(friction={"coefficient": 1, "dt": 1, "slip": 1}),
        }
        results = self.ask([PAIR, *bad.values(), 3], status=2)["results"]
        self.assertEqual(results[0]["status"], "ok")
        for name, r in zip(bad, results[1:]):
            self.assertEqual(r["status"], "error", name)
            self.assertTrue(r["message"].startswith(name + ":"), (name, r["message"]))
        self.assertEqual(results[-1]["status"], "error")
        plane = {"geom": "plane", "pose": [0, 0, 0, 1, 0, 0, 0]}
        self.assertEqual(self.ask(changed(a=plane, b=plane), status=2)["status"], "error")

    def test_triangles(self):
        """long_range sees triangles, and says what it went through; bad ones are refused."""
        vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
        faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
        box = {"geom": "box", "size": [0.5] * 3, "pose": [2, 0, 0, 1, 0, 0, 0]}

        def query(triangles=None, model="long_range", **more):
            own = {"vertices": vertices, **({"triangles": triangles} if triangles else {})}
            return {"model": model, "a": own, "b": box, **more}
        r = self.ask(query(faces, hessian=True))
        self.assertAlmostEqual(r["gap"], 0.5)
        self.assertTrue(0 < r["exact"] < r["visited"])
        self.assertEqual(len(r["twist_hessian"]), 12)
        self.assertAlmostEqual(sum(v[0] for v in r["gradient_a"]), r["twist_gradient"][3])
        self.assertAlmostEqual(self.ask(query())["value"] / r["value"], 1)  # those of the hull
        # two triangles' boxes far away, coefficient 1
        far = {**box, "pose": [9, 0, 0, 1, 0, 0, 0]}
        r = self.ask({**query(faces, params={"weighting": "paper", "eps": 0.1}), "b": far})
        apart = math.dist([0.25] * 3, [9, 0, 0])
        self.assertAlmostEqual(r["value"], 12 * (1 + apart ** -0.5) ** 2)
        self.assertEqual((r["visited"], r["exact"]), (1, 0))
        for bad, text in ((query(faces[:3]), "open"), (query([[0, 1, 4]]), "no vertex"),
                          (query(faces, model="penalty"), ""),
                          (query(faces, model="separating_plane"), "triangles"),
                          (query(faces, params={"weighting": "other"}), "weighting"),
                          (query(faces, params={"stiffness": -1}), "stiffness"),
                          (query(faces, friction={"coefficient": 1, "dt": 1}), "friction")):
            r = self.ask(bad, status=2)
            self.assertEqual(r["status"], "error")
            self.assertIn(text, r["message"])

    def test_tree(self):
        """Trees that are given, whatever their order: Algorithm 1 of the paper, where no two triangles
        are near each other."""
        vertices = [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]
        faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
        chain = [{"tri": 3}, {"tri": 1}, {"l": 0, "r": 1}, {"tri": 0}, {"l": 3, "r": 2}, {"tri": 2},
                 {"l": 4, "r": 5}]
        even = [{"tri": 0}, {"tri": 2}, {"tri": 1}, {"tri": 3}, {"l": 0, "r": 2}, {"l": 1, "r": 3},
                {"l": 4, "r": 5}]
        eps = 0.25

        def balls(tree, shift):
            out = []
            for node in tree:
                below = [] if "tri" in node else [out[node["l"]], out[node["r"]]]
                ids = {i for b in below for i in b[2]} or set(faces[node.get("tri", 0)])
                points = [[x + s for x, s in zip(vertices[i], shift)] for i in ids]
                x = [sum(p[k] for p in points) / len(points) for k in range(3)]
                R = (max(math.dist(x, b[0]) + b[1] for b in below) if below else
                     max(math.dist(x, p) for p in points))
                out.append((x, R, ids, below))
            return out[-1]

        def potential(a, b):
            r, d = math.dist(a[0], b[0]), a[1] + b[1]
            far, t = 12 * (1 + r ** -0.5) ** 2, (r / d - 1) / eps
            if t >= 1:
                return far
            self.assertTrue(a[3] or b[3])
            near = sum(potential(c, e) for c in a[3] or [a] for e in b[3] or [b])
            phi = t ** 3 * (6 * t * t - 15 * t + 10) if t > 0 else 0
            return (1 - phi) * near + phi * far

        values = set()
        for tree in (chain, even):
            for shift in ([0.23, 0.02, 0.01], [0.24, 0.02, 0.01], [0.25, 0.02, 0.01]):
                moved = [[x + s for x, s in zip(v, shift)] for v in vertices]
                shape = {"vertices": vertices, "triangles": faces, "tree": tree}
                r = self.ask({"model": "long_range", "params": {"weighting": "paper", "eps": eps},
                              "a": shape, "b": {**shape, "vertices": moved}})
                self.assertEqual(r["exact"], 0)
                wanted = potential(balls(tree, [0] * 3), balls(tree, shift))
                self.assertAlmostEqual(r["value"] / wanted, 1, 12)
                values.add(r["value"])
        self.assertEqual(len(values), 6)
        leaf, ring = {"tri": 0}, {"l": 0, "r": 1}
        for bad, text in (([leaf], "7 nodes"), ([leaf] * 6 + [ring], "no tree"), ([leaf, 1], "objects"),
                          ([{"tri": -1}], "from 0"), ([{"l": 1}], "from 0"), ({}, "tree"),
                          ([{"tri": 0, "l": 1}], "l"), (even[:6] + [{"l": 6, "r": 5}], "no tree"),
                          (even[:6] + [{"l": 4, "r": 4}], "no tree"),
                          (even[:6] + [{"l": 4, "r": 7}], "no tree")):
            r = self.ask({"model": "long_range", "a": {**shape, "tree": bad}, "b": shape}, status=2)
            self.assertIn(text, r["message"])

    def test_too_large(self):
        """Numbers whose products overflow are errors; what can be computed is computed."""
        ball = {"geom": "sphere", "size": [1], "pose": [0, 0, 0, 1, 0, 0, 0]}
        slide = {"coefficient": 0.5, "dt": 0.01}

        def away(x):
            return {**ball, "pose": [x, 0, 0, 1, 0, 0, 0]}
        bad = {
            "b: pose": changed(a=ball, b=away(1e300)), "a: pose": changed(a=away(-1e21), b=ball),
            "a: vertex 3": changed(a__vertices=[*CUBE[:3], [0, 1e300, 1]]),
            "b: radius": changed(b__radius=1e21), "b: origin": changed(b__origin=[0, 0, 1e200]),
            "a: size[0]": changed(a={**ball, "size": [1e30]}),
            "b: size[0]": changed(b={**ball, "size": [1e-200]}),
            "length_scale": changed(params__length_scale=1e-200),
            "friction: dt": changed(friction={**slide, "dt": 1e-300}),
            "friction: coefficient": changed(friction={**slide, "coefficient": 1e300}),
            "friction: motion_b[3]":
                changed(friction={**slide, "motion_b": [0, 0, 0, 1e300, 0, 0]}),
        }
        for name, query in bad.items():
            query.pop("hessian") if "geom" in query["a"] or "geom" in query["b"] else None
        for r, name in zip(self.ask(list(bad.values()), status=2)["results"], bad):
            self.assertEqual(r["status"], "error", name)
            self.assertTrue(r["message"].startswith(name), (name, r["message"]))
        huge = changed(params__length_scale=1e20)   # what is apart must not seem to overlap
        r = self.ask(huge, status=2)
        self.assertIn("length_scale is too large", r["message"])
        far = changed(a=ball, b=away(1e19))
        del far["hessian"]
        r = self.ask(far)
        self.assertAlmostEqual(r["gap"] / 1e19, 1, places=12)
        self.assertEqual(r["value"], 0)

    def test_not_json(self):
        for text in ("", "{", '{"a": }', "hello", "[1, 2] 3"):
            self.refused("contact", "-", stdin=text, names=["contact"])
        text = json.dumps(PAIR, indent=1)
        for old, new, where in (('"s": 0.1', '"s": 0.10.', ": params.s: '0.10.'"),
                                ('"radius": 0', '"radius": 00', ": a.radius: '00'"),
                                ('"a": {', '"a\\u0000": {', "NUL"),
                                ("1.06", "01.06", ": b.vertices[0][0]: '01.06'")):
            self.assertIn(old, text)
            path = self.write("q.json", text.replace(old, new, 1))
            self.refused("contact", path, names=["q.json: line ", ", column ", where])
        self.refused("contact", "-", stdin=text + "\0", names=["NUL"])

    def test_endless_device(self):
        if not os.path.exists("/dev/zero"):
            self.skipTest("no /dev/zero")

        with open(cli.BIN, "rb") as f:
            sanitized = b"__asan_init" in f.read()   # reserves terabytes

        def limit():
            if not sanitized:
                resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))
            resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
        scene = self.write("s.json", cli.SCENE)
        link = self.path("zero.json")
        os.symlink("/dev/zero", link)
        for arguments in (["contact", "/dev/zero"], ["simulate", link, "--time", "1"],
                          ["grad", "/dev/zero"],
                          ["simulate", scene, "--time", "1", "--ctrl", "/dev/zero"],
                          ["simulate", scene, "--time", "1", "--qpos", "/dev/zero"]):
            done = subprocess.run([cli.BIN, *arguments], stdout=subprocess.PIPE, text=True,
                                  stderr=subprocess.PIPE, preexec_fn=limit)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn("byte 1 is NUL", done.stderr)
            self.assertIn("zero", done.stderr)

    def test_missing(self):
        self.refused("contact", self.path("missing.json"), names=["missing.json"])


if __name__ == "__main__":
    unittest.main()
