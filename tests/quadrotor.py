#!/usr/bin/env python3
"""The example quadrotor_path: a path that it finds is shorter than its first one, and free of
collisions by the command's own queries; derivatives; files; bad input. Skipped without
NLopt or cJSON."""
import json
import os
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree

from common import cli

BUILD, WORK = os.environ["DIJOCO_BUILD"], os.path.join(os.environ["TMPDIR"], "quadrotor")
EXAMPLES = os.path.join(cli.SOURCE, "examples")
SCENE = os.path.join(cli.SOURCE, "models/implicit/quadrotor/scene.json")
PROGRAM = os.path.join(WORK, "quadrotor_path")
BETWEEN = 6          # places between two knots
PROBE = "#include <nlopt.h>\n#include <cjson/cJSON.h>\nint main(void) {" \
        " nlopt_destroy(0); cJSON_Delete(0); return 0; }\n"


def compile_program(*arguments):
    command = [os.environ["DIJOCO_CC"], "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror",
               *arguments, "-lnlopt", "-lcjson", "-lm"]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def build():
    """False: a library that the example needs is not there."""
    os.makedirs(WORK, exist_ok=True)
    probe = os.path.join(WORK, "probe.c")
    cli.put(probe, PROBE)
    if compile_program(probe, "-o", probe[:-2]).returncode != 0:
        return False
    parts = os.path.join(EXAMPLES, "quadrotor")
    sources = [os.path.join(parts, name) for name in sorted(os.listdir(parts))
               if name.endswith(".c")]
    lib = os.path.join(BUILD, "lib")
    done = compile_program("-I" + os.path.join(cli.SOURCE, "core/include"),
                           os.path.join(EXAMPLES, "quadrotor_path.c"), *sources, "-L" + lib,
                           "-Wl,-rpath," + lib, "-ldijoco", "-o", PROGRAM)
    if done.returncode != 0:
        sys.exit(done.stdout)
    return True


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], cwd=EXAMPLES, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)


def numbers(text, line):
    """All numbers of the line that begins so."""
    found = re.search(r"(?m)^%s: (.*)$" % line, text)
    return [float(x) for x in re.findall(r"-?\d[\d.]*(?:e[-+]\d+)?", found.group(1))]


class Quadrotor(cli.Case):
    @classmethod
    def setUpClass(cls):
        cls.out = os.path.join(WORK, "out")
        cls.done = run("--seed", "3", "--check", "--out", cls.out)
        with open(SCENE) as f:
            cls.scene = json.load(f)
        rows = cli.rows(os.path.join(cls.out, "path.csv"))
        cls.first = [[float(r["first_" + k]) for k in "xyz"] for r in rows]
        cls.last = [[float(r[k]) for k in "xyz"] for r in rows]
        cls.alpha = [float(r["alpha"]) for r in rows]

    def least_alphas(self, path):
        """By `dijoco contact`: for each knot, of all obstacles, from there to the next knot."""
        places, knots = [], []
        for i, p in enumerate(path):
            q = path[min(i + 1, len(path) - 1)]
            for n in range(BETWEEN + 1):
                t = n / (BETWEEN + 1)
                places.append([a + t * (b - a) for a, b in zip(p, q)])
                knots.append(i)
        queries = [{"model": "implicit_surface", "a": obstacle,
                    "b": {**self.scene["quadrotor"], "pose": place + [1, 0, 0, 0]}}
                   for place in places for obstacle in self.scene["obstacles"]]
        code, out, err = self.run_cli("contact", "-", stdin=json.dumps(queries))
        self.assertEqual(code, 0, err)
        found = [r["alpha"] for r in json.loads(out)["results"]]
        self.assertEqual(len(found), len(queries))
        n = len(self.scene["obstacles"])
        least = [float("inf")] * len(path)
        for k, i in enumerate(knots):
            least[i] = min(least[i], *found[n * k:n * (k + 1)])
        return least

    def test_scene(self):
        """Obstacles of all four families at the published sharpness, and in the way."""
        families = {o["shape"] for o in self.scene["obstacles"]}
        self.assertEqual(len(self.scene["obstacles"]), 8)
        self.assertLessEqual({"smooth_polytope", "truncated_cone", "superellipsoid",
                              "superelliptic_cylinder"}, families)
        for o in self.scene["obstacles"]:
            self.assertEqual(o["beta"] if "beta" in o else o["n"], 20 if "beta" in o else 8)
        self.assertLess(self.least_alphas([self.scene["start"], self.scene["goal"]])[0], 0.9)

    def test_claims(self):
        self.assertEqual(self.done.returncode, 0, self.done.stderr + self.done.stdout)
        self.assertEqual(self.done.stderr, "")
        text = self.done.stdout
        self.assertIn("\nstatus: converged, constraints hold\n", text)
        before, after = numbers(text, "length")
        straight = sum((a - b) ** 2 for a, b in zip(self.scene["start"], self.scene["goal"])) ** .5
        self.assertLess(after, before)
        self.assertGreater(after, straight)
        cost = numbers(text, "cost")
        self.assertLess(cost[1], cost[0])
        for line in "before", "after":
            for alpha in numbers(text, "least alpha " + line):
                self.assertGreaterEqual(alpha, 1 + self.scene["margin"] - 1e-6)
        for error in numbers(text, "error of derivatives"):
            self.assertLess(error, 1e-5)

    def test_path(self):
        """What path.csv holds, by the command."""
        margin = self.scene["margin"]
        for path in self.first, self.last:
            self.assertEqual(len(path), self.scene["knots"])
            self.assertEqual(path[0], self.scene["start"])
            self.assertEqual(path[-1], self.scene["goal"])
            self.assertGreaterEqual(min(self.least_alphas(path)), 1 + margin - 1e-6)
            for p in path:
                for k in range(3):
                    self.assertGreaterEqual(p[k], self.scene["bounds"][0][k] - 1e-6)
                    self.assertLessEqual(p[k], self.scene["bounds"][1][k] + 1e-6)
        for least, seen in zip(self.alpha, self.least_alphas(self.last)):
            self.assertLessEqual(least, seen + 1e-9)
            self.assertLess(seen - least, 0.05)
        self.assertLess(min(self.alpha), 1 + margin + 1e-6)   # it is as near as it may be

    def test_picture(self):
        root = ElementTree.parse(os.path.join(self.out, "path.svg")).getroot()
        name = "{http://www.w3.org/2000/svg}"
        lines = [line.get("points").split() for line in root.iter(name + "polyline")]
        self.assertEqual([len(line) for line in lines], [self.scene["knots"]] * 4)
        outlines = list(root.iter(name + "polygon"))
        self.assertEqual(len(outlines), 2 * (len(self.scene["obstacles"]) + 1))
        self.assertEqual(len(list(root.iter(name + "use"))), 2 * self.scene["knots"])
        self.assertGreater(min(len(o.get("points").split()) for o in outlines), 20)

    def test_differences(self):
        """The same path without derivatives, for many more queries."""
        done = run("--seed", "3", "--no-derivatives")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertAlmostEqual(numbers(done.stdout, "cost")[1],
                               numbers(self.done.stdout, "cost")[1], places=4)
        self.assertGreater(numbers(done.stdout, "collision queries")[0],
                           20 * numbers(self.done.stdout, "collision queries")[0])

    def test_bad_input(self):
        for arguments in ["--seed"], ["--seed", "x"], ["--nonsense"], ["a", "b"], ["--out"]:
            done = run(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertIn("usage", done.stderr)
        for change, text in ({"obstacles": []}, "obstacles"), ({"start": [0, 0]}, "start"), \
                ({"goal": [9, 0, 1]}, "bounds"), ({"bending": 0}, "bending"), \
                ({"knots": 2.5}, "knots"), ({"quadrotor": {"shape": "x"}}, "unknown family"), \
                ({"start": self.scene["obstacles"][6]["pose"][:3]}, "start: too near"), \
                ({"obstacles": [{**self.scene["obstacles"][0], "beta": 0}]}, "obstacles[0]"), \
                ({"rrt": {**self.scene["rrt"], "samples": 1}}, "no way was found"):
            path = self.write("bad.json", {**self.scene, **change})
            done = run(path)
            self.assertNotEqual(done.returncode, 0, change)
            self.assertIn(text, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)
        self.assertEqual(run(self.path("nothing.json")).returncode, 2)


if __name__ == "__main__":
    if os.environ["DIJOCO_FLAVOUR"] != "release" or not build():
        sys.exit(77)
    unittest.main()
