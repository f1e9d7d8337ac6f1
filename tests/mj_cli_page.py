#!/usr/bin/env python3
"""Pages that play a run, `--player` of `simulate` and `compare`. What they hold is what the
runs' tables say, in at most 3 MB without anything from elsewhere; and where there is a Chromium it
opens them, without a network, and draws."""
import json
import os
import re
import shutil
import struct
import subprocess
import unittest
import zlib

from common import cli

MODELS = os.path.join(cli.SOURCE, "models")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
               None)
MOST = 3000000


def data_of(page):
    text = re.search(r'<script type="application/json" id="player-data">(.*?)</script>', page, re.S)
    return json.loads(text.group(1))


def rows_of(path):
    return cli.rows(path)


def poses(data, run, body):
    """Of a body, frame by frame: 7 numbers each."""
    bodies = data["bodies"]
    frames = data["runs"][run]["poses"]
    place = [b["name"] for b in bodies].index(body)
    later = sum(b["moves"] for b in bodies[:place])
    now = frames[0][7 * place:7 * place + 7]
    out = [now]
    for frame in frames[1:]:
        change = frame[7 * later:7 * later + 7] if bodies[place]["moves"] else [0] * 7
        now = [a + b for a, b in zip(now, change)]
        out.append(now)
    return [[x * (data["unit"] if k < 3 else data["turn"]) for k, x in enumerate(pose)]
            for pose in out]


def pixels(path):
    """A PNG file of 8 bits: width, height, and its pixels as bytes."""
    with open(path, "rb") as f:
        data = f.read()
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    size = {2: 3, 6: 4}[kind]
    assert depth == 8
    body, at = b"", 8
    while at < len(data):
        n, name = struct.unpack(">I4s", data[at:at + 8])
        body += data[at + 8:at + 8 + n] if name == b"IDAT" else b""
        at += n + 12
    raw, step, before, out = zlib.decompress(body), size * width, bytes(size * width), []
    for y in range(height):
        rule, row = raw[y * (step + 1)], bytearray(raw[y * (step + 1) + 1:(y + 1) * (step + 1)])
        for i in range(step if rule else 0):
            a, b = row[i - size] if i >= size else 0, before[i]
            c = before[i - size] if i >= size else 0
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            row[i] = (row[i] + (0, a, b, (a + b) // 2, paeth)[rule]) & 255
        before = bytes(row)
        out.append(before)
    return width, height, [row[i:i + 3] for row in out for i in range(0, step, size)]


class Page(cli.Case):
    def page(self, name):
        path = self.path(name)
        self.assertLessEqual(os.path.getsize(path), MOST)
        page = cli.read(path)
        self.assertIsNone(re.search(r"https?:|<link|@import|src=|<img", page))
        self.assertIn("<noscript>", page)
        return page

    def check_poses(self, data, run, body, path, at):
        """Frames of a free body against the run's table; at: its first column of qpos."""
        rows = {round(float(r["time"]), 9): r for r in rows_of(path)}
        found = poses(data, run, body)
        self.assertEqual(len(found), len(data["times"]))
        for time, pose in zip(data["times"], found):
            row = rows[round(time, 9)]
            for k in range(7):
                self.assertAlmostEqual(pose[k], float(row["qpos[%d]" % (at + k)]),
                                       delta=2 * data["unit" if k < 3 else "turn"])

    def test_simulate(self):
        scene = os.path.join(MODELS, "throw/scene.xml")
        for engine in "dijoco", "mujoco":
            self.run_json("simulate", scene, "--time", 1, "--engine", engine, "--player",
                          self.path("run.html"), "--out", self.path("run.csv"))
            page = self.page("run.html")
            data = data_of(page)
            self.assertEqual([r["name"] for r in data["runs"]],
                             [{"dijoco": "DiJoCo", "mujoco": "MuJoCo"}[engine]])
            self.check_poses(data, 0, "box", self.path("run.csv"), 0)
            self.assertEqual(data["bodies"][data["traced"]]["name"], "box")
            # it falls first, and rests on the floor at the end
            touches = data["runs"][0]["touches"]
            self.assertEqual(touches[0], [])
            self.assertGreater(len(touches[-1]), 0)

    def test_compare(self):
        scene = os.path.join(MODELS, "wall_friction/scene.xml")
        self.run_json("compare", scene, "--time", 0.4, "--out", self.path("out"),
                      "--player", self.path("out.html"))
        page = self.page("out.html")
        data = data_of(page)
        self.assertEqual([r["name"] for r in data["runs"]], ["DiJoCo", "MuJoCo"])
        names = [b["name"] for b in data["bodies"] if b["moves"]]
        for run, engine in enumerate(("dijoco", "mujoco")):
            self.check_poses(data, run, names[0], self.path("out/%s.csv" % engine), 0)
        # forces on the first body that moves, against contacts.csv
        ids = {b["name"]: i for i, b in enumerate(data["bodies"])}
        rows = [r for r in rows_of(self.path("out/contacts.csv")) if r["body1"] == "0"]
        for run, engine in enumerate(("dijoco", "mujoco")):
            last = data["times"][-1]
            want = sum(float(r["fz"]) for r in rows if r["engine"] == engine and
                       abs(float(r["time"]) - last) < 1e-9)
            have, touches = 0, data["runs"][run]["touches"][-1]
            for k in range(0, len(touches), 8):
                a, b = (data["geoms"][g]["body"] for g in data["pairs"][touches[k]])
                if ids["world"] in (a, b):
                    have += touches[k + 7] * (1 if a == ids["world"] else -1)
            self.assertAlmostEqual(have, want, delta=0.01 * abs(want))
            self.assertGreater(want, 10)

    def test_early_end(self):
        """A run of which a part can be shown says so; pages of runs from .json are alike."""
        self.write("s.json", {
            "dijoco_model": 1, "option": {"timestep": 0.01},
            "bodies": [{"name": "world"}, {"name": "ball", "mass": 1, "inertia": [1, 1, 1]}],
            "joints": [{"type": "free", "body": "ball"}],
            "geoms": [{"type": "sphere", "body": "ball", "size": [0.1, 0, 0]}]})
        with open(self.path("v.txt"), "w", encoding="utf-8") as f:
            f.write("1e10 0 0 0 0 0")
        for speed in (), ("--qvel", self.path("v.txt")):
            self.run_json("simulate", self.path("s.json"), "--time", 0.2, "--player",
                          self.path("run.html"), *speed)
            self.assertEqual("ended early" in self.page("run.html"), bool(speed))

    def test_many_steps(self):
        """Frames are left out where there are many, and the last state is there."""
        scene = os.path.join(MODELS, "book_stacking/scene.xml")
        self.run_json("simulate", scene, "--time", 2, "--timestep", 0.002, "--engine", "mujoco",
                      "--player", self.path("run.html"))
        data = data_of(self.page("run.html"))
        self.assertLessEqual(len(data["times"]), 301)
        self.assertAlmostEqual(data["times"][-1], 2)

    def test_no_place(self):
        self.refused("compare", os.path.join(MODELS, "throw/scene.xml"), "--time", "0.01", "--out",
                     self.path("out"), "--player", self.path("none/run.html"))
        self.refused("simulate", os.path.join(MODELS, "throw/scene.xml"), "--time", "0.01",
                     "--player", self.path("none/run.html"))

    @unittest.skipUnless(BROWSER, "needs Chromium")
    def test_browser(self):
        """Chromium shows the time that the address says, the forces, and pictures of many colours."""
        scene = os.path.join(MODELS, "wall_friction/scene.xml")
        self.run_json("compare", scene, "--time", 0.4, "--out", self.path("out"),
                      "--player", self.path("out.html"))
        address = "file://%s#t=0.2&play=0" % self.path("out.html").replace(" ", "%20")

        def browse(*arguments):
            return subprocess.run(
                [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                 "--hide-scrollbars", "--window-size=1000,800", "--virtual-time-budget=4000",
                 "--host-resolver-rules=MAP * ~NOTFOUND", "--user-data-dir=" + self.path("user"),
                 *arguments, address], check=True, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, text=True, timeout=300).stdout

        page = browse("--dump-dom")
        self.assertRegex(page, r'id="player-clock"[^>]*>0\.200 of 0\.4 s<')
        self.assertEqual(page.count("<canvas"), 2)
        self.assertRegex(page, r"DiJoCo: \d+ contact points?, largest force [\d.]+ N; MuJoCo: \d+")
        self.assertNotIn('id="player" hidden', page)
        browse("--screenshot=" + self.path("shot.png"))
        width, height, dots = pixels(self.path("shot.png"))
        self.assertEqual((width, height), (1000, 800))
        half = [dots[y * width + x] for y in range(250, 450, 2) for x in range(40, 480, 2)]
        self.assertGreater(len(set(half)), 20)                           # what is drawn
        blue = sum(p[2] > p[0] + 40 for p in half)
        orange = sum(p[0] > p[2] + 60 for p in half)
        self.assertTrue(blue > 200 and orange > 200, (blue, orange))     # the two boards


if __name__ == "__main__":
    unittest.main()
