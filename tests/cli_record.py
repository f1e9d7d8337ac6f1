#!/usr/bin/env python3
"""Records: the command writes them where DIJOCO_RECORD says, and `dijoco replay` repeats them."""
import json
import os
import signal
import subprocess
import time
import unittest

from common import cli


class Record(cli.Case):
    def setUp(self):
        super().setUp()
        self.scene = self.write("s.json", cli.SCENE)

    def record(self, name, *arguments, status=0):
        """The record of a run, in which the box falls on the floor."""
        path = self.path(name)
        done = subprocess.run([cli.BIN, "simulate", self.scene, *arguments], text=True,
                              env={**os.environ, "DIJOCO_RECORD": path}, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, status, done.stderr)
        return path

    def replay(self, path, *arguments, status=0):
        return self.run_json("replay", path, *arguments, status=status)

    def lines(self, path):
        with open(path) as file:
            return file.read().splitlines()

    def test_same(self):
        """With contact; with each integrator; the state at a step is that of the run."""
        for arguments in ([], ["--integrator", "bdf2"], ["--contact", "penalty"]):
            with self.subTest(arguments):
                path = self.record("run", "--time", "0.3", "--ctrl-seed", "1", *arguments)
                found = self.replay(path)
                self.assertEqual((found["status"], found["steps"], found["difference"]),
                                 ("same", 60, None))
        out = self.path("run.csv")
        self.run_json("simulate", self.scene, "--time", "0.3", "--ctrl-seed", "1", "--out", out)
        path = self.record("run", "--time", "0.3", "--ctrl-seed", "1")
        state = self.replay(path, "--step", 40)["state"]
        with open(out) as file:
            row = [float(x) for x in file.read().splitlines()[1 + 40].split(",")]
        self.assertEqual([state["time"], *state["qpos"], *state["qvel"]], row)
        self.assertEqual([state["contacts"][0][name] for name in ("geom1", "geom2")],
                         ["floor", "cube"])
        text = self.run_cli("replay", path, "--step", "40")
        self.assertEqual((text[0], text[2]), (0, ""))
        self.assertIn("floor, cube: gap", text[1])
        self.assertIn("same to the last bit", text[1])
        self.assertLessEqual(max(map(len, text[1].splitlines()[1:])), 100)

    def test_unconverged(self):
        path = self.record("run", "--time", "0.3", "--integrator", "position", "--max-iterations",
                           "1", "--tolerance", "1e-14", status=1)
        self.assertIn('"status": 1', "".join(self.lines(path)))
        self.assertEqual(self.replay(path)["status"], "same")

    def test_failing(self):
        """A step that cannot be taken ends the run, and is repeated with its error."""
        scene = json.loads(json.dumps(cli.SCENE))
        scene["option"]["overlap"] = "error"
        scene["bodies"][1]["pos"][2] = 0.05
        self.scene = self.write("deep.json", scene)
        path = self.record("run", "--time", "0.1", status=2)
        self.assertIn('"status": -4', "".join(self.lines(path)))
        self.assertEqual(self.replay(path)["status"], "same")

    def test_change(self):
        """One number is another: the call that has it is told."""
        path = self.record("run", "--time", "0.2", "--ctrl-seed", "1")
        lines = self.lines(path)
        at = next(k for k, line in enumerate(lines) if line.startswith('{"end": 21,'))
        end = json.loads(lines[at])
        end["now"]["qpos"][7] *= 1 + 1e-15
        lines[at] = json.dumps(end)
        self.write("run", "\n".join(lines) + "\n")
        told = self.replay(path, status=1)["difference"]
        self.assertEqual((told["what"], told["call"], told["step"], told["array"], told["entry"]),
                         ("step", 21, 20, "qpos", 7))
        self.assertEqual(float(told["recorded"]), end["now"]["qpos"][7])
        code, out, err = self.run_cli("replay", path)
        self.assertEqual((code, err), (1, ""))
        self.assertIn("differs at step, call 21, step 20, time", out)
        self.assertIn("qpos[7]: recorded " + told["recorded"] + ", found " + told["found"], out)
        # past it, up to a step that is asked for
        found = self.replay(path, "--step", 30, status=1)
        self.assertEqual((found["difference"], found["steps"]), (told, 30))
        lines[0] = lines[0].replace('"version": "', '"version": "9.')
        self.write("run", "\n".join(lines) + "\n")
        self.assertEqual(self.replay(path, status=1)["difference"], told)
        self.assertIn("replayed by", self.run_cli("replay", path)[1])

    def test_killed(self):
        """What a process leaves that is killed is whole up to its last call."""
        path = self.path("run")
        run = subprocess.Popen([cli.BIN, "simulate", self.scene, "--time", "1000"],
                               env={**os.environ, "DIJOCO_RECORD": path},
                               stdout=subprocess.DEVNULL)
        while not os.path.exists(path) or os.path.getsize(path) < 200000:
            time.sleep(0.01)
        run.send_signal(signal.SIGKILL)
        run.wait()
        found = self.replay(path)
        self.assertEqual(found["status"], "same")
        self.assertGreater(found["steps"], 50)

    def test_refused(self):
        path = self.record("run", "--time", "0.1")
        text = "\n".join(self.lines(path))
        self.write("run", text)   # without the last line's end
        self.refused("replay", path, names=[path, "line %d" % (text.count("\n") + 1), "cut off",
                                            "which are the same"])
        self.write("run", text.replace('"do": "step"', '"do": "leap"', 1) + "\n")
        self.refused("replay", path, names=[path, "line 5", "do"])
        self.write("run", "{}\n")
        self.refused("replay", path, names=[path, "line 1", "dijoco_record"])
        self.refused("replay", self.path("none"), names=["none"])
        self.refused("replay", self.scene, names=["s.json", "line 1"])
        path = self.record("run", "--time", "0.1")
        self.refused("replay", path, "--step", 21, names=["--step", "20 steps"])
        self.refused("replay", path, "--step", 0, names=["--step"])
        done = subprocess.run([cli.BIN, "simulate", self.scene, "--time", "0.1"], text=True,
                              env={**os.environ, "DIJOCO_RECORD": self.path("no/folder")},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("DIJOCO_RECORD: ", done.stderr)


if __name__ == "__main__":
    unittest.main()
