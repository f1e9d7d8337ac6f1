#!/usr/bin/env python3
"""Runs side by side as an animated PNG of few colours: `animate.py OUT.png RUN... [options]`.

A RUN is SCENE.xml,STATES.csv, of what `dijoco simulate --out` wrote, or the folder that `dijoco
optimize --out` wrote: its result is simulated from its keyframe with its controls, and with
--mujoco in stock MuJoCo, too. TITLE=RUN names it. Each run has its own scene, all have one camera,
which sees everything that moves. MuJoCo draws; nothing is shown on a screen. Needs the tree's
command (make build), numpy, MuJoCo's Python package and OSMesa or EGL.
"""
import argparse
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("DIJOCO_BUILD", ROOT / "build"))
sys.path.insert(0, str(ROOT / "python"))

from dijoco import view                  # noqa: E402
from dijoco.file import File             # noqa: E402

SKY, TEXT, PLANE = (250, 249, 246), (40, 40, 40), (0.9, 0.89, 0.86, 1)


# ---- pictures of few colours --------------------------------------------------------------------

def choose_palette(images, most=256):
    """Colours (n, 3) uint8 and a table from 15-bit colours to them, by median cut."""
    counts = np.zeros(1 << 15, np.int64)
    for image in images:
        counts += np.bincount(short_colours(image).ravel(), minlength=1 << 15)
    used = np.flatnonzero(counts)
    rgb = np.stack([used >> 10, used >> 5 & 31, used & 31], axis=1)
    boxes = [np.arange(len(used))]
    while len(boxes) < most:
        spread = [np.ptp(rgb[b], axis=0).max() * counts[used[b]].sum() ** 0.5 for b in boxes]
        worst = int(np.argmax(spread))
        box = boxes[worst]
        if spread[worst] == 0:
            break
        box = box[np.argsort(rgb[box, np.ptp(rgb[box], axis=0).argmax()], kind="stable")]
        weight = np.cumsum(counts[used[box]])
        cut = min(max(1, int(np.searchsorted(weight, weight[-1] / 2))), len(box) - 1)
        boxes[worst] = box[:cut]
        boxes.append(box[cut:])
    table, palette = np.zeros(1 << 15, np.uint8), np.empty((len(boxes), 3), np.uint8)
    for k, box in enumerate(boxes):
        mean = np.average(rgb[box] * 255 / 31, axis=0, weights=counts[used[box]])
        palette[k] = np.round(mean)
        table[used[box]] = k
    return palette, table


def short_colours(image):
    r, g, b = (image[..., k].astype(np.int32) >> 3 for k in range(3))
    return r << 10 | g << 5 | b


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def packed(image):
    rows = np.zeros((image.shape[0], 1 + image.shape[1]), np.uint8)      # filter 0
    rows[:, 1:] = image
    return zlib.compress(rows.tobytes(), 9)


def changed(image, before):
    """Rows and columns of what differs, at least one pixel."""
    rows, columns = np.nonzero(image != before)
    if not rows.size:
        return slice(0, 1), slice(0, 1)
    return (slice(int(rows.min()), int(rows.max()) + 1),
            slice(int(columns.min()), int(columns.max()) + 1))


def write_animation(path, images, delay):
    """An animated PNG of images (height, width, 3) uint8, delay (s) apart; each is stored where it
    differs from the one before. Returns its size in bytes."""
    palette, table = choose_palette(images)
    height, width = images[0].shape[:2]
    parts = [b"\x89PNG\r\n\x1a\n",
             chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
             chunk(b"acTL", struct.pack(">II", len(images), 0)), chunk(b"PLTE", palette.tobytes())]
    before, sequence = None, 0
    for image in images:
        flat = table[short_colours(image)]
        where = (slice(0, height), slice(0, width)) if before is None else changed(flat, before)
        part = flat[where]
        parts.append(chunk(b"fcTL", struct.pack(
            ">IIIIIHHBB", sequence, part.shape[1], part.shape[0], where[1].start, where[0].start,
            round(1000 * delay), 1000, 0, 0)))
        sequence += 1
        if before is None:
            parts.append(chunk(b"IDAT", packed(part)))
        else:
            parts.append(chunk(b"fdAT", struct.pack(">I", sequence) + packed(part)))
            sequence += 1
        before = flat
    parts.append(chunk(b"IEND", b""))
    file = File(path)
    file.write(b"".join(parts))
    file.commit()
    return sum(map(len, parts))


# ---- runs ---------------------------------------------------------------------------------------

def simulate(folder, out, engine):
    """States of an optimised design, as a CSV file."""
    with open(folder / "task.json", encoding="utf-8") as f:
        task = json.load(f)
    ctrl = ["--ctrl", folder / "ctrl.csv"] if (folder / "ctrl.csv").exists() else []
    command = [BUILD / "bin/dijoco", "simulate", folder / "scene.xml", "--keyframe", "optimized",
               "--time", task["timestep"] * task["horizon"], *ctrl, "--engine", engine,
               "--out", out]
    done = subprocess.run([str(c) for c in command], stdout=subprocess.DEVNULL, check=False)
    if done.returncode not in (0, 1):
        sys.exit("animate: %s could not be simulated" % folder)


def find_runs(texts, mujoco, work):
    """[(title, model, run)]"""
    found = []
    for text in texts:
        title, _, place = text.rpartition("=")
        if os.path.isdir(place):
            engines = ["dijoco"] + ["mujoco"] * mujoco
            for engine in engines:
                states = work / ("%d.csv" % len(found))
                simulate(pathlib.Path(place), states, engine)
                model = view.load_scene(os.path.join(place, "scene.xml"))
                name = title or pathlib.Path(place).name
                found.append((name if engine == "dijoco" else name + " in MuJoCo", model,
                              view.read_run(states, model)))
        else:
            scene, _, states = place.partition(",")
            if not states:
                sys.exit("animate: a run is a folder or SCENE.xml,STATES.csv, not %r" % place)
            model = view.load_scene(scene)
            found.append((title, model, view.read_run(states, model)))
    return found


def lighten(model):
    """Light from the viewer's side, and pale planes, which pictures of few colours need."""
    mujoco = view.import_mujoco()
    light = model.vis.headlight
    light.ambient[:], light.diffuse[:], light.specular[:] = 0.5, 0.45, 0
    model.light_active[:] = 0
    for g in range(model.ngeom):
        if model.geom_type[g] == mujoco.mjtGeom.mjGEOM_PLANE:
            model.geom_matid[g] = -1
            model.geom_rgba[g] = PLANE


def look(runs, options):
    """A camera that sees all moving bodies of all runs."""
    mujoco = view.import_mujoco()
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for _, model, run in runs:
        data = mujoco.MjData(model)
        moving = [g for g in range(model.ngeom) if model.body_weldid[model.geom_bodyid[g]] != 0]
        for t in np.linspace(run.time[0], run.time[-1], 20):
            run.pose(model, data, t)
            for g in moving:
                low = np.minimum(low, data.geom_xpos[g] - model.geom_rbound[g])
                high = np.maximum(high, data.geom_xpos[g] + model.geom_rbound[g])
    if not np.all(high >= low):
        low, high = np.full(3, -1.0), np.full(3, 1.0)
    camera = mujoco.MjvCamera()
    mujoco.mjv_defaultFreeCamera(runs[0][1], camera)
    camera.lookat[:] = (low + high) / 2
    camera.distance = options.distance or 1.1 * np.linalg.norm(high - low)
    camera.azimuth, camera.elevation = options.azimuth, options.elevation
    if options.lookat:
        camera.lookat[:] = options.lookat
    return camera


def written(painter, state, title):
    """Pixels of a title, which MuJoCo writes in white."""
    plain, titled = (painter.draw([state], labels).astype(int) for labels in (None, [title]))
    return (titled - plain).min(axis=2) > 60


def draw(runs, options):
    """Pictures of all runs side by side, with a pause at the end."""
    mujoco = view.import_mujoco()
    camera, size = look(runs, options), options.size
    first, last = runs[0][2].time[0], max(run.time[-1] for _, _, run in runs)
    times = first + np.arange(int((last - first) * options.fps / options.speed + 1e-9) + 1) \
        * options.speed / options.fps
    strips = []
    for title, model, run in runs:
        lighten(model)
        state = mujoco.MjData(model)
        with view.Painter(model, size, 1, camera) as painter:
            strip, text = [], written(painter, state, title)
            for t in times:
                run.pose(model, state, t)
                image = painter.draw([state]).copy()
                image[~image.any(axis=2)] = SKY
                image[text] = TEXT
                strip.append(image)
            strips.append(strip)
    gap = np.full((size[1], 4, 3), 255, np.uint8)
    images = []
    for pictures in zip(*strips):
        parts = [part for picture in pictures for part in (gap, picture)][1:]
        images.append(np.concatenate(parts, axis=1))
    return images + images[-1:] * round(options.pause * options.fps)


def numbers(count, separator):
    def parse(text):
        values = [float(x) for x in text.split(separator)]
        if len(values) != count:
            raise ValueError(text)
        return values
    return parse


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("out")
    parser.add_argument("run", nargs="+", help="[TITLE=]SCENE.xml,STATES.csv or [TITLE=]FOLDER")
    parser.add_argument("--mujoco", action="store_true", help="folders in MuJoCo, too")
    parser.add_argument("--size", type=numbers(2, "x"), default=[320, 240], metavar="WxH")
    parser.add_argument("--fps", type=float, default=15, help="pictures a second")
    parser.add_argument("--speed", type=float, default=1)
    parser.add_argument("--pause", type=float, default=1, help="seconds at the end")
    parser.add_argument("--azimuth", type=float, default=135, help="degrees")
    parser.add_argument("--elevation", type=float, default=-20, help="degrees")
    parser.add_argument("--distance", type=float, help="m")
    parser.add_argument("--lookat", type=numbers(3, ","), metavar="X,Y,Z", help="m")
    options = parser.parse_args()
    options.size = [int(x) for x in options.size]
    try:
        with tempfile.TemporaryDirectory() as work:
            runs = find_runs(options.run, options.mujoco, pathlib.Path(work))
        images = draw(runs, options)
    except view.ViewError as error:
        sys.exit("animate: %s" % error)
    size = write_animation(options.out, images, 1 / options.fps)
    print("%s: %d pictures of %d runs, %.0f kB" % (options.out, len(images), len(runs), size / 1e3))


if __name__ == "__main__":
    main()
