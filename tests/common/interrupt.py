"""Commands that are watched on a terminal, and ended by signals. Used by cli_interrupt.py and
mj_cli_interrupt.py."""
import fcntl
import math
import os
import pty
import re
import resource
import select
import struct
import subprocess
import termios
import time

from common import cli

ESTIMATE = re.compile(r"(\d+)%, ([^,]*), ([^,;]*) left")
PATIENCE = 120          # seconds after which something is taken to hang


def no_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def sphere(n):
    """n points that all belong to their hull."""
    points = []
    for k in range(n):
        z = 1 - (2 * k + 1) / n
        r, turn = math.sqrt(1 - z * z), k * math.pi * (3 - math.sqrt(5))
        points.append((0.1 * r * math.cos(turn), 0.1 * r * math.sin(turn), 0.1 * z))
    return points


class Terminal:
    """A command whose stderr is a terminal of so many columns."""
    runs = []

    def __init__(self, *arguments, columns=100):
        self.master, slave = pty.openpty()
        self.resize(columns)
        self.run = subprocess.Popen([cli.BIN, *map(str, arguments)], stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=slave, text=True)
        self.runs.append(self.run)
        os.close(slave)
        self.text = ""

    def resize(self, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def read(self, seconds):
        """What has come, after waiting for something at most so long; False at the end."""
        if not select.select([self.master], [], [], seconds)[0]:
            return True
        try:
            more = os.read(self.master, 65536)
        except OSError:     # nobody writes any more
            return False
        self.text += more.decode()
        return bool(more)

    def wait_for(self, pattern):
        end = time.monotonic() + PATIENCE
        while not re.search(pattern, self.text):
            if time.monotonic() > end or not self.read(1):
                raise AssertionError("%s is not in %r" % (pattern, self.text[-500:]))

    def finish(self):
        """Exit status and stdout."""
        while self.read(PATIENCE):
            pass
        out = self.run.communicate(timeout=PATIENCE)[0]
        os.close(self.master)
        return self.run.returncode, out

    def lines(self):
        """What was written between carriage returns."""
        return [line for line in self.text.split("\r") if line.strip()]

    def screen(self):
        """The rows of the screen as they are now; a text never stands beside rests of another."""
        rows = []
        for line in self.text.replace("\r\n", "\n").split("\n"):
            row = ""
            for part in line.split("\r"):
                row = part + row[len(part):]
                if part.strip() and row.rstrip() != part.rstrip():
                    raise AssertionError("%r on the screen after %r" % (row, part))
            rows.append(row.rstrip())
        return "\n".join(rows).rstrip("\n")


class Case(cli.Case):
    def interposer(self, source):
        """The environment of a command whose library calls go through this C code first."""
        library = self.path("interposer.so")
        subprocess.run([os.environ["DIJOCO_CC"], "-shared", "-fPIC", "-o", library,
                        self.write("interposer.c", source), "-ldl"], check=True)
        # a path in LD_PRELOAD would end at a blank
        folder, name = os.path.split(library)
        paths = os.environ.get("LD_LIBRARY_PATH", "")
        return {**os.environ, "LD_PRELOAD": name,
                "LD_LIBRARY_PATH": folder + (":" + paths if paths else ""),
                # the sanitizer's library need not be the first
                "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}

    def tearDown(self):
        for run in Terminal.runs:     # a test that failed leaves it
            run.kill()
            run.wait()
        Terminal.runs.clear()
        super().tearDown()

    def start(self, *arguments, **options):
        run = subprocess.Popen([cli.BIN, *map(str, arguments)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               **{"preexec_fn": no_core, **options})
        self.addCleanup(run.kill)
        return run

    def end(self, run):
        """Exit status, stdout, stderr of a run that ends now."""
        try:
            out, err = run.communicate(timeout=PATIENCE)
        finally:
            run.kill()
        return run.returncode, out, err

    def contents(self, folder=None):
        """Bytes of all files, hidden ones too, by their path."""
        found = {}
        for place, folders, files in os.walk(folder or self.folder.name):
            for name in folders + files:
                path = os.path.join(place, name)
                try:
                    with open(path, "rb") as f:
                        found[path] = f.read()
                except IsADirectoryError:
                    found[path] = b""
                except FileNotFoundError:   # gone meanwhile
                    pass
        return found

    def wait_for_change(self, run, before):
        """Until the run has made a file: then it is at work."""
        end = time.monotonic() + PATIENCE
        while set(self.contents()) == set(before):
            self.assertIsNone(run.poll())
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def wholly(self, old, folder, names=None):
        """The folder is as it was ("old"), or all of its files are others ("new")."""
        now = self.contents(folder)
        if now == old:
            return "old"
        self.assertEqual(set(now), set(names or old), "files")
        for path in old:
            self.assertNotEqual(now[path], old[path], path)
        return "new"

    def seconds(self, text):
        """Of "4.2 s", "3 min 20 s", "2 h 05 min"."""
        unit = {"s": 1, "min": 60, "h": 3600}
        words = text.split()
        return sum(float(n) * unit[u] for n, u in zip(words[::2], words[1::2]))

    def check_estimates(self, terminal):
        """What is left follows from what has passed: t (1 - p)/p, up to the rounding of each."""
        found = ESTIMATE.findall(terminal.text)
        self.assertTrue(found, terminal.text)
        for percent, passed, left in found:
            t, p = self.seconds(passed), int(percent) / 100
            slack = 0.05 if t < 9.9 else 0.5 if t < 60 else 60
            least = (t - slack) * (1 / min(p + 0.005, 1) - 1)
            most = (t + slack) * (1 / max(p - 0.005, 1e-9) - 1)
            s = self.seconds(left)
            rounding = 0.06 if s < 9.9 else 1 if s < 3600 else 60
            self.assertGreaterEqual(s, least - rounding, (percent, passed, left))
            self.assertLessEqual(s, most + rounding, (percent, passed, left))
