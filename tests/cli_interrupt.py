#!/usr/bin/env python3
"""Signals and progress: what is on the disk and on the terminal when a run ends at any moment."""
import json
import os
import random
import signal
import time
import unittest

from common import cli, interrupt

TASK = {
    "scene": "s.json", "timestep": 0.005, "horizon": 20,
    "initial": {"qvel": [0.4, 0.1, 0, 0, 0, 0.5, 0.2]}, "ctrl": [0.3],
    "loss": [{"type": "position", "body": "box", "target": [0.2, 0, 0.1], "weight": 2},
             {"type": "qpos", "joint": "hinge", "target": 0.5}],
    "variables": [{"name": "ctrl", "min": -1, "max": 1}, {"name": "qvel0", "index": [0, 6]},
                  {"name": "geom/cube/friction", "index": [0]}],
    "optimizer": {"type": "adam", "rate": 0.02, "iterations": 8},
}
FOREVER = {**TASK, "optimizer": {"type": "adam", "rate": 1e-3, "iterations": 10**7}}
# A single loss takes seconds.
SLOW = {**FOREVER, "horizon": 300000, "variables": [{"name": "qvel0"}]}
ENDLESS = "30000"   # s: minutes on any machine

# Sends SIGTERM to its own process, AT the n-th call that changes files; COUNT: a file for their
# number.
INTERPOSER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <fcntl.h>
#include <sys/types.h>
static long calls;
static void tick(void) {
  const char *at = getenv("AT"), *times = getenv("TIMES");
  if (!at || ++calls != atol(at)) return;
  for (long k = atol(times); k > 0; k--) raise(SIGTERM);
}
__attribute__((destructor)) static void tell(void) {
  const char* path = getenv("COUNT");
  FILE* file = path ? fopen(path, "w") : NULL;
  if (file) fprintf(file, "%ld", calls);
  if (file) fclose(file);
}
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define CALL(type, name, parameters, ...) \
  type name parameters { tick(); type result = NEXT(name)(__VA_ARGS__); tick(); return result; }
CALL(ssize_t, write, (int fd, const void* b, size_t n), fd, b, n)
CALL(int, rename, (const char* a, const char* b), a, b)
CALL(int, link, (const char* a, const char* b), a, b)
CALL(int, unlink, (const char* a), a)
CALL(int, fsync, (int fd), fd)
CALL(int, mkdir, (const char* a, mode_t m), a, m)
int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  int mode = flags & O_CREAT ? va_arg(list, int) : 0;
  va_end(list);
  if (!(flags & O_CREAT)) return NEXT(open)(path, flags, mode);
  tick();
  int result = NEXT(open)(path, flags, mode);
  tick();
  return result;
}
"""


class Signals(interrupt.Case):
    def setUp(self):
        super().setUp()
        self.scene = self.write("s.json", cli.SCENE)
        self.task = self.write("task.json", TASK)
        self.out = self.path("out")

    def earlier_result(self):
        task = self.write("earlier.json", {**TASK, "ctrl": [0.2]})
        self.run_json("optimize", task, "--out", self.out, "--iterations", "3")
        return self.contents(self.out)

    def check_best(self, out):
        """The results that an interrupted run has left are of one and the same point."""
        r = json.loads(out)
        self.assertEqual(r["status"], "interrupted")
        self.assertLessEqual(r["loss_last"], r["loss_first"])
        self.assertEqual(sorted(r["files"]), sorted(os.listdir(self.out)))
        again = self.run_json("grad", os.path.join(self.out, "task.json"))
        self.assertAlmostEqual(again["loss"], r["loss_last"], delta=1e-10 * r["loss_last"])
        with open(os.path.join(self.out, "final.json")) as f:
            self.assertEqual(json.load(f)["loss_last"], r["loss_last"])

    def test_the_first_signal_ends_optimize_with_its_best(self):
        task = self.write("forever.json", FOREVER)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                before = self.contents()
                run = self.start("optimize", task, "--out", self.out, "--json")
                self.wait_for_change(run, before)
                time.sleep(random.random() / 3)
                run.send_signal(number)
                code, out, err = self.end(run)
                self.assertEqual((code, err), (1, ""))
                self.check_best(out)

    def test_the_second_signal_ends_at_once(self):
        old = self.earlier_result()
        task = self.write("slow.json", SLOW)
        for first, second in ((signal.SIGTERM, signal.SIGTERM), (signal.SIGINT, signal.SIGINT),
                              (signal.SIGINT, signal.SIGTERM)):
            with self.subTest((first, second)):
                before = self.contents()
                run = self.start("optimize", task, "--out", self.out, "--json")
                self.wait_for_change(run, before)
                run.send_signal(first)
                time.sleep(0.2)
                self.assertIsNone(run.poll())     # a loss takes longer than that
                run.send_signal(second)
                self.assertEqual(self.end(run), (-second, "", ""))
                self.assertEqual(self.contents(self.out), old)

    def test_a_new_folder_goes_again(self):
        task = self.write("slow.json", SLOW)
        before = self.contents()
        run = self.start("optimize", task, "--out", os.path.join(self.out, "deep", "er"))
        self.wait_for_change(run, before)
        run.send_signal(signal.SIGTERM)
        time.sleep(0.1)
        run.send_signal(signal.SIGTERM)
        self.assertEqual(self.end(run)[0], -signal.SIGTERM)
        self.assertEqual(self.contents(), before)

    def test_results_are_wholly_old_or_new_at_random_moments(self):
        old = self.earlier_result()
        started = time.monotonic()
        self.run_json("optimize", self.task, "--out", self.path("other"))
        took = time.monotonic() - started
        dice = random.Random(7)
        for k in range(12):
            run = self.start("optimize", self.task, "--out", self.out, "--json")
            time.sleep(took * dice.random())
            run.send_signal(signal.SIGTERM)
            if k % 2:
                time.sleep(0.3 * took * dice.random())
                run.send_signal(signal.SIGINT)
            code = self.end(run)[0]
            self.assertIn(code, (0, 1, -signal.SIGTERM, -signal.SIGINT))
            what = self.wholly(old, self.out)
            if code >= 0:
                self.assertEqual(what, "new")
            old = self.earlier_result()

    def test_other_verbs_end_and_write_nothing(self):
        out = self.write("out.csv", "earlier")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE,
                       signal.SIGQUIT):
            with self.subTest(number):
                before = self.contents()
                run = self.start("simulate", self.scene, "--time", ENDLESS, "--out", out)
                self.wait_for_change(run, before)
                run.send_signal(number)
                self.assertEqual(self.end(run), (-number, "", ""))
                self.assertEqual(self.contents(), before)
        slow = self.write("slow.json", SLOW)
        before = self.contents()
        run = self.start("grad", slow, "--check", "--out", out)
        time.sleep(0.5)
        run.send_signal(signal.SIGTERM)
        self.assertEqual(self.end(run)[0], -signal.SIGTERM)
        self.assertEqual(self.contents(), before)

    def test_nohup(self):
        def ignore():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)

        before = self.contents()
        run = self.start("simulate", self.scene, "--time", ENDLESS, "--out", self.path("x.csv"),
                         preexec_fn=ignore)
        self.wait_for_change(run, before)
        run.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        self.assertIsNone(run.poll())
        run.send_signal(signal.SIGTERM)
        self.assertEqual(self.end(run)[0], -signal.SIGTERM)


class NthWrite(interrupt.Case):
    """SIGTERM before and after each call that changes files."""

    def setUp(self):
        super().setUp()
        self.scene = self.write("s.json", cli.SCENE)
        self.task = self.write("task.json", TASK)
        self.environment = self.interposer(INTERPOSER)
        self.target = os.path.join(self.folder.name, "target")
        os.mkdir(self.target)

    def run_at(self, call, times, *arguments):
        environment = {**self.environment, "AT": str(call), "TIMES": str(times),
                       "COUNT": self.path("count")}
        code, _, err = self.end(self.start(*arguments, env=environment))
        self.assertEqual(err, "")
        return code

    def each_call(self, ends, again, *arguments):
        """With one signal the run ends by `ends`, with two by SIGTERM."""
        self.assertIn(self.run_at(0, 0, *arguments), (0, 1))
        with open(self.path("count")) as f:
            ncall = int(f.read())
        self.assertGreaterEqual(ncall, 4)
        self.assertEqual(ncall % 2, 0)
        seen = set()
        for times in (1, 2):
            for call in range(1, ncall + 1):
                with self.subTest(call=call, times=times):
                    again()
                    old = self.contents(self.target)
                    code = self.run_at(call, times, *arguments)
                    self.assertIn(code, ends if times == 1 else (-signal.SIGTERM,))
                    what = self.wholly(old, self.target)
                    if code >= 0:
                        self.assertEqual(what, "new")
                    seen.add((what, code))
        return seen

    def test_simulate(self):
        out = os.path.join(self.target, "x.csv")
        seen = self.each_call(
            (-signal.SIGTERM,), lambda: self.write("target/x.csv", "earlier"),
            "simulate", self.scene, "--time", "0.5", "--out", out)
        self.assertEqual(seen, {("old", -signal.SIGTERM), ("new", -signal.SIGTERM)})

    def test_convert(self):
        out = os.path.join(self.target, "x.json")
        self.each_call((-signal.SIGTERM,), lambda: self.write("target/x.json", "earlier"),
                       "convert", self.scene, "--out", out)

    def test_optimize(self):
        def again():
            for name in os.listdir(self.target):
                self.write(os.path.join("target", name), "earlier")

        # the first signal does not keep it from writing everything
        seen = self.each_call((0, 1), again, "optimize", self.task, "--out", self.target,
                              "--iterations", "2")
        self.assertTrue({("new", 1), ("old", -signal.SIGTERM), ("new", -signal.SIGTERM)} <= seen)


class Progress(interrupt.Case):
    points = 20000   # of spheres; so many as a test before has found to take time

    def setUp(self):
        super().setUp()
        self.scene = self.write("s.json", cli.SCENE)

    def sphere(self):
        """A scene of one mesh whose points all belong to its hull: so many that this machine takes
        two seconds for it."""
        scene = json.loads(json.dumps(cli.SCENE))
        scene["geoms"][1] = {"name": "ball", "type": "mesh", "mesh": "ball", "body": "box"}
        for n in (int(Progress.points * 1.5**k) for k in range(20)):
            scene["meshes"] = [{"name": "ball", "vert": interrupt.sphere(n)}]
            path = self.write("ball.json", scene)
            started = time.monotonic()
            self.assertEqual(self.run_cli("convert", path, "--out", self.path("ball.out"))[0], 0)
            if time.monotonic() - started > 2:
                Progress.points = n
                return path
        self.fail("no hull takes time")

    def check(self, *arguments, columns=100, code=-signal.SIGTERM):
        """The line appears, fits, and is gone after the end."""
        before = self.contents()
        t = interrupt.Terminal(*arguments, columns=columns)
        t.wait_for(interrupt.ESTIMATE)
        self.assertTrue(t.screen())
        t.run.send_signal(signal.SIGTERM)
        status, out = t.finish()
        self.assertEqual(status, code, t.text)
        self.assertEqual(t.screen(), "")
        self.assertNotIn("\n", t.text)
        self.assertLess(max(map(len, t.lines())), columns)
        self.check_estimates(t)
        if code < 0:
            self.assertEqual(self.contents(), before)
        return out

    def test_simulate(self):
        self.check("simulate", self.scene, "--time", ENDLESS, "--out", self.path("x.csv"))

    def test_narrow(self):
        self.check("simulate", self.scene, "--time", ENDLESS, columns=44)

    def test_narrower(self):
        """Nothing of the longer line stays."""
        t = interrupt.Terminal("simulate", self.scene, "--time", ENDLESS)
        t.wait_for(interrupt.ESTIMATE)
        t.resize(30)
        t.wait_for(r"\r[^\r]{29}\Z")
        t.run.send_signal(signal.SIGTERM)
        t.finish()
        self.assertEqual(t.screen(), "")

    def test_optimize(self):
        task = self.write("forever.json", FOREVER)
        out = self.check("optimize", task, "--out", self.path("out"), "--json", code=1)
        self.assertEqual(json.loads(out)["status"], "interrupted")

    def step(self):
        """Seconds that a step takes where nothing else runs: some may be slowed down."""
        return min(self.run_json("simulate", self.scene, "--time", "1")["wall_per_step_s"]
                   for _ in range(3))

    def test_grad(self):
        task = self.write("grad.json", {**SLOW, "horizon": int(1.5 / self.step())})
        t = interrupt.Terminal("grad", task, "--check")
        t.wait_for(r"checking: " + interrupt.ESTIMATE.pattern)
        t.run.send_signal(signal.SIGINT)
        self.assertEqual(t.finish(), (-signal.SIGINT, ""))
        self.assertIn("simulating: ", t.text)
        self.assertEqual(t.screen(), "")

    def test_convert(self):
        self.check("convert", self.sphere(), "--out", self.path("x.json"))

    def test_the_end_of_a_run(self):
        step = self.step()
        t = interrupt.Terminal("simulate", self.scene, "--time", 0.005 * int(2 / step), "--json")
        code, out = t.finish()
        self.assertEqual(code, 0)
        json.loads(out)
        self.check_estimates(t)
        self.assertEqual(t.screen(), "")

    def test_errors_stand_alone(self):
        """The line is gone before the error that ends the run: here of the second mesh. Where the
        first one was quicker than when it was chosen, a larger one is."""
        square = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]
        for _ in range(8):
            scene = cli.load(self.sphere())
            scene["meshes"].append({"name": "flat", "vert": square})
            scene["geoms"].append({**scene["geoms"][1], "name": "card", "mesh": "flat"})
            t = interrupt.Terminal("simulate", self.write("flat.json", scene), "--time", "1")
            self.assertEqual(t.finish(), (2, ""))
            if interrupt.ESTIMATE.search(t.text):
                break
            Progress.points = int(1.5 * Progress.points)
        self.check_estimates(t)
        self.assertRegex(t.screen(), r"\Adijoco simulate: .*geom 'card'.*flat")
        self.assertEqual(len(t.screen().splitlines()), 1)

    def test_nothing_for_short_runs(self):
        step = self.run_json("simulate", self.scene, "--time", "1")["wall_per_step_s"]
        steps = 0.3 / step
        for _ in range(30):
            started = time.monotonic()
            t = interrupt.Terminal("simulate", self.scene, "--time", 0.005 * int(steps))
            self.assertEqual(t.finish()[0], 0)
            took = time.monotonic() - started
            if 0.3 < took < 0.5:
                self.assertEqual(t.text, "")
                return
            steps *= 0.4 / took
        self.skipTest("the machine is too busy for a short run")

    def test_nothing_without_a_terminal(self):
        step = self.run_json("simulate", self.scene, "--time", "1")["wall_per_step_s"]
        code, _, err = self.run_cli("simulate", self.scene, "--time", 0.005 * int(1.5 / step))
        self.assertEqual((code, err), (0, ""))


if __name__ == "__main__":
    unittest.main()
