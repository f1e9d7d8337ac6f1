#!/usr/bin/env python3
"""Signals and progress of the verbs that need MuJoCo: compare, bench, scenes with large meshes."""
import json
import os
import signal
import unittest

from common import cli, interrupt

STACK = os.path.join(cli.SOURCE, "models/book_stacking/scene.xml")


class Verb(interrupt.Case):
    def test_compare(self):
        out = self.path("out")
        self.run_json("compare", STACK, "--time", "0.01", "--out", out)
        before = self.contents()
        for number in (signal.SIGINT, signal.SIGTERM):
            t = interrupt.Terminal("compare", STACK, "--time", "1e5", "--out", out, "--quiet")
            t.wait_for(interrupt.ESTIMATE)
            t.run.send_signal(number)
            self.assertEqual(t.finish(), (-number, ""))
            self.assertEqual(t.screen(), "")
            self.check_estimates(t)
            self.assertEqual(self.contents(), before)

    def test_bench_prints_what_it_has(self):
        pairs = self.write("pairs.json", "earlier")
        before = self.contents()
        t = interrupt.Terminal("bench", "--json", "--pairs", pairs)
        t.wait_for(r"[2-9] of \d\d: ")
        t.run.send_signal(signal.SIGTERM)
        code, out = t.finish()
        self.assertEqual(t.screen(), "")
        self.check_estimates(t)
        r = json.loads(out)
        names = [x["name"] for x in r["results"]]
        self.assertEqual((code, r["interrupted"]), (1, True))
        self.assertTrue(names)
        self.assertFalse([n for n in names if n.startswith("rollout")])   # the last ones
        self.assertEqual(self.contents(), before)

    def test_bench_at_once(self):
        t = interrupt.Terminal("bench", "--filter", "stack", "--json")
        t.wait_for(r"timing: .*stack/40")   # which lasts for seconds
        t.run.send_signal(signal.SIGTERM)
        t.wait_for(r"again: at once")
        t.run.send_signal(signal.SIGTERM)
        self.assertEqual(t.finish(), (-signal.SIGTERM, ""))
        self.assertEqual(t.screen(), "")

    def ball(self, n, attributes=""):
        """A scene with a mesh of n points."""
        points = " ".join("%.9g %.9g %.9g" % p for p in interrupt.sphere(n))
        return self.write(
            "ball.xml", "<mujoco><asset><mesh name='ball' vertex='%s'/></asset><worldbody>"
            "<geom type='plane' size='1 1 1'/><body pos='0 0 1'><freejoint/>"
            "<geom type='mesh' mesh='ball' %s/></body></worldbody></mujoco>" % (points, attributes))

    def end_convert(self, scene, pattern):
        before = self.contents()
        t = interrupt.Terminal("convert", scene, "--out", self.path("ball.json"))
        t.wait_for(pattern)
        t.run.send_signal(signal.SIGTERM)
        self.assertEqual(t.finish(), (-signal.SIGTERM, ""))
        self.assertEqual(t.screen(), "")
        self.assertEqual(self.contents(), before)

    def test_convert(self):
        self.end_convert(self.ball(120000), r"making hulls of meshes: " + interrupt.ESTIMATE.pattern)

    def test_compile(self):
        """What MuJoCo's compiler does has no estimate."""
        self.end_convert(self.ball(400000, "contype='0' conaffinity='0'"), r"loading the scene: \d")


if __name__ == "__main__":
    unittest.main()
