#!/usr/bin/env python3
"""Every setting by the command's options and by tasks, and the page that the table prints."""
import os
import unittest

from common import cli

TASK = {"scene": "s.json", "horizon": 2, "loss": [{"type": "com", "target": [0, 0, 0]}],
        "variables": [{"name": "qvel0"}]}


TASK_TOPICS = ["losses", "parameters", "maps", "optimizers"]


def others(row):
    """A value that is not the default, and values that are refused."""
    names = row["values"].split(", ")
    if row["default"] in names:
        return next((n for n in names if n != row["default"]), row["default"]), ["nothing", "1"]
    if "whole number" in row["values"]:
        return 37, ["-1", "1.5", "x", "3e9"] + (["0"] if "at least 1" in row["values"] else [])
    if row["name"] == "theta":
        return 0.75, ["-1", "nan", "inf", "x", "1x", "0.49", "1.01"]
    if row["values"] == "at least 1":
        return 1.23, ["-1", "nan", "inf", "x", "1x", "0.5"]
    bad = ["-1", "nan", "inf", "x", "1x"] + (["0"] if "more than 0" in row["values"] else [])
    return 0.0123, bad + (["1"] if "less than 1" in row["values"] else [])


class Settings(cli.Case):
    def setUp(self):
        super().setUp()
        self.scene = self.write("s.json", cli.SCENE)
        self.rows = self.run_json("help", "settings")["rows"]
        self.standard = self.run_json("inspect", self.scene)["settings"]

    def expect(self, settings, name, value):
        """This setting has the value; those that no rule ties to it are as they were."""
        self.assertEqual(settings[name], value)
        follow = ["support", "stiffness", "skin", "friction_eps", "contact_range", "guide_radius",
                  "guide_length", "recovery_stiffness", "kn", "kt", "kd", "alpha",
                  "sigma", "damping_time", "sigma_t", "detect", "without_effect"]
        if name == "guide_factor":
            follow += ["guide"]
        if name == "guide_decay":   # goes with the other
            follow += ["guide_backward_only"]
        if name == "preset":
            follow += ["support_scale", "stiffness_scale", "friction_eps_scale"]
        for key in settings:
            if key != name and key not in follow:
                self.assertEqual(settings[key], self.standard[key], key)

    def test_rows(self):
        names = [row["name"] for row in self.rows]
        self.assertGreaterEqual(len(names), 20)
        for name in names:
            self.assertIn(name, self.standard)

    def test_without_effect(self):
        """Settings of a contact model that no pair is of are told; those of others are not."""
        task = self.write("t.json", dict(TASK, contact={"kn": 500, "friction_eps": 1e-9}))
        for words in (("inspect", self.scene, "--kn", 500, "--friction-eps", 1e-9),
                      ("simulate", self.scene, "--kn", 500, "--time", 0), ("grad", task)):
            self.assertEqual(self.run_json(*words)["settings"]["without_effect"], ["kn"])
            code, text, _ = self.run_cli(*words)
            self.assertEqual(code, 0)
            self.assertIn("  kn: without effect,", text)
            self.assertEqual(text.count("without effect"), 1)
        for words in (("--kn", 500, "--contact", "penalty"), ("--support", 0.1), ("--kn", 500)):
            scene = self.write("p.json", dict(cli.SCENE, geoms=[
                dict(g, contact="penalty") for g in cli.SCENE["geoms"]]))
            self.assertNotIn("without_effect", self.run_json("inspect", scene, *words)["settings"])
        found = self.run_json("inspect", self.scene, "--contact", "penalty", "--support", 0.1,
                              "--kn", 1)["settings"]
        self.assertEqual(found["without_effect"], ["support"])

    def test_command(self):
        run = 0
        for row in self.rows:
            option = "--" + row["name"].replace("_", "-")
            if "command" not in row["also by"].split(", "):
                self.refused("simulate", self.scene, option, "1", "--time", "0", names=[option])
                continue
            value, bad = others(row)
            with self.subTest(option=option):
                more = ["--guide-backward-only", "true"] if option == "--guide-decay" else []
                found = self.run_json("simulate", self.scene, "--time", "0", option, value, *more)
                self.expect(found["settings"], row["name"], value)
                self.assertIn(option + " ", self.run_cli("simulate", "--help")[1])
                self.refused("inspect", self.scene, option, value, option, value,
                             names=[option + ": is given twice"])
                for word in bad:
                    self.refused("inspect", self.scene, option, word, names=[option])
                # Written into a scene.
                out = self.path("out.json")
                self.run_json("convert", self.scene, option, value, "--out", out, *more)
                again = self.run_json("inspect", out)["settings"]
                self.expect(again, row["name"], value)
                os.unlink(out)
            run += 1
        self.assertGreaterEqual(run, 15)

    def test_choices(self):
        """The help of a verb names all values of a choice."""
        text = self.run_cli("simulate", "--help")[1].split()
        for row in self.rows:
            names = row["values"].split(", ")
            if row["default"] in names and "command" in row["also by"].split(", "):
                self.assertIn("|".join(names), text, row["name"])

    def test_task(self):
        groups = {"contact": ["contact", "support", "length_scale", "stiffness", "skin",
                              "friction_eps", "overlap", "vertices", "friction", "friction_arms",
                              "friction_cap", "barrier", "inner_radius", "load", "support_scale",
                              "stiffness_scale", "guide", "guide_length", "guide_radius",
                              "guide_part", "guide_factor", "guide_backward_only", "guide_decay",
                              "friction_eps_scale", "recovery_stiffness", "preset",
                              "law", "exponent", "damping", "kn", "kt", "kd", "scale", "softness",
                              "recovery_load", "triangles", "sigma", "damping_time", "alpha",
                              "friction_law", "sigma_t", "detect", "cut", "invariant", "coordinate_derivative",
                              "normal"]}
        run = 0
        for row in self.rows:
            name = row["name"]
            value, bad = others(row) if row["values"] != "3 numbers" else (1, [])
            key = {"contact": "model"}.get(name, name)
            given = {"contact": {key: value}} if name in groups["contact"] else {name: value}
            if name == "guide_decay":
                given["contact"]["guide_backward_only"] = True
            task = self.write("t.json", dict(TASK, **given))
            if "task" not in row["also by"].split(", "):
                self.refused("grad", task, names=[name])
                continue
            with self.subTest(name=name):
                self.expect(self.run_json("grad", task)["settings"], name, value)
                if "command" in row["also by"]:   # the command is stronger
                    again = self.run_json("grad", task, "--" + name.replace("_", "-"),
                                          self.standard[name])
                    self.assertEqual(again["settings"][name], self.standard[name])
                for word in bad:
                    value = word if "x" in word or not word[-1].isdigit() else float(word)
                    if name in groups["contact"]:
                        bad_task = dict(TASK, contact={key: value})
                    else:
                        bad_task = dict(TASK, **{name: value})
                    self.refused("grad", self.write("t.json", bad_task), names=[key])
            run += 1
        self.assertGreaterEqual(run, 14)

    def test_unknown(self):
        task = self.write("t.json", dict(TASK, contact={"colour": 1}))
        self.refused("grad", task, names=["colour", "softness"])
        self.refused("help", "colours", names=["colours", "settings"])


class Pages(cli.Case):
    def test_page(self):
        """docs/settings.md is what the table gives."""
        code, out, _ = self.run_cli("help", "settings", "--markdown")
        self.assertEqual(code, 0)
        with open(os.path.join(cli.SOURCE, "docs", "settings.md"), encoding="utf-8") as f:
            self.assertEqual(f.read(), out, "dijoco help settings --markdown > docs/settings.md")

    def test_tasks(self):
        """docs/tasks.md has the other tables."""
        page = cli.read(os.path.join(cli.SOURCE, "docs", "tasks.md"))
        for topic in TASK_TOPICS:
            out = self.run_cli("help", topic, "--markdown")[1]
            self.assertIn("\n\n" + out + "\n", page, topic)

    def test_presets(self):
        """docs/contact.md has those of contact."""
        page = cli.read(os.path.join(cli.SOURCE, "docs", "contact.md"))
        out = self.run_cli("help", "presets", "--markdown")[1]
        self.assertIn("\n\n" + out + "\n", page)

    def test_text(self):
        for topic in ["settings", "presets"] + TASK_TOPICS:
            code, out, _ = self.run_cli("help", topic)
            self.assertEqual(code, 0)
            self.assertLessEqual(max(map(len, out.splitlines())), 100)
            rows = self.run_json("help", topic)["rows"]
            self.assertGreaterEqual(len(rows), 2)
            for row in rows:
                self.assertIn("\n%s\n" % next(iter(row.values())), "\n" + out)


if __name__ == "__main__":
    unittest.main()
