#!/usr/bin/env python3
"""The command with MuJoCo scenes: inspect, convert, simulate in both engines, compare."""
import json
import os
import re
import unittest

from common import cli

XML = """<mujoco model="drop">
  <option timestep="0.002"/>
  <custom><numeric name="dijoco_tolerance" data="1e-5"/>%(custom)s</custom>
  <asset>%(asset)s</asset>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="box" pos="0 0 0.11">
      <freejoint name="root"/><geom name="cube" type="box" size="0.1 0.1 0.1"/>
    </body>
    <body name="arm" pos="0 1 1">
      <joint name="hinge" axis="1 0 0" %(joint)s/><geom name="rod" type="capsule" size="0.02 0.2"/>
    </body>
    %(body)s
  </worldbody>
  <actuator><motor name="motor" joint="hinge" ctrlrange="-1 1" ctrllimited="true"/></actuator>
  <keyframe><key name="high" qpos="0 0 1 1 0 0 0 0.5"/></keyframe>
</mujoco>
"""


def scene(**parts):
    return XML % {**dict.fromkeys(("custom", "asset", "joint", "body"), ""), **parts}


class Scenes(cli.Case):
    def setUp(self):
        super().setUp()
        self.scene = self.write("s.xml", scene())

    def rows(self, name):
        return cli.rows(self.path(name))

    def test_inspect(self):
        r = self.run_json("inspect", self.scene)
        sizes = r["sizes"]
        self.assertEqual([sizes[k] for k in ("nq", "nv", "nu", "na", "nbody", "njnt", "ngeom",
                                             "npair")], [8, 7, 1, 0, 3, 2, 3, 0])
        self.assertEqual(r["state"], "approximated")
        self.assertGreater(r["total_mass"], 8)
        for f in r["features"]:
            self.assertEqual(sorted(f), ["element", "feature", "note", "state"])
            self.assertIn(f["state"], ("approximated", "ignored"))
        code, text, _ = self.run_cli("inspect", self.scene, "--stiffness", "0.012345678")
        self.assertEqual(code, 0)
        self.assertLessEqual(max(map(len, text.splitlines())), 100)

    def test_ignored_features(self):
        glue = "<equality><weld name='glue' body1='box' body2='arm'/></equality></mujoco>"
        glued = scene().replace("</mujoco>", glue)
        own = self.run_json("inspect", self.write("own.xml", glued))   # which euler has
        self.assertFalse([f for f in own["features"] if f["element"].startswith("equality")])
        discrete = "<option integrator='discrete'/></mujoco>"
        weld = self.write("weld.xml", glued.replace("</mujoco>", discrete))
        r = self.run_json("inspect", weld, status=1)
        self.assertEqual(r["state"], "ignored")
        self.refused("simulate", weld, "--time", "0.1", names=["weld.xml", "glue"])
        self.refused("compare", weld, "--time", "0.1", "--out", self.path("d"), names=["glue"])
        self.run_json("simulate", weld, "--time", "0.1", "--allow-ignored")
        self.run_json("convert", weld, "--out", self.path("weld.json"))

    def test_convert_is_bitwise(self):
        out = self.path("s.json")
        self.run_json("convert", self.scene, "--out", out)
        for k, path in enumerate((self.scene, out)):
            self.run_json("simulate", path, "--time", "0.6", "--keyframe", "high", "--ctrl-seed",
                          "4", "--out", self.path("%d.csv" % k))
        with open(self.path("0.csv")) as a, open(self.path("1.csv")) as b:
            self.assertEqual(a.read(), b.read())

    def test_settings_of_the_scene(self):
        s = self.run_json("simulate", self.scene, "--time", "0")["settings"]
        self.assertEqual((s["timestep"], s["tolerance"]), (0.002, 1e-5))
        s = self.run_json("simulate", self.scene, "--time", "0", "--tolerance", "1e-3")["settings"]
        self.assertEqual(s["tolerance"], 1e-3)

    def test_mujoco_engine(self):
        r = self.run_json("simulate", self.scene, "--time", "1", "--engine", "mujoco", "--out",
                          self.path("m.csv"))
        for key in cli.RUN_KEYS:
            self.assertIn(key, r)
        for key in cli.SETTINGS:
            self.assertIn(key, r["settings"])
        self.assertEqual((r["engine"], r["steps"]), ("mujoco", 500))
        self.assertAlmostEqual(float(self.rows("m.csv")[-1]["qpos[2]"]), 0.1, delta=0.003)
        moved = self.run_json("simulate", self.scene, "--time", "1", "--engine", "mujoco", "--set",
                              "geom/cube/size=0.1,0.1,0.2", "--timestep", "0.004", "--keyframe",
                              "high", "--out", self.path("m.csv"))
        self.assertEqual(moved["steps"], 250)
        self.assertAlmostEqual(float(self.rows("m.csv")[-1]["qpos[2]"]), 0.2, delta=0.005)

    def test_plugin(self):
        """With its own contacts off and ours on, MuJoCo's box moves as ours does."""
        ours = ('<extension><plugin plugin="dijoco.contact"><instance name="dj"/></plugin>'
                '</extension><option><flag contact="disable"/></option><custom>')
        path = self.write("p.xml", scene().replace("<custom>", ours))
        last = {}
        for engine in ("dijoco", "mujoco"):
            out = self.path(engine + ".csv")
            self.run_json("simulate", path, "--time", "0.5", "--engine", engine, "--out", out)
            last[engine] = float(self.rows(engine + ".csv")[-1]["qpos[2]"])
        self.assertAlmostEqual(last["mujoco"], 0.1, delta=0.001)
        self.assertAlmostEqual(last["mujoco"], last["dijoco"], delta=1e-9)

    def test_compare(self):
        out = self.path("cmp")
        s = self.run_json("compare", self.scene, "--time", "0.5", "--ctrl-seed", "1", "--out", out)
        self.assertEqual(sorted(os.listdir(out)), ["contacts.csv", "dijoco.csv", "mujoco.csv",
                                                   "report.html", "summary.json"])
        with open(os.path.join(out, "summary.json")) as f:
            self.assertEqual(json.load(f), s)
        for engine in ("dijoco", "mujoco"):
            for key in cli.RUN_KEYS:
                self.assertIn(key, s[engine])
            self.assertEqual(s[engine]["steps"], 250)
            self.assertEqual(len(self.rows("cmp/%s.csv" % engine)), 251)
        d = s["difference"]
        self.assertEqual(set(d["position"]) >= {"max", "at_time", "body"}, True)
        self.assertEqual(set(d["rotation"]) >= {"max", "at_time", "body"}, True)
        self.assertEqual(set(d["contact_force"]) >= {"max", "at_time", "body1", "body2",
                                                     "mean_last_half"}, True)
        for key in ("position", "rotation", "qvel", "energy", "contact_force"):
            self.assertGreaterEqual(cli.number(d[key]["max"]), 0)
        self.assertLess(d["position"]["max"], 0.01)

    def test_compare_contacts(self):
        self.run_json("compare", self.scene, "--time", "1", "--out", self.path("cmp"))
        contacts = self.rows("cmp/contacts.csv")
        self.assertEqual(list(contacts[0]), ["time", "engine", "body1", "body2", "fx", "fy", "fz"])
        weight = 8 * 9.81  # 0.2 m cube at MuJoCo's default density
        for engine in ("dijoco", "mujoco"):
            last = [r for r in contacts if r["engine"] == engine][-1]
            self.assertEqual((last["body1"], last["body2"]), ("0", "1"))
            self.assertAlmostEqual(float(last["fz"]), weight, delta=0.02 * weight)
            self.assertAlmostEqual(float(last["time"]), 1, places=6)

    def test_compare_starts_alike(self):
        s = self.run_json("compare", self.scene, "--time", "0.1", "--keyframe", "high",
                          "--ctrl-seed", "2", "--out", self.path("cmp"))
        a, b = self.rows("cmp/dijoco.csv"), self.rows("cmp/mujoco.csv")
        self.assertEqual(a[0], b[0])
        self.assertAlmostEqual(s["dijoco"]["energy_first"], s["mujoco"]["energy_first"], places=9)
        self.assertLess(s["difference"]["position"]["max"], 0.02)

    def test_report(self):
        self.run_json("compare", self.scene, "--time", "0.3", "--out", self.path("cmp"))
        html = cli.read(self.path("cmp/report.html"))
        self.assertGreaterEqual(len(re.findall(r"<svg|<img", html)), 3)
        self.assertIsNone(re.search(r"https?://|<script|<link|@import", html))

    def test_limits(self):
        arguments = ["compare", self.scene, "--time", "0.3", "--out", self.path("cmp")]
        self.assertEqual(self.run_cli(*arguments, "--max-position", "10")[0], 0)
        self.assertEqual(self.run_cli(*arguments, "--max-position", "1e-12")[0], 1)
        self.assertEqual(self.run_cli(*arguments, "--max-rotation", "1e-15")[0] in (0, 1), True)
        self.assertIn("report.html", os.listdir(self.path("cmp")))

    def test_gravity_ramp(self):
        ramp = self.write("ramp.xml", scene(
            custom='<numeric name="dijoco_gravity_ramp" data="0.2"/>'))
        self.run_json("compare", ramp, "--time", "0.1", "--keyframe", "high", "--out",
                      self.path("cmp"))
        for engine in ("dijoco", "mujoco"):
            last = self.rows("cmp/%s.csv" % engine)[-1]
            steps = 50
            expected = -9.81 * 0.002 * sum(k * 0.002 / 0.2 for k in range(steps))
            self.assertAlmostEqual(float(last["qvel[2]"]), expected, places=6)

    def test_bad_scenes(self):
        def no(name, content, *names):
            path = self.write(name, content)
            self.refused("inspect", path, names=[name])
            self.refused("simulate", path, "--time", "1", "--out", self.path("x.csv"),
                         names=[name, *names])
            self.refused("convert", path, "--out", self.path("x.json"), names=[name])
            self.refused("compare", path, "--time", "1", "--out", self.path("x"), names=[name])

        no("half.xml", scene()[:300])
        no("mesh.xml", scene(asset='<mesh name="cup" file="nowhere.stl"/>'), "nowhere.stl")
        no("size.xml", scene(body='<geom name="odd" type="box" size="1 -1 1"/>'))
        no("word.xml", scene(joint='colour="red"'), "colour")
        for name, value in (("support", "2"), ("stiffness", "-1"), ("skin", "-1")):
            no("number.xml", scene(custom='<numeric name="dijoco_%s" data="%s"/>' % (name, value)),
               "dijoco_" + name)
        no("custom.xml", scene(custom='<numeric name="dijoco_colour" data="1"/>'), "dijoco_colour")
        no("empty.xml", "")
        self.refused("simulate", self.path("none.xml"), "--time", "1", names=["none.xml"])
        self.refused("inspect", self.write("bad.mjb", "hello"), names=["bad.mjb"])

    def test_compare_leaves_nothing(self):
        out = self.path("new/folder")
        self.refused("compare", self.scene, "--time", "0.1", "--out", out, "--qpos",
                     self.write("q.txt", "1 2"), names=["q.txt"])
        taken = self.write("taken", "")
        self.refused("compare", self.scene, "--time", "0.1", "--out", taken, names=["taken"])
        json_scene = self.path("s.json")
        self.run_json("convert", self.scene, "--out", json_scene)
        self.refused("compare", json_scene, "--time", "0.1", "--out", out, names=["s.json"])

    def test_no_room_for_a_comparison(self):
        """All files of the folder, or none."""
        sizes = [0, 77, 500, 1001, 5000, 20001, 50000, 1 << 24]
        old = self.path("old")
        os.mkdir(old)
        for name in ("report.html", "mujoco.csv"):
            self.write("old/" + name, "what was there before\n")
        for out in (self.path("new/folder"), old):
            refused = self.no_room(["compare", self.scene, "--time", "0.1", "--out", out],
                                   self.folder.name, sizes)
            self.assertGreater(refused, 4)
            self.assertEqual(sorted(os.listdir(out)), ["contacts.csv", "dijoco.csv", "mujoco.csv",
                                                       "report.html", "summary.json"])

    def test_bench_pairs(self):
        """--pairs FILE: before the timing, and as every other file."""
        self.refused("bench", "--filter", "nothing", "--pairs", self.path("none/x"),
                     names=[self.path("none/x")])
        self.refused("bench", "--filter", "nothing", "--pairs", self.folder.name,
                     names=[self.folder.name])
        if os.path.exists("/dev/full"):
            self.refused("bench", "--filter", "nothing", "--pairs", "/dev/full",
                         names=["/dev/full"])
        self.write("pairs", "what was there before\n")
        os.symlink("pairs", self.path("link"))
        before = self.files()
        code, _, err = self.run_cli("bench", "--filter", "nothing", "--pairs", self.path("link"))
        self.assertEqual(code, 0, err)
        with open(self.path("pairs")) as f:
            self.assertIsInstance(json.load(f), list)
        self.assertTrue(os.path.islink(self.path("link")))
        self.assertEqual(self.files(), before)


if __name__ == "__main__":
    unittest.main()
