"""Running the command and checking what it does. Used by cli_*.py and mj_cli*.py."""
import csv
import json
import math
import os
import resource
import signal
import stat
import subprocess
import tempfile
import unittest

BIN = os.environ["DIJOCO_BIN"]
SOURCE = os.environ["DIJOCO_SOURCE"]

SETTINGS = ["timestep", "integrator", "contact", "support", "length_scale", "stiffness", "skin",
            "friction_eps", "tolerance"]
RUN_KEYS = ["scene", "engine", "settings", "steps", "time", "newton_iterations",
            "unconverged_steps", "worst_residual", "smallest_gap", "deepest_overlap",
            "recovering_steps", "energy_first", "energy_last",
            "momentum_first", "momentum_last", "angular_momentum_first", "angular_momentum_last",
            "spin_first", "spin_last", "fallback_steps",
            "damped_steps", "impact_steps", "wall_s", "wall_per_step_s"]

# A box of 1 kg over a floor, a pendulum with a motor, a keyframe.
SCENE = {
    "dijoco_model": 1, "name": "small", "option": {"timestep": 0.005},
    "bodies": [
        {"name": "world"},
        {"name": "box", "pos": [0, 0, 0.12], "mass": 1, "inertia": [0.01, 0.01, 0.01]},
        {"name": "arm", "pos": [0, 2, 2], "ipos": [0, 0, -0.5], "mass": 0.5,
         "inertia": [0.02, 0.02, 0.001]}],
    "joints": [
        {"type": "free", "body": "box"},
        {"name": "hinge", "type": "hinge", "body": "arm", "axis": [1, 0, 0], "damping": 0.1}],
    "geoms": [
        {"name": "floor", "type": "plane", "body": "world", "size": [0, 0, 1]},
        {"name": "cube", "type": "box", "body": "box", "size": [0.1, 0.1, 0.1]}],
    "actuators": [{"name": "motor", "joint": "hinge", "ctrllimited": True,
                   "ctrlrange": [-1, 1]}],
    "keys": [{"name": "up", "qpos": [0, 0, 0.5, 1, 0, 0, 0, 0.3],
                   "qvel": [0, 0, 0, 0, 0, 0, 0.1]}],
}


def number(value):
    """A number of the JSON output, which may be the text inf, -inf or nan."""
    assert not isinstance(value, bool)
    if isinstance(value, str):
        assert value in ("inf", "-inf", "nan"), value
        return float(value)
    assert isinstance(value, (int, float)), value
    assert math.isfinite(value)
    return float(value)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def load(path):
    return json.loads(read(path))


def rows(path):
    """Of a table with a header."""
    return list(csv.DictReader(read(path).splitlines()))


def put(path, text):
    with open(path, "w") as f:
        f.write(text)


def tree(folder):
    """All that a folder holds: kind, permissions and content by path."""
    found = {}
    for path, folders, files in os.walk(folder):
        for name in folders + files:
            full = os.path.join(path, name)
            info = os.lstat(full)
            content = None
            if stat.S_ISLNK(info.st_mode):
                content = os.readlink(full)
            elif stat.S_ISREG(info.st_mode):
                with open(full, "rb") as f:
                    content = f.read()
            found[os.path.relpath(full, folder)] = (info.st_mode, content)
    return found


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, content):
        path = self.path(name)
        put(path, content if isinstance(content, str) else json.dumps(content))
        return path

    def run_cli(self, *arguments, stdin=""):
        """Exit status, stdout, stderr."""
        done = subprocess.run([BIN, *map(str, arguments)], input=stdin, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        self.assertIn(done.returncode, (0, 1, 2), done.stderr)
        return done.returncode, done.stdout, done.stderr

    def run_json(self, *arguments, status=0, stdin=""):
        """Parsed JSON output of a run that ends with this status."""
        code, out, err = self.run_cli(*arguments, "--json", stdin=stdin)
        self.assertEqual(code, status, err)
        return json.loads(out, parse_constant=self.fail)

    def files(self):
        return sorted(os.listdir(self.folder.name))

    def refused(self, *arguments, names=(), stdin=""):
        """Exit 2, one line that names what is wrong, nothing on stdout, no new file."""
        before = self.files()
        code, out, err = self.run_cli(*arguments, stdin=stdin)
        self.assertEqual(code, 2, "%r: %s" % (arguments, err))
        self.assertEqual(out, "")
        self.assertEqual(len(err.splitlines()), 1, err)
        self.assertTrue(err.startswith("dijoco"), err)
        for name in names:
            self.assertIn(name, err)
        self.assertEqual(self.files(), before, "output was left")
        return err

    def limited(self, size, arguments, disposition):
        """A run with files of at most this size; its exit status and stderr."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            signal.signal(signal.SIGXFSZ, disposition)

        run = subprocess.run([BIN, *arguments], stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True, preexec_fn=limit, timeout=300)
        return run.returncode, run.stderr

    def no_room(self, arguments, folder, sizes):
        """All sizes up to what is enough; returns how many were not."""
        refused = 0
        for size in sizes:
            with self.subTest(arguments=arguments, size=size):
                before = tree(folder)
                code, err = self.limited(size, arguments,
                                         signal.SIG_DFL if size % 2 else signal.SIG_IGN)
                if code == 0:
                    break
                self.assertEqual(code, 2, err)
                self.assertEqual(len(err.splitlines()), 1, err)
                self.assertIn("File too large", err)
                self.assertEqual(tree(folder), before)
                refused += 1
        return refused
