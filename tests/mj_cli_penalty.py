#!/usr/bin/env python3
"""Penalty contact of MJCF's scenes: points, fields and coefficients in <custom>, kept by convert and
optimize, stated by inspect; what is refused; gradients by all of it, certified."""
import json
import unittest

from common import cli

# A dish whose floor is dented: concave and closed, its file's frame not that of the compiled mesh.
DISH = ('vertex="0 0 0 .2 0 0 0 .2 0 .2 .2 0 0 0 .1 .2 0 .1 .1 .1 .03 0 .2 .1 .2 .2 .1" '
        'face="0 2 1 1 2 3 0 1 4 4 1 5 1 3 5 5 3 8 3 2 8 8 2 7 2 0 7 7 0 4 4 5 6 5 8 6 8 7 6 7 4 6"')
XML = """<mujoco><option timestep="0.005"/>
<custom><text name="dijoco_contact" data="penalty"/>%s</custom>
<asset><mesh name="dish" %s/></asset>
<worldbody><geom name="floor" type="plane" size="0 0 1" friction=".3"/>
<geom name="post" type="cylinder" size=".1 .2" pos=".6 .05 .1" euler="20 10 0" friction=".6"/>
<body name="brick" pos="0 0 0.048"><freejoint/>
  <geom name="brick" type="box" size="0.1 0.08 0.05" mass="1" friction=".4"/></body>
<body name="ball" pos=".02 .01 0.144"><freejoint/>
  <geom name="ball" type="sphere" size="0.05" mass=".5" friction=".5"/></body>
<body name="dish" pos=".3 0.3 .049"><freejoint/>
  <geom name="dish" type="mesh" mesh="dish" mass="1"/></body>
<body name="egg" pos=".3 0.3 .16"><freejoint/>
  <geom name="egg" type="ellipsoid" size=".06 .05 .09" mass=".4"/></body>
<body name="stick" pos=".51 -.06 .1"><freejoint/>
  <geom name="stick" type="capsule" size=".05 .1" euler="70 30 10" mass=".4"/></body>
</worldbody><contact><pair name="two" geom1="brick" geom2="floor" friction="0.4 0.4"/></contact>
</mujoco>
"""


def numeric(name, data):
    return '<numeric name="dijoco_%s" data="%s"/>' % (name, data)


POINTS = numeric("points/brick", "-.1 -.08 -.05 .1 -.08 -.05 -.1 .08 -.05 .1 .08 -.05 .1 0 .05")
SOFT = numeric("penalty", "3000 200 40")
QVEL = [0.6, 0.2, 0, 0.1, 0.2, 1, 0.3, -0.2, 0, 1, 2, 1, 0.2, -0.1, 0, 0, 0, 0.5, 0.1, 0.2, -0.2,
        0.4, 0.1, 0.3, 1, 0.4, -0.1, 0, 1, 0.5]
LOSS = [{"type": "position", "body": "brick", "target": [0.5, 0.2, 0.1]},
        {"type": "orientation", "body": "brick", "target": [0.9, 0.1, 0.3, 0.2]},
        {"type": "position", "body": "ball", "target": [0.3, -0.2, 0.2]},
        {"type": "velocity", "body": "dish", "weight": 0.1},
        {"type": "position", "body": "egg", "target": [0.3, 0.2, 0.1]},
        {"type": "orientation", "body": "stick", "target": [0.9, 0.1, 0.3, 0.2]}]
NAMES = ["geom/brick/points", "geom/*/contact_scale", "geom/brick/quat", "geom/egg/size",
         "geom/stick/size", "geom/stick/pos", "geom/post/size", "geom/post/quat", "geom/floor/quat",
         "geom/brick/friction", "mesh/dish/vert", "geom/dish/quat", "contact/kn", "contact/kt",
         "contact/penalty/kd", "contact/penalty/scale", "qvel0", "qpos0"]


class Penalty(cli.Case):
    def scene(self, *custom, mesh=DISH):
        return self.write("s.xml", XML % ("".join(custom), mesh))

    def model(self, *custom):
        self.run_json("convert", self.scene(*custom), "--out", self.path("m.json"))
        return cli.load(self.path("m.json"))

    def task(self, integrator, **more):
        return self.write("t.json", dict({
            "scene": "s.xml", "horizon": 20, "integrator": integrator, "tolerance": 1e-10,
            "initial": {"qvel": QVEL}, "loss": LOSS}, **more))

    def test_read(self):
        m = self.model(POINTS, SOFT, numeric("point_count/egg", 30), numeric("field/stick", 0),
                       numeric("contact_scale/egg", 0.5), numeric("penalty/two", "500 0 20"),
                       numeric("points/dish", "0 0 0 .2 .2 .1"))
        geoms = {g["name"]: g for g in m["geoms"]}
        self.assertEqual(len(geoms["brick"]["points"]), 5)
        self.assertEqual(geoms["brick"]["points"][4], [0.1, 0, 0.05])
        self.assertEqual((geoms["egg"]["point_count"], geoms["egg"]["contact_scale"]), (30, 0.5))
        self.assertEqual(geoms["stick"]["field"], 0)
        self.assertEqual([m["option"][k] for k in ("kn", "kd", "kt")], [3000, 200, 40])
        self.assertEqual([m["pairs"][0][k] for k in ("kn", "kd", "kt")], [500, 0, 20])
        # the mesh's own frame: a corner of its file is a vertex of the compiled mesh
        vert = m["meshes"][0]["vert"]
        for point, index in zip(geoms["dish"]["points"], (0, 8)):
            self.assertLess(max(abs(a - b) for a, b in zip(point, vert[index])), 1e-7)

    def test_inspect(self):
        out = self.run_json("inspect", self.scene(POINTS, numeric("field/stick", 0)))
        found = {p["name"]: p for p in out["points"]}
        self.assertEqual((found["brick"]["points"], found["brick"]["given"]), (5, True))
        self.assertEqual((found["floor"]["points"], found["floor"]["field"]), (0, "exact"))
        self.assertEqual((found["ball"]["points"], found["ball"]["radius"]), (1, 0.05))
        self.assertEqual(found["stick"]["field"], "none")
        self.assertEqual((found["dish"]["points"], found["dish"]["field"]), (9, "grid"))
        self.assertTrue(0 < found["dish"]["grid_error"] < 0.01)
        code, text, _ = self.run_cli("inspect", self.scene(POINTS))
        self.assertIn("points given", text)
        self.assertIn("grid of", text)

    def test_refused(self):
        for field, names in (
                (numeric("points/nobody", "0 0 0"), ["dijoco_points/nobody", "no geom"]),
                (numeric("points/ball", "0 0"), ["dijoco_points/ball", "three numbers"]),
                (numeric("points/floor", "0 0 0"), ["floor", "a plane has no points"]),
                (numeric("penalty/nobody", "1 1 1"), ["dijoco_penalty/nobody", "no pair or geom"]),
                (numeric("penalty", "0 1 1"), ["dijoco_penalty", "kn must be positive"]),
                (numeric("penalty/two", "1 -1 1"), ["dijoco_penalty/two", "kd must not be"]),
                (numeric("penalty", "1 1"), ["dijoco_penalty", "three numbers"]),
                (numeric("point_count/ball", "1.5"), ["dijoco_point_count/ball"]),
                (numeric("field/ball", "3"), ["dijoco_field/ball", "0 or 1"]),
                (numeric("contact_scale/ball", "-1"), ["dijoco_contact_scale/ball"]),
                ('<text name="dijoco_points/ball" data="x"/>', ["dijoco_points/ball", "numeric"])):
            with self.subTest(field=field):
                self.refused("inspect", self.scene(field), names=names)
        open_mesh = DISH.replace(" 7 4 6", "")
        self.refused("inspect", self.scene(mesh=open_mesh), names=["geom 'dish'", "distance field"])
        self.run_json("inspect", self.scene(numeric("field/dish", 0), mesh=open_mesh))

    def test_kept(self):
        """What optimize writes is the scene with the parameters that it found."""
        self.scene(POINTS, SOFT, numeric("points/dish", "0 0 0 .2 .2 .1 0 0 .1"),
                   numeric("point_count/egg", 30), numeric("field/stick", 0))
        names = ["geom/brick/points", "geom/egg/contact_scale", "contact/kn", "geom/dish/points"]
        task = self.task("bdf1", variables=[{"name": n} for n in names],
                         optimizer={"type": "adam", "rate": 1e-3, "iterations": 2})
        self.run_json("optimize", task, "--out", self.path("o"))
        with open(self.path("o/final.json")) as f:
            final = {v["name"]: v["value"] for v in json.load(f)["variables"]}
        found = self.run_json("grad", self.path("o/task.json"))
        self.run_json("convert", self.path("o/scene.xml"), "--out", self.path("o.json"))
        m = cli.load(self.path("o.json"))
        geoms = {g["name"]: g for g in m["geoms"]}
        flat = [x for p in geoms["brick"]["points"] for x in p]
        for a, b in zip(flat, final["geom/brick/points"]):
            self.assertAlmostEqual(a, b, places=14)
        for a, b in zip([x for p in geoms["dish"]["points"] for x in p], final["geom/dish/points"]):
            self.assertAlmostEqual(a, b, places=7)
        self.assertEqual([geoms["egg"]["contact_scale"]], final["geom/egg/contact_scale"])
        self.assertEqual((geoms["egg"]["point_count"], geoms["stick"]["field"]), (30, 0))
        self.assertAlmostEqual(m["option"]["kn"], final["contact/kn"][0])
        self.assertEqual(found["status"], "ok")

    def test_certificates(self):
        self.scene(POINTS, SOFT)
        for integrator in ("bdf1", "midpoint", "position"):
            with self.subTest(integrator=integrator):
                names = NAMES if integrator == "bdf1" else NAMES[::3]
                task = self.task(integrator, variables=[{"name": n} for n in names])
                out = self.run_json("grad", task, "--check")
                self.assertEqual(out["status"], "ok")
                for c in out["certificate"]:
                    self.assertTrue(c["passed"] and c["relative_error"] <= 1e-6, c)
                self.assertTrue(any(abs(c["analytic"]) > 1e-6 for c in out["certificate"]))

    def test_kinks(self):
        """A ball that touches a plane just so: the run beside it does not."""
        xml = ('<mujoco><option timestep="0.01" gravity="0 0 0"/><worldbody>'
               '<geom name="floor" type="plane" size="0 0 1"/><body name="b" pos="0 0 0.1"><freejoint/>'
               '<geom name="g" type="sphere" size="0.1" mass="1"/></body></worldbody></mujoco>')
        self.write("s.xml", xml)
        task = self.write("t.json", {
            "scene": "s.xml", "horizon": 3, "contact": {"model": "penalty", "kn": 100, "kt": 1, "kd": 1},
            "integrator": "bdf1", "variables": [{"name": "geom/floor/pos"}],
            "loss": [{"type": "position", "body": "b", "target": [0, 0, 1]}]})
        _, text, _ = self.run_cli("grad", task, "--check", "--json")
        out = json.loads(text)
        self.assertEqual(out["certificate"][0]["touched"], ["touch"])


    def kinks_of(self, geom, body, contact, qvel):
        """Those named where a heavy ball goes straight on."""
        self.write("s.xml", '<mujoco><option timestep="0.01" gravity="0 0 0"/><worldbody>'
                   f'<geom name="under" {geom} friction="0.5"/><body name="b" {body}><freejoint/>'
                   '<geom name="g" type="sphere" size="0.1" mass="1e6" friction="0.5"/></body>'
                   '</worldbody></mujoco>')
        task = self.write("t.json", {
            "scene": "s.xml", "horizon": 3, "contact": {"model": "penalty", **contact},
            "integrator": "bdf1", "initial": {"qvel": qvel}, "variables": [{"name": "qvel0"}],
            "loss": [{"type": "position", "body": "b", "target": [0, 0, 1]}]})
        _, text, _ = self.run_cli("grad", task, "--check", "--json")
        return json.loads(text)["certificate"][0]["touched"]

    def test_other_kinks(self):
        """A ball that slides as fast as it just does not slip, one that leaves as fast as it is just
        not pushed, one that is as deep below two faces of a box; and one that is at none."""
        plane, box = 'type="plane" size="0 0 1"', 'type="box" size="0.5 0.5 0.5" pos="0 0 -0.5"'
        low, corner = 'pos="0 0 0.099"', 'pos="0.45 0 -0.05"'
        soft = {"kn": 100, "kt": 1, "kd": 0}
        self.assertEqual(self.kinks_of(plane, low, soft, [0.05, 0, 0, 0, 0, 0]), ["slip"])
        soft["kd"] = 1e4
        self.assertIn("release", self.kinks_of(plane, low, soft, [0, 0, 0.01, 0, 0, 0]))
        soft["kd"] = 0
        self.assertEqual(self.kinks_of(box, corner, soft, [0.1, 0.2, 0.1, 0, 0, 0]), ["ridge"])
        self.assertEqual(self.kinks_of(plane, low, soft, [0.01, 0, 0, 0, 0, 0]), [])


if __name__ == "__main__":
    unittest.main()
