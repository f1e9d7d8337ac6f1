#!/usr/bin/env python3
"""The verb `grad`: its output, its certificate, and bad tasks."""
import copy
import json
import os
import unittest

from common import cli

TASK = {
    "scene": "s.json", "contact": "separating_plane", "integrator": "position",
    "timestep": 0.005, "horizon": 30,
    "initial": {"qvel": [0.4, 0.1, 0, 0, 0, 0.5, 0.2]}, "ctrl": [0.3],
    "loss": [{"type": "position", "body": "box", "target": [0.1, 0, 0.1], "weight": 2},
             {"type": "qpos", "joint": "hinge", "target": 0.5, "when": "running"},
             {"type": "effort", "weight": 0.01}],
    "variables": [{"name": "ctrl"}, {"name": "qpos0"}, {"name": "qvel0", "index": [0, 6]}],
}


class Grad(cli.Case):
    def setUp(self):
        super().setUp()
        self.write("s.json", cli.SCENE)
        self.task = self.write("task.json", TASK)

    def test_json(self):
        g = self.run_json("grad", self.task)
        for key in ("status", "loss", "terms", "variables", "steps", "unconverged_steps",
                    "worst_residual", "settings", "time"):
            self.assertIn(key, g)
        self.assertEqual((g["status"], g["steps"]), ("ok", 30))
        self.assertEqual([t["type"] for t in g["terms"]], ["position", "qpos", "effort"])
        self.assertAlmostEqual(sum(t["value"] for t in g["terms"]), g["loss"])
        ctrl, qpos0, qvel0 = g["variables"]
        self.assertEqual([ctrl["shape"], qpos0["shape"], qvel0["shape"]], [[30, 1], [7], [2]])
        self.assertEqual([len(v["gradient"]) for v in g["variables"]], [30, 7, 2])
        self.assertEqual([len(v["value"]) for v in g["variables"]], [30, 8, 2])
        self.assertEqual(qvel0["value"], [0.4, 0.2])
        self.assertIn("forward_s", g["time"])
        self.assertNotIn("certificate", g)

    def test_certificate(self):
        for seed in ("0", "7"):
            g = self.run_json("grad", self.task, "--check", "--check-seed", seed)
            self.assertIn("worst_condition", g)
            self.assertEqual([c["name"] for c in g["certificate"]], ["ctrl", "qpos0", "qvel0"])
            for c in g["certificate"]:
                self.assertTrue(c["passed"], c)
                self.assertLessEqual(c["relative_error"], 1e-6)
                if c["slope"] is not None:
                    self.assertTrue(1.9 <= c["slope"] <= 2.1, c)

    def test_kinks_and_limits_of_work(self):
        """Ties are named with both slopes; what is not known in the runs that are allowed is given
        up, by name, and nothing of progress is written where there is no terminal."""
        # the cube slides on the floor by equal coefficients of friction
        task = {**TASK, "set": {"geom/floor/friction": [0.6, 0, 0],
                                "geom/cube/friction": [0.6, 0.005, 1e-4]},
                "initial": {"qpos": [0, 0, 0.1, 1, 0, 0, 0, 0.1], "qvel": [1, 0.1] + [0] * 5},
                "variables": [{"name": "ctrl"}, {"name": "geom/cube/friction", "index": [0]}]}
        path = self.write("tie.json", task)
        g = self.run_json("grad", path, "--check")
        ctrl, tie = g["certificate"]
        self.assertEqual((ctrl["kink"], ctrl["gave_up"]), (None, None))
        self.assertEqual(tie["kink"], "friction of geom/floor and geom/cube is equal: the larger "
                         "counts")
        self.assertTrue(tie["passed"] and 0 < tie["runs"] < 400, tie)
        self.assertAlmostEqual(sum(tie["one_sided"]) / tie["analytic"], 2, delta=1e-3)
        self.assertGreater(abs(tie["analytic"]), 1e-3)
        text = self.run_cli("grad", path, "--check")[1]
        self.assertIn("kink: geom/cube/friction: friction of geom/floor", text)
        self.assertIn("above", text)
        # 45 in all: of the second block there are too few
        code, out, err = self.run_cli("grad", path, "--check-runs", "40", "--json")
        self.assertEqual((code, err), (1, ""))
        g = json.loads(out)
        self.assertEqual(g["status"], "check_failed")
        self.assertLessEqual(sum(c["runs"] for c in g["certificate"]), 50)
        self.assertIs(g["certificate"][1]["passed"], False)
        self.assertIn("not begun", g["certificate"][1]["gave_up"])
        code, text, err = self.run_cli("grad", path, "--check-runs", "40")
        self.assertEqual((code, err), (1, ""))
        self.assertIn("GAVE UP", text)
        self.assertIn("gave up: geom/cube/friction: not begun", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 100)
        self.refused("grad", path, "--check-runs", "0", names=["--check-runs"])

    def test_each_block_has_its_share(self):
        """However rough the loss is to blocks before it: the cube slides on an edge."""
        task = {
            "scene": "s.json", "timestep": 0.001, "horizon": 40,
            "initial": {"qpos": [0, 0, 0.1414, 0.9238795, 0.3826834, 0, 0, 0],
                        "qvel": [0.2, 0.1, -0.01, 0.05, 0.5, 0.2, 0]},
            "loss": [{"type": "position", "body": "box", "target": [0.1, 0.2, 0.3]}],
            "variables": [{"name": name} for name in (
                "qpos0", "geom/cube/size", "geom/cube/quat", "geom/cube/pos", "option/gravity")]}
        code, out, err = self.run_cli("grad", self.write("share.json", task), "--check", "--json")
        found = json.loads(out)["certificate"]
        runs = [c["runs"] for c in found]
        self.assertTrue(max(runs) > 200 and sum(runs) <= 800 + 5 * 100, runs)
        for k, c in enumerate(found):
            self.assertGreater(c["runs"], 0, c)
            self.assertLessEqual(sum(runs[:k + 1]), 800 + 100 * (k + 1))

    def test_level_boxes(self):
        # An edge that lies in a plane, of a box that comes out of it: its ends are as low.
        scene = os.path.join(os.environ["DIJOCO_SOURCE"], "tests/references/scenes/friction.json")
        loss = [{"type": "position", "body": "paired", "target": [0.1, 1.7, 0.1]},
                {"type": "velocity", "body": "paired", "target": [0.1, 0, 0.2]}]
        path = self.write("level.json", {
            "scene": scene, "horizon": 12, "initial": {"keyframe": "start"}, "loss": loss,
            "variables": [{"name": "geom/floor/quat"}, {"name": "qpos0"}]})
        for entry in self.run_json("grad", path, "--check")["certificate"]:
            self.assertLess(entry["relative_error"], 1e-6, entry)

    def test_spread(self):
        """Beside the certificate: the standard deviation of the gradient over eight starts."""
        v = [0.4, 0.1, 0.3, 0, 0, 0, 0.2]
        task = dict(TASK, initial={"qvel": v}, variables=[{"name": "ctrl"}, {"name": "qvel0"}])
        path = self.write("u.json", task)
        found = self.run_json("grad", path, "--check", "--threads", "1")
        other = self.run_json("grad", path, "--check", "--threads", "3")
        spread = [c["spread"] for c in found["certificate"]]
        self.assertEqual(spread, [c["spread"] for c in other["certificate"]])
        q = self.run_json("grad", self.task)["variables"][1]["value"]
        q[7] = 0
        h, by_ctrl = found["settings"]["timestep"], []
        for j in range(8):
            start = [a + j / 8 * h * b for a, b in zip(q, v[:3] + [0] * 4 + v[6:])]
            moved = dict(task, initial={"qpos": start, "qvel": v})
            by_ctrl.append(self.run_json("grad", self.write("m.json", moved))
                           ["variables"][0]["gradient"])
        mean = [sum(g) / 8 for g in zip(*by_ctrl)]
        apart = sum((x - m) ** 2 for g in by_ctrl for x, m in zip(g, mean)) / 8
        expected = (apart / sum(m * m for m in mean)) ** 0.5
        self.assertGreater(expected, 1e-6)
        self.assertAlmostEqual(spread[0] / expected, 1, delta=1e-5)
        self.assertGreater(spread[1], 0)
        text = self.run_cli("grad", path, "--check")[1]
        self.assertIn("%9.2g" % spread[0], text)
        self.assertIn("over 8 starts", text)

    def test_gradient_against_other_runs(self):
        g = self.run_json("grad", self.task)
        loss = []
        for sign in (1, -1):
            task = copy.deepcopy(TASK)
            task["initial"]["qvel"][6] += sign * 1e-4
            loss.append(self.run_json("grad", self.write("moved.json", task))["loss"])
        difference = (loss[0] - loss[1]) / 2e-4
        self.assertAlmostEqual(g["variables"][2]["gradient"][1], difference,
                               delta=1e-5 * abs(difference))

    def test_parts_of_a_variable(self):
        names = ["qpos0", "qvel0", "qpos0[joint/hinge]", "qvel0[joint/hinge]"]
        task = {**TASK, "variables": [{"name": name} for name in names]}
        g = self.run_json("grad", self.write("parts.json", task), "--check")["variables"]
        for whole, part in ((g[0], g[2]), (g[1], g[3])):
            self.assertEqual(whole["gradient"][6:], part["gradient"])

    def test_picked_entries_of_a_variable(self):
        """A parameter and a part of it: the same gradient, that of differences."""
        name = "geom/cube/size"
        task = {**TASK, "initial": {"qpos": [0, 0, 0.0995, 1, 0, 0, 0, 0], **TASK["initial"]},
                "set": {name: [0.1, 0.1, 0.1]},
                "variables": [{"name": name}, {"name": name, "index": [2]}]}
        g = self.run_json("grad", self.write("parts.json", task), "--check")
        whole, part = g["variables"]
        self.assertEqual(whole["gradient"][2:], part["gradient"])
        for c in g["certificate"]:
            self.assertTrue(c["passed"], c)
        loss = []
        for size in (0.1 + 1e-7, 0.1 - 1e-7):
            task["set"][name][2] = size
            loss.append(self.run_json("grad", self.write("moved.json", task))["loss"])
        slope = (loss[0] - loss[1]) / 2e-7
        self.assertNotEqual(slope, 0)
        self.assertAlmostEqual(slope, part["gradient"][0], delta=2e-3 * abs(slope))
        self.refused("optimize", self.path("parts.json"), "--out", self.path("out"), names=[name])

    def test_maps_and_parameters(self):
        """Gradients by free vectors and parameters, with certificates."""
        knots = [0.1, -0.4, 0.3]
        task = {**TASK,
                "initial": {"qpos": [0, 0, 0.101, 1, 0, 0, 0, 0.1], **TASK["initial"]},
                "set": {"geom/floor/friction": [0.4, 0, 0]},
                "free": {"knots": {"value": knots, "min": -2, "max": 2},
                         "edge": {"value": [0.1]}, "turn": {"value": [3, 0.1, 0.2, 0.3]}},
                "maps": [{"type": "spline", "from": "knots", "actuator": "motor", "to": "ctrl"},
                         {"type": "affine", "from": "edge", "to": "geom/cube/size",
                          "matrix": [[1], [1], [0.5]], "offset": [0, 0, 0.05]},
                         {"type": "shared", "from": "turn", "to": ["body/arm/quat"]}],
                "variables": [{"name": "knots"}, {"name": "edge"}, {"name": "turn"},
                              {"name": "body/box/mass"}, {"name": "joint/hinge/axis"},
                              {"name": "geom/cube/friction", "index": [0]},
                              {"name": "option/gravity", "index": [2]}]}
        g = self.run_json("grad", self.write("maps.json", task), "--check")
        for c in g["certificate"]:
            self.assertTrue(c["passed"], c)
        shapes = [v["shape"] for v in g["variables"]]
        self.assertEqual(shapes, [[3], [1], [4], [1], [3], [1], [1]])
        self.assertEqual(g["variables"][0]["value"], knots)
        self.assertEqual(g["variables"][2]["value"], [3, 0.1, 0.2, 0.3])
        self.assertTrue(all(any(v["gradient"]) for v in g["variables"]), g["variables"])
        self.assertEqual(len(g["variables"][0]["gradient"]), 3)
        loss = []
        for edge in (0.1 + 1e-7, 0.1 - 1e-7):
            task["free"]["edge"]["value"] = [edge]
            loss.append(self.run_json("grad", self.write("moved.json", task))["loss"])
        slope = (loss[0] - loss[1]) / 2e-7
        self.assertAlmostEqual(slope, g["variables"][1]["gradient"][0], delta=2e-3 * abs(slope))

    def test_maps_of_two_actuators(self):
        """A PD controller: a target and its rate, as sines, as a spline, and maps that replace
        what earlier ones set."""
        motor = cli.SCENE["actuators"][0]
        scene = {**cli.SCENE, "actuators": [
            {**motor, "gainprm": [9, 0, 0], "bias": "affine", "biasprm": [0, -9, 0]},
            {**motor, "name": "rate", "ctrllimited": False, "gainprm": [0.7, 0, 0],
             "bias": "affine", "biasprm": [0, 0, -0.7]}]}
        self.write("pd.json", scene)
        names = {"actuator": "motor", "velocity": "rate"}
        sines = {"type": "sines", "from": "waves", **names}
        spline = {"type": "spline", "from": "knots", **names}
        waves = [0.4, 3.1, 0.2, -0.1, 8.3, 0.5, 0.05]
        task = {**TASK, "scene": "pd.json", "ctrl": [0, 0],
                "free": {"waves": {"value": waves}, "knots": {"value": [0.1, -0.3, 0.4, 0.2]}}}
        del task["variables"]
        for maps in ([sines], [spline], [spline, {**sines, "velocity": "motor",
                                                  "actuator": "rate"}],
                     [sines, {"type": "spline", "from": "knots", "actuator": "rate"}]):
            with self.subTest(maps=maps):
                task["maps"] = maps
                used = [m["from"] for m in maps]
                task["variables"] = [{"name": name} for name in used]
                g = self.run_json("grad", self.write("pd_task.json", task), "--check")
                for c in g["certificate"]:
                    self.assertTrue(c["passed"], c)
                gone = len(maps) > 1 and maps[1]["type"] == "sines"
                for name, v in zip(used, g["variables"]):
                    self.assertEqual(all(v["gradient"]), not (gone and name == "knots"), v)
        # The timestep is the one in force: half of it and twice the frequencies make the same
        # controls.
        task.update(maps=[{"type": "sines", "from": "waves", "actuator": "motor"}],
                    variables=[{"name": "waves"}], loss=[{"type": "effort"}])
        whole = self.run_json("grad", self.write("pd_task.json", task), "--timestep", "0.004")
        task["free"]["waves"]["value"] = [w * 2 if i in (1, 4) else w for i, w in enumerate(waves)]
        half = self.run_json("grad", self.write("pd_task.json", task), "--timestep", "0.002")
        self.assertAlmostEqual(whole["loss"], 2 * half["loss"], delta=1e-12)
        self.assertGreater(half["loss"], 1e-4)

    def test_inertia_from_geom(self):
        task = {**TASK, "inertia_from_geom": True, "ctrl": [0.3],
                "initial": {"qpos": [0, 0, 0.101, 1, 0, 0, 0, 0.1], **TASK["initial"]},
                "variables": [{"name": "geom/cube/size"}, {"name": "geom/cube/pos"}]}
        path = self.write("follow.json", task)
        g = self.run_json("grad", path, "--check")
        apart = self.run_json("grad", self.write("apart.json", {**task,
                                                                "inertia_from_geom": False}))
        for c in g["certificate"]:
            self.assertTrue(c["passed"], c)
        self.assertEqual(g["loss"], apart["loss"])
        self.assertNotEqual(g["variables"][0]["gradient"], apart["variables"][0]["gradient"])
        bigger = "geom/cube/size=0.1,0.1,0.11"
        lifted = "geom/cube/pos=0,0,0.01"
        g = self.run_json("grad", path, "--check", "--set", bigger, "--set", lifted)
        for c in g["certificate"]:
            self.assertTrue(c["passed"], c)
        self.refused("grad", self.write("both.json", {**task, "variables": [
            {"name": "body/box/mass"}]}), names=["both.json", "body/box/mass"])

    def test_precedence_and_out(self):
        out = self.path("g.json")
        g = self.run_json("grad", self.task, "--timestep", "0.002", "--out", out)
        self.assertEqual(g["settings"]["timestep"], 0.002)
        with open(out) as f:
            self.assertEqual(json.load(f)["loss"], g["loss"])

    def test_no_gravity_ramp(self):
        self.write("s.json", {**cli.SCENE, "gravity_ramp": 0.3})
        scene = self.path("s.json")
        run = self.run_json("simulate", scene, "--time", "0")["settings"]
        self.assertEqual(run["gravity_ramp"], 0.3)
        ramp = self.run_json("grad", self.task)
        self.assertEqual(ramp["settings"]["gravity_ramp"], 0)
        self.write("s.json", cli.SCENE)
        self.assertEqual(self.run_json("grad", self.task)["loss"], ramp["loss"])
        self.refused("grad", self.task, "--gravity-ramp", "1", names=["--gravity-ramp"])

    def test_text(self):
        code, text, _ = self.run_cli("grad", self.task, "--check")
        self.assertEqual(code, 0)
        self.assertLessEqual(max(map(len, text.splitlines())), 100)

    def test_overflow(self):
        """What a run makes of numbers that are all right by themselves."""
        scene = {"dijoco_model": 1, "option": {"gravity": [0, 0, 0]},
                 "bodies": [{}, {"name": "b", "mass": 1e-60, "inertia": [1e-60] * 3}],
                 "joints": [{"name": "j", "type": "slide", "body": "b"}],
                 "actuators": [{"joint": "j", "gainprm": [1e60, 0, 0]}]}
        self.write("light.json", scene)
        loss = {"type": "qpos", "joint": "j", "target": 0}
        task = {"scene": "light.json", "horizon": 2, "ctrl": [1e20],
                "loss": [{"type": "effort"}, loss], "variables": [{"name": "body/b/mass"}]}
        self.refused("grad", self.write("far.json", task), names=["far.json", "body/b/mass"])
        task["loss"][1] = {**loss, "weight": 1e60}
        self.refused("grad", self.write("far.json", task), names=["far.json", "loss[1]", "step 2"])
        # At 1e75 m rounding is far above the tolerance, but not of these numbers by `position`.
        for ctrl, integrator in ((1e-120, "euler"), (1e-40, "position")):
            task["ctrl"], task["integrator"] = [ctrl], integrator
            self.run_json("grad", self.write("far.json", task))

    def test_bad_tasks(self):
        for verb in (["grad"], ["optimize", "--out", self.path("x")]):
            self.refused(verb[0], "s.xml", *verb[1:], names=["s.xml: a scene", "task"])
        def bad(change, *names):
            task = copy.deepcopy(TASK)
            change(task)
            self.refused("grad", self.write("bad.json", task), "--out", self.path("g.json"),
                         names=["bad.json", *names])

        bad(lambda t: t.update(extra=1), "extra")
        bad(lambda t: t.update(horizon=0), "horizon")
        bad(lambda t: t.update(horizon="long"), "horizon")
        bad(lambda t: t.update(timestep=-1), "timestep")
        bad(lambda t: t.update(contact="glue"), "glue")
        bad(lambda t: t.update(ctrl=[1, 2]), "ctrl")
        bad(lambda t: t["initial"].update(qpos=[1]), "qpos")
        bad(lambda t: t["initial"].update(keyframe="none"), "none")
        bad(lambda t: t["loss"][0].update(type="beauty"), "beauty")
        bad(lambda t: t["loss"][0].update(body="nobody"), "nobody")
        bad(lambda t: t["loss"][0].update(target=[1]), "target")
        bad(lambda t: t["loss"][0].update(when={"step": 31}), "step")
        bad(lambda t: t["variables"].append({"name": "charm"}), "charm")
        bad(lambda t: t.update(optimizer={"type": "luck"}), "luck")
        bad(lambda t: t["variables"][0].update(index=[30]), "index")
        bad(lambda t: t.update(free={"z": {"value": [1], "size": 1}}), "free", "size")
        bad(lambda t: t.update(free={"ctrl": {"value": [1]}}), "free", "ctrl")
        bad(lambda t: t.update(maps=[{"type": "shared", "from": "z", "to": "option/gravity"}]),
            "maps[0]", "z")
        bad(lambda t: t.update(maps=[{"type": "bend", "from": "z"}]), "maps[0]", "bend")
        bad(lambda t: t.update(free={"z": {"value": [0.1]}},
                               maps=[{"type": "spline", "from": "z", "actuator": "motor"}]),
            "ctrl", "maps[0]")
        bad(lambda t: t.update(connect=[{"a": {"geom": "cube"}, "b": {"geom": "floor"}}]),
            "connect[0]", "cube")
        bad(lambda t: t.update(set={"geom/cube/size": [1, 1]}), "geom/cube/size")
        bad(lambda t: t["loss"][1].update(weight=1e308), "loss[1]", "weight")
        bad(lambda t: t["loss"][1].update(weight=-1e61), "loss[1]", "weight")
        bad(lambda t: t["loss"][0].update(target=[0, 1e200, 0]), "loss[0]", "target")
        bad(lambda t: t["loss"][0].update(tolerance=1e30), "loss[0]", "tolerance")
        bad(lambda t: t["initial"].update(qvel=[0] * 6 + [1e200]), "initial", "qvel", "hinge")
        bad(lambda t: t["initial"].update(qpos=[1e200, 0, 0, 1, 0, 0, 0, 0]), "initial", "qpos")
        bad(lambda t: t.update(ctrl=[-1e21]), "ctrl[0]")
        bad(lambda t: t.update(set={"body/box/mass": 1e100}), "set", "box", "mass")
        bad(lambda t: t.update(contact={"skin": -1}), "contact", "skin")
        bad(lambda t: t.update(contact={"stiffness": 1e61}), "bad.json: contact: stiffness")
        bad(lambda t: t.update(contact={"support": 1e-21}), "bad.json: contact: support")
        bad(lambda t: t.update(timestep=1e-300), "bad.json: timestep: is smaller")
        bad(lambda t: t.update(contact={"stiffness": "auto"}), "contact", "stiffness")
        text = json.dumps(TASK, indent=1)
        for old, new, where in (('"horizon": 30', '"horizon": 030', "line 6, column 13: horizon"),
                                ('"weight": 2', '"weight": 2.', "loss[0].weight"),
                                ('"hinge"', '"hinge\\u0000"', "loss[1].joint"),
                                ('0.1,\n', '0.1,,\n', "column")):
            self.assertIn(old, text)
            path = self.write("bad.json", text.replace(old, new, 1))
            self.refused("grad", path, names=["bad.json: line", where])
        self.refused("grad", self.path("missing.json"), names=["missing.json"])
        self.refused("grad", self.write("half.json", json.dumps(TASK)[:40]), names=["half.json"])
        lost = self.write("lost.json", {**TASK, "scene": "nowhere.json"})
        self.refused("grad", lost, names=["nowhere.json"])


if __name__ == "__main__":
    unittest.main()
