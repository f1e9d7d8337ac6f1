#!/usr/bin/env python3
"""Output files: links, permissions, pipes and devices; two runs at once; a disk that is full."""
import json
import os
import stat
import subprocess
import threading
import unittest

from common import cli

OLD = "what was there before\n"
TASK = {
    "scene": "s.json", "timestep": 0.005, "horizon": 30, "ctrl": [0.3],
    "loss": [{"type": "qpos", "joint": "hinge", "target": 0.5}],
    "variables": [{"name": "ctrl"}, {"name": "qvel0"}],
    "optimizer": {"type": "adam", "rate": 0.02, "iterations": 2},
}


class Files(cli.Case):
    def setUp(self):
        super().setUp()
        self.scene = self.write("s.json", cli.SCENE)
        self.task = self.write("task.json", TASK)
        self.verbs = {   # what writes --out FILE
            "convert": ["convert", self.scene],
            "simulate": ["simulate", self.scene, "--time", "2"],
            "grad": ["grad", self.task],
        }

    def wanted(self, verb):
        """What the verb writes to a new file; times in it are different every time."""
        path = self.path("wanted")
        self.assertEqual(self.run_cli(*self.verbs[verb], "--out", path)[0], 0)
        text = cli.read(path)
        os.remove(path)
        return text

    def same(self, verb, path_or_text, wanted):
        text = path_or_text
        if os.path.exists(path_or_text):
            text = cli.read(path_or_text)
        if verb == "grad":
            text, wanted = json.loads(text), json.loads(wanted)
            text.pop("time"), wanted.pop("time")
        self.assertEqual(text, wanted)

    def each(self):
        for verb, arguments in self.verbs.items():
            with self.subTest(verb=verb):
                yield verb, arguments, self.wanted(verb)

    def test_links_and_permissions(self):
        for verb, arguments, wanted in self.each():
            real, first, second = self.path("real"), self.path("first"), self.path("second")
            new = self.path("new")
            self.write("real", OLD)
            os.chmod(real, 0o640)
            os.symlink("second", first)
            os.symlink(real, second)
            os.symlink("new", self.path("dangling"))
            before = self.files()
            self.assertEqual(self.run_cli(*arguments, "--out", first)[0], 0)
            self.assertEqual(self.files(), before)
            self.assertTrue(os.path.islink(first) and os.path.islink(second))
            self.same(verb, real, wanted)
            self.assertEqual(stat.S_IMODE(os.lstat(real).st_mode), 0o640)
            self.assertEqual(self.run_cli(*arguments, "--out", self.path("dangling"))[0], 0)
            self.assertTrue(os.path.islink(self.path("dangling")))
            self.same(verb, new, wanted)
            umask = os.umask(0)
            os.umask(umask)
            self.assertEqual(stat.S_IMODE(os.lstat(new).st_mode), 0o666 & ~umask)
            for name in (real, first, second, new, self.path("dangling")):
                os.remove(name)

    def test_no_name_can_be_foreseen(self):
        victim = self.write("victim", OLD)
        for verb, arguments, wanted in self.each():
            target = self.path(verb + ".out")
            for ending in (".part", ".tmp", "~"):
                os.symlink("victim", target + ending)
            before = self.files()
            self.assertEqual(self.run_cli(*arguments, "--out", target)[0], 0)
            self.assertEqual(self.files(), sorted(before + [verb + ".out"]))
            self.same(verb, target, wanted)
            with open(victim) as f:
                self.assertEqual(f.read(), OLD)

    def test_fifo(self):
        for verb, arguments, wanted in self.each():
            fifo, link = self.path("fifo"), self.path("link")
            os.mkfifo(fifo)
            os.symlink("fifo", link)
            for target in (fifo, link):
                got = []

                def read():
                    with open(fifo) as f:
                        got.append(f.read())

                reader = threading.Thread(target=read, daemon=True)
                reader.start()
                self.assertEqual(self.run_cli(*arguments, "--out", target)[0], 0)
                reader.join(60)
                self.assertTrue(stat.S_ISFIFO(os.lstat(fifo).st_mode))
                self.assertTrue(os.path.islink(link))
                self.same(verb, got[0], wanted)
            os.remove(fifo)
            os.remove(link)

    def test_standard_output(self):
        if not os.path.exists("/dev/stdout"):
            self.skipTest("no /dev/stdout")
        for verb, arguments, wanted in self.each():
            code, out, err = self.run_cli(*arguments, "--out", "/dev/stdout")
            self.assertEqual(code, 0, err)
            if verb == "convert":
                self.assertEqual(out, wanted + "/dev/stdout: written\n")
            self.assertTrue(os.path.islink("/dev/stdout"))
            # redirected to a file: one after the other, too
            with open(self.path("all"), "w") as f:
                f.write("first\n")
                f.flush()
                run = subprocess.run([cli.BIN, *arguments, "--out", "/dev/stdout"], stdout=f)
            self.assertEqual(run.returncode, 0)
            self.assertTrue(os.path.islink("/dev/stdout"))
            text = cli.read(self.path("all"))
            if verb != "grad":
                self.assertTrue(text.startswith("first\n" + wanted), text[:200])
            os.remove(self.path("all"))

    def test_null_device(self):
        null = self.path("null")   # our own, never the machine's
        try:
            os.mknod(null, stat.S_IFCHR | 0o666, os.makedev(1, 3))
            cli.put(null, "x")
        except OSError as error:
            self.skipTest("no null device can be made here: %s" % error)
        before = self.files()
        for verb, arguments in self.verbs.items():
            self.assertEqual(self.run_cli(*arguments, "--out", null)[0], 0)
            self.assertTrue(stat.S_ISCHR(os.lstat(null).st_mode), verb)
            self.assertEqual(self.files(), before)

    def test_refused(self):
        os.mkdir(self.path("folder"))
        os.symlink("loop", self.path("loop"))
        full = ["/dev/full"] if os.path.exists("/dev/full") else []
        for verb, arguments in self.verbs.items():
            for target in [self.path(name) for name in
                           ("folder", "folder/", "none/x", "loop", "s.json/x")] + full:
                with self.subTest(verb=verb, target=target):
                    err = self.refused(*arguments, "--out", target, names=[target])
                    self.assertTrue(err.startswith("dijoco %s: %s: " % (verb, target)), err)
        if full:
            self.assertTrue(stat.S_ISCHR(os.stat("/dev/full").st_mode))

    def test_two_at_once(self):
        """Both succeed, and the file is one of the two whole."""
        scenes, texts = [], []
        for k in range(2):
            geoms = [{"type": "sphere", "body": "box", "size": [0.1 + k + 1e-4 * i, 0, 0]}
                     for i in range(3000)]
            scenes.append(self.write("big%d.json" % k, {**cli.SCENE, "geoms": geoms}))
            self.assertEqual(self.run_cli("convert", scenes[k], "--out", self.path("x"))[0], 0)
            with open(self.path("x")) as f:
                texts.append(f.read())
        before = self.files()
        seen = set()
        for _ in range(8):
            runs = [subprocess.Popen([cli.BIN, "convert", scene, "--out", self.path("x")],
                                     stdout=subprocess.DEVNULL) for scene in scenes]
            self.assertEqual([run.wait(60) for run in runs], [0, 0])
            text = cli.read(self.path("x"))
            self.assertIn(text, texts)
            seen.add(text)
            self.assertEqual(self.files(), before)

    # ---- no room

    def test_no_room(self):
        for verb, arguments in self.verbs.items():
            for old in (False, True):
                target = self.write("x", OLD) if old else self.path("x")
                refused = self.no_room([*arguments, "--out", target], self.folder.name,
                                       [0, 1, 100, 501, 1000000])
                self.assertGreaterEqual(refused, 3)
                os.remove(target)

    def test_no_room_for_an_optimisation(self):
        """All files of the folder, or none."""
        sizes = [*range(0, 3000, 151), 4096, 8193, 16384, 32769, 1 << 20]
        for old in (None, OLD):
            out = self.path("new/out")
            if old:
                out = self.path("out")
                os.mkdir(out)
                for name in ("history.csv", "final.json", "task.json", "scene.xml", "notes.txt"):
                    self.write("out/" + name, old)
                os.chmod(self.path("out/final.json"), 0o600)
                os.symlink("notes.txt", self.path("out/ctrl.csv"))
            refused = self.no_room(["optimize", self.task, "--out", out], self.folder.name, sizes)
            self.assertGreater(refused, 10)
            with open(os.path.join(out, "final.json")) as f:
                json.load(f)
            if old:
                self.assertEqual(stat.S_IMODE(os.stat(out + "/final.json").st_mode), 0o600)
                with open(self.path("out/notes.txt")) as f:
                    self.assertTrue(f.readline().startswith("ctrl[0]"))

    def test_an_optimisation_that_cannot_be_written(self):
        """Known before the work."""
        out = self.path("out")
        endless = {**TASK, "optimizer": {"type": "adam", "rate": 1e-9, "iterations": 10**9}}
        for name in ("history.csv", "final.json", "task.json", "replay.json", "ctrl.csv",
                     "scene.xml", "report.html"):
            os.makedirs(os.path.join(out, name))
            before = cli.tree(self.folder.name)
            run = subprocess.run([cli.BIN, "optimize", self.write("task.json", endless), "--out",
                                  out], stderr=subprocess.PIPE, text=True, timeout=60)
            self.assertEqual(run.returncode, 2)
            self.assertIn(name + ": cannot be written: Is a directory", run.stderr)
            self.write("task.json", TASK)
            self.assertEqual(cli.tree(self.folder.name), before)
            os.rmdir(os.path.join(out, name))


if __name__ == "__main__":
    unittest.main()
