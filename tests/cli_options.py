#!/usr/bin/env python3
"""Usage: help, version, options anywhere, and what wrong usage ends with."""
import os
import re
import subprocess
import unittest

from common import cli

VERBS = ["inspect", "convert", "simulate", "compare", "decompose", "contact", "grad", "optimize",
         "sweep", "replay", "bench", "help"]


class Options(cli.Case):
    def test_version(self):
        code, out, _ = self.run_cli("--version")
        self.assertEqual(code, 0)
        self.assertTrue(re.fullmatch(r"dijoco \d+\.\d+\.\d+ "
                                     r"\((MuJoCo \d+\.\d+\.\d+|without MuJoCo)\)\n", out), out)

    def test_help(self):
        code, out, _ = self.run_cli("--help")
        self.assertEqual(code, 0)
        self.assertEqual(self.run_cli("help"), (0, out, ""))
        for verb in VERBS:
            self.assertIn(verb, out)
            code, text, _ = self.run_cli(verb, "--help")
            self.assertEqual(code, 0)
            self.assertEqual(self.run_cli("help", verb), (0, text, ""))
            self.assertTrue(text.startswith("dijoco " + verb), text)
            self.assertLessEqual(max(map(len, text.splitlines())), 100, text)

    def test_help_has_all_options(self):
        # What a verb takes is in its help. "--x" is no option, so that nothing runs.
        with open(os.path.join(os.environ["DIJOCO_SOURCE"], "tools/options.c")) as file:
            names = set(re.findall(r'^    {"(--[a-z-]+)"', file.read(), re.M))
        self.assertGreater(len(names), 30)
        for verb in VERBS:
            help = self.run_cli(verb, "--help")[1]
            for name in names - {"--help"}:
                error = self.run_cli(verb, name, "--x", "--x")[2]
                taken = f"{name}: unknown option" not in error
                self.assertEqual(taken, f"\n  {name} " in help, (verb, name, error))

    def test_options_anywhere(self):
        scene = self.write("s.json", cli.SCENE)
        first = self.run_json("simulate", scene, "--time", "0.1")
        for arguments in (["--time", "0.1", "simulate", scene], ["simulate", "--time=0.1", scene],
                          ["simulate", "--time", "0.1", "--", scene]):
            other = self.run_json(*[a for a in arguments if a != "--"])
            self.assertEqual(other["energy_last"], first["energy_last"])

    def test_full_standard_output(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        scene = self.write("s.json", cli.SCENE)
        with open("/dev/full", "w") as full:
            run = subprocess.run([cli.BIN, "inspect", scene, "--json"], stdout=full,
                                 stderr=subprocess.PIPE, text=True)
        self.assertEqual(run.returncode, 1)
        self.assertEqual(len(run.stderr.splitlines()), 1)

    def test_wrong_usage(self):
        scene = self.write("s.json", cli.SCENE)
        self.refused(names=["verb"])
        self.refused("fly", names=["fly"])
        self.refused("simulate", names=["SCENE"])
        self.refused("simulate", scene, names=["--time"])
        self.refused("simulate", scene, "--time", names=["--time"])
        self.refused("simulate", scene, "extra", "--time", "1", names=["extra"])
        self.refused("simulate", scene, "--time", "1", "--wings", names=["--wings"])
        self.refused("simulate", scene, "--time", "1", "--json=yes", names=["--json"])
        self.refused("compare", scene, "--time", "1", names=["--out"])
        self.refused("convert", scene, names=["--out"])

    def test_given_twice(self):
        scene = self.write("s.json", cli.SCENE)
        run = ["simulate", scene, "--time", "0.01"]
        for option in (["--time=0.01"], ["--json", "--json"], ["--skin", "0.001", "--skin=0.001"],
                       ["--contact", "none", "--contact", "separating_plane"],
                       ["--every", "1", "--every", "2"], ["--allow-ignored"] * 2,
                       ["--out", self.path("a.csv"), "--out", self.path("b.csv")]):
            self.refused(*run, *option, names=[option[0].split("=")[0] + ": is given twice"])
        sets = ["--set", "geom/cube/size=0.1,0.1,0.1", "--set", "geom/cube/size=0.1,0.1,0.2"]
        self.assertEqual(self.run_cli(*run, *sets)[0], 0)

    def test_wrong_values(self):
        scene = self.write("s.json", cli.SCENE)
        for option, values in {
                "--time": ["-1", "nan", "inf", "soon", "1x", ""],
                "--timestep": ["0", "-1", "nan", "1e-300", "1e21"],
                "--support": ["0", "1", "-0.1", "nan", "1e-21"],
                "--length-scale": ["0", "1e300", "1e-300"],
                "--stiffness": ["0", "-1", "inf", "1e61"], "--skin": ["-1"],
                "--friction-eps": ["0"], "--tolerance": ["0", "nan"], "--contact": ["glue"],
                "--integrator": ["leapfrog"], "--overlap": ["maybe"], "--every": ["0", "1.5", "-1"],
                "--threads": ["0"], "--gravity-ramp": ["-1"], "--engine": ["bullet"],
                "--ctrl-seed": ["-1", "x"], "--keyframe": ["none", "1", "-1", ""],
                "--set": ["geom/cube/size", "=1", "geom/cube/size=1,1", "geom/cube/size=1,1,x",
                          "geom/cube/size=1,1,-1", "geom/no/size=1,1,1", "geom/cube/colour=1",
                          "cube=1", "body/box/mass=nan"]}.items():
            for value in values:
                arguments = ["simulate", scene, option, value, "--out", self.path("out.csv")]
                if option != "--time":
                    arguments += ["--time", "0.01"]
                with self.subTest(option=option, value=value):
                    err = self.refused(*arguments)
                    name = value.split("=")[0] if "/" in value else option
                    self.assertTrue(option in err or name in err, err)


if __name__ == "__main__":
    unittest.main()
