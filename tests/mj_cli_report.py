#!/usr/bin/env python3
"""What the command tells of features that are not as in MuJoCo: a line each, once, with its size;
what inspect begins with; the steps of a run that went otherwise than they should."""
import re
import unittest

from common import cli

BALL = ("<geom name='floor' type='plane' size='0 0 1' {floor}/><body name='b' pos='0 0 {z}'>"
        "<freejoint/><geom name='ball' size='.1' {ball}/></body>")
# A block with a notch of a fourth of it, which is as deep as its middle.
NOTCHED = ("<asset><mesh name='x' scale='.1 .1 .1' vertex='-1 -1 -1 1 -1 -1 1 1 -1 -1 1 -1 -1 -1 1 "
           "1 -1 1 1 1 1 -1 1 1 0 -1 0 0 1 0' face='0 3 2 0 2 1 0 8 4 0 1 8 1 5 8 2 3 9 3 7 9 2 9 "
           "6 1 2 6 1 6 5 0 4 7 0 7 3 4 8 9 4 9 7 5 6 9 5 9 8'/></asset>")
# A tetrahedron, and one beside it; a vertex that no face has.
PIECES = ("<asset><mesh name='x' inertia='convex' scale='.1 .1 .1' vertex='0 0 0 1 0 0 0 1 0 0 0 1 "
          "2 0 0 3 0 0 2 1 0 2 0 1 1 .1 .1' face='0 2 1 0 1 3 0 3 2 1 2 3 4 6 5 4 5 7 4 7 6 5 6 7'/>"
          "</asset>")
DECLARED = "<extension><plugin plugin='dijoco.contact'>%s</plugin></extension>"
CLEAN = ("<mujoco><worldbody><body><joint damping='1' stiffness='2'/><geom size='.1' contype='0' "
         "conaffinity='0'/></body></worldbody></mujoco>")


class Report(cli.Case):
    def scene(self, head="", floor="", ball="", z=.2, rest="", body=None):
        world = BALL.format(floor=floor, ball=ball, z=z) if body is None else body
        return self.write("s.xml", "<mujoco>%s<worldbody>%s</worldbody>%s</mujoco>"
                          % (head, world, rest))

    def told(self, scene, *more):
        """What a run says on stderr, lines joined again."""
        code, out, err = self.run_cli("simulate", scene, "--time", "0.004", *more)
        self.assertEqual(code, 0, err)
        return re.sub(r"\n    ", " ", err), out

    def test_each_feature_once_with_its_size(self):
        penalty = "<custom><text name='dijoco_contact' data='penalty'/></custom>"
        pair = "<contact><pair geom1='floor' geom2='ball' friction='1 .5 .1 0 0'/></contact>"
        mesh = BALL.replace("size='.1' {ball}", "type='mesh' mesh='x'").format(floor="", z=.3)
        for scene, line in (
                (dict(ball="condim='4'", rest=penalty), "condim of geom/ball: points of penalty"),
                (dict(rest=pair + penalty), "friction of pair/#0: of the two tangential "
                                            "coefficients, 1 and 0.5, points"),
                (dict(head=NOTCHED, body=mesh), "mesh of geom/ball: the mesh acts as its convex hull, "
                 "of 1.33 times its volume, which fills dents 0.1 m deep (`dijoco decompose`"),
                (dict(head=PIECES, body=mesh), "mesh of geom/ball: the mesh acts as its convex hull, "
                 "of 3.5 times its volume, which fills dents 24 mm deep (`dijoco decompose` cuts it into "
                 "hulls, --method shells each of its 2 pieces into one, contact model"),
                (dict(), "solref of 2 geoms, most at geom/floor: MuJoCo's bodies sink in by about "
                         "0.37 mm under their weight (41.1 N on one contact)"),
                (dict(floor="solimp='.015 1 .022'", ball="solimp='.015 1 .022'"),
                 "solimp of 2 geoms, most at geom/floor: MuJoCo's bodies rebound with 0.24 of 1 m/s, "
                 "these with 0")):
            with self.subTest(line=line):
                path = self.scene(**scene)
                err, _ = self.told(path)
                self.assertEqual(err.count("\n  " + line), 1, err)
                self.assertEqual(err.count("\n  " + line.split(":")[0]), 1, err)
                self.assertTrue(err.startswith("dijoco simulate: %s: not as in MuJoCo" % path), err)
        self.assertNotIn("mesh of", self.told(self.scene(head=NOTCHED, body=mesh), "--contact",
                                              "penalty")[0])

    def test_a_plugin_without_an_instance(self):
        off = "<option><flag contact='disable'/></option>"
        line = "\n  contact: contact is disabled, and the extension dijoco.contact has no instance"
        for head, expected in ((DECLARED % "" + off, 1), (DECLARED % "<instance name='i'/>" + off, 0),
                               (DECLARED % "", 0), (off, 0)):
            err, _ = self.told(self.scene(head=head))
            self.assertEqual(err.count(line), expected, err)
        # an included file has it, and settings of the command line leave it
        self.write("i.xml", "<mujoco>%s%s</mujoco>" % (DECLARED % "", off))
        err, _ = self.told(self.scene(head="<include file='i.xml'/>"), "--friction-eps", "1e-7")
        self.assertEqual(err.count(line), 1, err)

    def test_where_it_is_told(self):
        path = self.scene()
        out = self.run_cli("simulate", path, "--time", "0.004", "--json")
        self.assertIn("solref of 2 geoms", out[2])       # on stderr; run_json checks stdout
        self.run_json("simulate", path, "--time", "0.004")
        self.assertEqual(self.told(path, "--quiet")[0], "")
        self.assertEqual(self.told(path, "--engine", "mujoco")[0], "")
        clean = self.write("clean.xml", CLEAN)
        self.assertEqual(self.told(clean)[0], "")
        self.run_json("convert", path, "--out", self.path("s.json"))
        self.assertEqual(self.told(self.path("s.json"))[0], "")
        for verb in (("compare", path, "--time", "0.004", "--out", self.path("c")),
                     ("convert", path, "--out", self.path("t.json"))):
            code, _, err = self.run_cli(*verb)
            self.assertEqual((code, err.count("solref of 2 geoms")), (0, 1), err)
            self.assertEqual(self.run_cli(*verb, "--quiet")[2], "")
        # limits and friction loss are MuJoCo's own where the integrator has them as rows
        rows = self.write("rows.xml", CLEAN.replace("<joint ", "<joint limited='true' range='-1 1' "
                                                    "frictionloss='.1' "))
        self.assertRegex(self.told(rows, "--integrator", "position")[0],
                         "(?s)frictionloss of.*range of|range of.*frictionloss")
        self.assertEqual(self.told(rows)[0], "")
        # what is refused says that alone
        self.refused("simulate", path, "--time", "1", "--ctrl", self.path("none.csv"))
        wrong = self.write("q.txt", "1 2")
        self.refused("simulate", path, "--time", "1", "--qpos", wrong)

    def test_tasks(self):
        self.scene()
        for names in (("one",), ("one", "two")):         # scenes are told once each
            task = {"horizon": 2, "variables": [{"name": "qvel0"}], "scene": "s.xml",
                    "loss": [{"type": "com", "target": [0, 0, 0]}],
                    "optimizer": {"type": "adam", "iterations": 1}}
            if len(names) > 1:
                task["scenes"] = [{"name": n} for n in names]
            path = self.write("t.json", task)
            for verb in (("grad", path), ("optimize", path, "--out", self.path("o"))):
                code, _, err = self.run_cli(*verb)
                self.assertEqual((code, err.count("solref of 2 geoms")), (0, 1), err)
            self.assertEqual(self.run_cli("grad", path, "--quiet")[2], "")

    def test_inspect_begins_with_it(self):
        path = self.scene(ball="condim='6'", rest="<equality><connect body1='b' anchor='0 0 0'/>"
                          "</equality><custom><text name='dijoco_integrator' data='position'/>"
                          "</custom>")
        code, out, err = self.run_cli("inspect", path)
        self.assertEqual((code, err), (1, ""))
        lines = re.sub(r"\n    ", " ", out).splitlines()
        self.assertEqual(lines[0], path + ": ignored")
        self.assertTrue(lines[1].startswith("  connect of equality/#0 is ignored: "), lines)
        self.assertEqual([x.split()[0] for x in lines[2:5]], ["solref", "cone:", "coverage:"])
        self.assertEqual(lines[4], "coverage: 8 features exact, 3 approximated, 1 ignored")
        r = self.run_json("inspect", path, status=1)
        self.assertEqual(r["coverage"], {"exact": 8, "approximated": 3, "ignored": 1})
        self.assertEqual(len(r["features"]), 4)
        self.assertEqual(["  " + x for x in r["warnings"]], lines[1:4])

    def test_inspect_groups(self):
        balls = "".join("<body pos='%d 0 1'><freejoint/><geom name='g%d' size='.1'/></body>"
                        % (k, k) for k in range(30))
        path = self.scene(body="<geom type='plane' size='0 0 1'/>" + balls,
                          head="<default><geom solref='.02 .5'/></default>")
        out = self.run_cli("inspect", path)[1]
        self.assertEqual(out.count("restitution 0.2984"), 1)
        self.assertIn("contact of geom #0 and 30 more (--all): restitution 0.2984", out)
        self.assertLess(len(out.splitlines()), 35)
        self.assertIn("geom/g4 and 25 more (--all)", out)
        out = self.run_cli("inspect", path, "--all")[1]
        self.assertEqual(out.count(": restitution 0.2984"), 31)
        for k in range(30):
            self.assertIn("geom/g%d" % k, out)
        self.assertNotIn("more (--all)", out)

    def test_steps_that_went_otherwise(self):
        deep = self.scene(z=.05)
        out = self.told(deep)[1]
        self.assertEqual(out.splitlines()[-1],
                         "warning: 2 began with bodies that overlapped (of 2 steps)")
        self.assertNotIn("warning", self.told(self.scene())[1])
        loose = self.run_cli("simulate", self.scene(z=.1003), "--time", ".1", "--quiet",
                             "--integrator", "position", "--max-iterations", "1")
        last = loose[1].splitlines()[-1]
        self.assertEqual(loose[0], 1)
        self.assertRegex(last, r"^warning: \d+ did not converge")
        r = self.run_json("simulate", self.scene(z=.05), "--time", "0.004")
        self.assertEqual((r["recovering_steps"], r["fallback_steps"]), (2, 0))
        task = self.write("t.json", {"scene": "s.xml", "horizon": 3, "variables": [{"name": "qvel0"}],
                                     "loss": [{"type": "com", "target": [0, 0, 0]}],
                                     "optimizer": {"type": "adam", "iterations": 1}})
        r = self.run_json("grad", task)
        self.assertEqual((r["recovering_steps"], r["fallback_steps"]), (3, 0))
        self.assertIn("warning: 3 began with bodies that overlapped (of 3 steps)",
                      self.run_cli("grad", task)[1])
        r = self.run_json("optimize", task, "--out", self.path("o"))
        self.assertEqual((r["recovering_steps"], r["fallback_steps"]), (3, 0))


if __name__ == "__main__":
    unittest.main()
