"""Replays of runs that `dijoco simulate --out` wrote.

    python -m dijoco.view scene.xml run.csv                           in MuJoCo's viewer
    python -m dijoco.view scene.xml run.csv other.csv --out both.png  side by side, no display

... or of a scene in both engines while they run (dijoco.twin):

    python -m dijoco.view --compare scene.xml

Needs MuJoCo's Python package.
"""
from __future__ import annotations

import argparse
import math
import os
import pathlib
import sys
import time
import warnings
from ctypes.util import find_library
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, NoReturn, Sequence

import numpy as np

from ._lib import Error
from ._types import Array, MjData, MjModel, NDArray, Path
from .png import Writer, write_png

if TYPE_CHECKING:   # which imports MuJoCo
    from .twin import Twin

RATE = 25              # frames per second of playback, unless --every says which rows
MAX_SIZE = 8192        # pixels of a picture along a side
GHOST = (0.15, 0.4, 0.95, 0.35)
PAUSE = 1.0            # s, at the end of a run before the viewer starts it again


class ViewError(Exception):
    """Bad input, or no means to draw; the text is one line."""


def _one_line(error: object) -> str:
    lines = [line.strip() for line in str(error).splitlines()]
    return "; ".join(line for line in lines if line) or type(error).__name__


# ---- what is replayed ------------------------------------------------------------------------

def import_mujoco() -> Any:
    """MuJoCo's package. On Linux without a display its drawing must be told to do without one."""
    screen = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if sys.platform == "linux" and not screen and "MUJOCO_GL" not in os.environ:
        os.environ["MUJOCO_GL"] = "osmesa" if find_library("OSMesa") else "egl"
    try:
        import mujoco
    except ImportError as error:
        raise ViewError("MuJoCo's Python package is needed (pip install mujoco): %s"
                        % _one_line(error)) from None
    if not hasattr(mujoco, "MjModel"):
        raise ViewError("MuJoCo's Python package is needed (pip install mujoco): "
                        "only parts of it are installed")
    return mujoco


def load_scene(path: str | os.PathLike[str]) -> MjModel:
    """The mujoco.MjModel of an .xml or .mjb file."""
    mujoco = import_mujoco()
    kind = pathlib.Path(path).suffix.lower()
    if kind == ".json":
        raise ViewError("%s: MuJoCo does not draw .json scenes: give the .xml it was made from"
                        % path)
    if kind not in (".xml", ".mjb"):
        raise ViewError("%s: a scene is an .xml or .mjb file" % path)
    if not os.path.isfile(path):
        raise ViewError("%s: there is no such file" % path)
    load = mujoco.MjModel.from_xml_path if kind == ".xml" else mujoco.MjModel.from_binary_path
    try:
        return load(os.fspath(path))
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        text = _one_line(error)
    if "plugin" in text:               # perhaps ours
        try:
            from .mujoco import register_plugins
            register_plugins()
            return load(os.fspath(path))
        except ValueError as error:
            text = _one_line(error)
        except (ImportError, RuntimeError) as error:
            text = "%s (%s)" % (text, _one_line(error))
    raise ViewError("%s: %s" % (path, text))


class Run:
    """States of a run: `time` (T,) s, `qpos` (T, nq), `qvel` (T, nv), `act` (T, na); `name`."""

    def __init__(self, name: str, time: Array, qpos: Array, qvel: Array, act: Array) -> None:
        self.name, self.time, self.qpos, self.qvel, self.act = name, time, qpos, qvel, act

    def row(self, t: float) -> int:
        """Index of the state at time t (s): the last one that is not later."""
        step = 1e-9 * max(1.0, abs(t))
        return max(0, int(np.searchsorted(self.time, t + step, side="right")) - 1)

    def pose(self, model: MjModel, data: MjData, t: float, forces: bool = False) -> None:
        """Sets data, a mujoco.MjData, to the state at time t; `forces`: also what acts there."""
        mujoco = import_mujoco()
        row = self.row(t)
        data.time = self.time[row]
        data.qpos[:], data.qvel[:], data.act[:] = self.qpos[row], self.qvel[row], self.act[row]
        try:
            (mujoco.mj_forward if forces else mujoco.mj_fwdPosition)(model, data)
        except mujoco.FatalError as error:
            raise ViewError("MuJoCo at %g s: %s" % (data.time, _one_line(error))) from None


def read_run(path: str | os.PathLike[str], model: MjModel) -> Run:
    """The run in a CSV file with the columns time, qpos[0].., qvel[0].., act[0].. of the model.

    Of activations, which show in no pose, some may be missing (`simulate --allow-ignored`): they
    are zero then.
    """
    wanted = ["time"] + ["%s[%d]" % (name, i) for name, size in
                         (("qpos", model.nq), ("qvel", model.nv), ("act", model.na))
                         for i in range(size)]
    try:
        with open(path, encoding="utf-8") as file:
            header = [name.strip() for name in file.readline().split(",")]
            if header == [""]:
                raise ViewError("%s: the file is empty" % path)
            missing = len(wanted) - len(header)
            if 0 < missing <= model.na:
                wanted = wanted[:-missing]
            if header != wanted:
                raise ViewError("%s: %s" % (path, _header_error(header, wanted)))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")        # no rows: said below
                table = np.loadtxt(file, delimiter=",", ndmin=2, comments=None)
    except OSError as error:
        raise ViewError("%s: %s" % (path, error.strerror)) from None
    except ValueError as error:        # also text that is not UTF-8
        raise ViewError("%s: not a table of numbers: %s" % (path, _one_line(error))) from None
    if table.size == 0:
        raise ViewError("%s: no rows below the header" % path)
    if table.shape[1] != len(wanted):
        raise ViewError("%s: rows have %d numbers, the header %d names"
                        % (path, table.shape[1], len(wanted)))
    bad = np.argwhere(~np.isfinite(table))
    if bad.size:
        raise ViewError("%s: row %d: %s is %g" % (path, bad[0, 0] + 1, wanted[bad[0, 1]],
                                                  table[tuple(bad[0])]))
    back = np.flatnonzero(np.diff(table[:, 0]) <= 0)
    if back.size:
        raise ViewError("%s: row %d: time does not increase" % (path, back[0] + 2))
    ends = np.cumsum([1, model.nq, model.nv])
    t, qpos, qvel, act = np.split(table, ends, axis=1)
    if act.shape[1] < model.na:
        act = np.zeros((len(t), model.na))
    return Run(pathlib.Path(path).stem, t[:, 0], qpos, qvel, act)


def _header_error(header: list[str], wanted: list[str]) -> str:
    counts = [(name, sum(h.startswith(name + "[") for h in header),
               sum(w.startswith(name + "[") for w in wanted)) for name in ("qpos", "qvel", "act")]
    for name, found, size in counts:
        if found != size and header[0] == "time":
            return "%d columns of %s, the scene has %d" % (found, name, size)
    for i, (given, name) in enumerate(zip(header, wanted)):
        if given != name:
            return "column %d is called %.40r, not %s" % (i + 1, given, name)
    return "%d columns, not %d" % (len(header), len(wanted))


def frame_times(runs: Sequence[Run], every: int | None = None, speed: float = 1.0) -> Array:
    """Times (s) to draw: those of every K-th row of the first run, or RATE per second of playback
    at `speed`. They go on until the last run ends."""
    if every:
        return runs[0].time[::every]
    first, last = runs[0].time[0], max(run.time[-1] for run in runs)
    return first + np.arange(int((last - first) * RATE / speed + 1e-9) + 1) * speed / RATE


# ---- without a display -----------------------------------------------------------------------

def find_camera(model: MjModel, camera: Any) -> Any:
    """A mujoco.MjvCamera: the fixed one of this name or number, or (None) the model's own view."""
    mujoco = import_mujoco()
    view = mujoco.MjvCamera()
    if camera is None and model.vis.global_.cameraid < 0:
        mujoco.mjv_defaultFreeCamera(model, view)
        return view
    names = [model.camera(i).name for i in range(model.ncam)]
    if camera is None:
        index = model.vis.global_.cameraid
    elif camera in names:
        index = names.index(camera)
    else:
        index = int(camera) if str(camera).isdecimal() else -1
    if not 0 <= index < model.ncam:
        known = ", ".join(name or str(i) for i, name in enumerate(names)) or "none"
        raise ViewError("there is no camera %.60r; the scene has: %s" % (camera, known))
    view.type, view.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, index
    return view


class Painter:
    """Draws states of a model offscreen: `size` (width, height) of each, `count` side by side.

    `camera` is a name, a number, a mujoco.MjvCamera, or None; `option` a mujoco.MjvOption.
    To be closed, or used in a `with` statement.
    """

    def __init__(self, model: MjModel, size: tuple[int, int], count: int = 1, camera: Any = None,
                 option: Any = None) -> None:
        mujoco = import_mujoco()
        self._mujoco, self._model, self._size, self._count = mujoco, model, size, count
        given = isinstance(camera, mujoco.MjvCamera)
        self._camera = camera if given else find_camera(model, camera)
        self._option = option if option is not None else mujoco.MjvOption()
        self._scene = mujoco.MjvScene(model, maxgeom=10000)
        self._gl: Any = None
        self._context: Any = None
        width, height = size[0] * count, size[1]
        model.vis.global_.offwidth = max(width, model.vis.global_.offwidth)
        model.vis.global_.offheight = max(height, model.vis.global_.offheight)
        scale = mujoco.mjtFontScale.mjFONTSCALE_200 if size[1] >= 800 else \
            mujoco.mjtFontScale.mjFONTSCALE_100
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._gl = mujoco.GLContext(width, height)
                self._gl.make_current()
                self._context = mujoco.MjrContext(model, scale)
        except Exception as error:     # each way to OpenGL has exceptions of its own
            self.close()
            raise ViewError("no OpenGL without a display (MUJOCO_GL=%s; osmesa and egl need none): "
                            "%s" % (os.environ.get("MUJOCO_GL", ""), _one_line(error))) from None
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)

    def draw(self, states: Sequence[MjData],
             labels: Sequence[str] | None = None) -> NDArray[np.uint8]:
        """A picture (height, count * width, 3) uint8 of `count` mujoco.MjData, each with a text."""
        mujoco = self._mujoco
        width, height = self._size
        self._gl.make_current()
        for k, state in enumerate(states):
            place = mujoco.MjrRect(k * width, 0, width, height)
            mujoco.mjv_updateScene(self._model, state, self._option, None, self._camera,
                                   mujoco.mjtCatBit.mjCAT_ALL, self._scene)
            mujoco.mjr_render(place, self._scene, self._context)
            if labels:
                mujoco.mjr_overlay(mujoco.mjtFont.mjFONT_NORMAL, mujoco.mjtGridPos.mjGRID_TOPLEFT,
                                   place, labels[k], None, self._context)
        return self._read()

    def _read(self) -> NDArray[np.uint8]:
        mujoco = self._mujoco
        width, height = self._size
        image = np.empty((height, self._count * width, 3), np.uint8)
        place = mujoco.MjrRect(0, 0, self._count * width, height)
        mujoco.mjr_readPixels(image, None, place, self._context)
        return image[::-1]

    def close(self) -> None:
        if self._context is not None:
            self._gl.make_current()
            self._context.free()
        if self._gl is not None:
            self._gl.free()
        self._gl = self._context = None

    def __enter__(self) -> Painter:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()


def _names(runs: Sequence[Run]) -> list[str]:
    """What tells runs apart: the files' names, or their numbers."""
    names = [run.name for run in runs]
    if len(set(names)) < len(names):
        names = ["%s (%d)" % (name, k + 1) for k, name in enumerate(names)]
    return names


def draw_runs(model: MjModel, runs: Sequence[Run], times: Iterable[float],
              size: tuple[int, int] = (640, 480), camera: Any = None,
              contacts: bool = False) -> Iterator[NDArray[np.uint8]]:
    """Yields pictures (height, width * len(runs), 3) uint8 of the runs at these times (s).

    Two runs are shown side by side and labelled. `contacts`: contact points and forces are shown.
    """
    mujoco = import_mujoco()
    option = mujoco.MjvOption()
    if contacts:
        show_contacts(option)
    states = [mujoco.MjData(model) for _ in runs]
    names = _names(runs)
    with Painter(model, size, len(runs), camera, option) as painter:
        for t in times:
            for run, state in zip(runs, states):
                run.pose(model, state, t, forces=contacts)
            labels = ["%s\n%.2f s" % (name, state.time) for name, state in zip(names, states)]
            yield painter.draw(states, labels if len(runs) > 1 else None)


def show_contacts(option: Any) -> None:
    """Turns contact points and forces on in a mujoco.MjvOption, and bodies translucent."""
    flag = import_mujoco().mjtVisFlag
    for name in ("CONTACTPOINT", "CONTACTFORCE", "TRANSPARENT"):
        option.flags[getattr(flag, "mjVIS_" + name)] = 1


def write_frames(folder: Path, images: Iterable[NDArray[np.uint8]], count: int) -> int:
    """One PNG file per image, frame_0000.png and on. Returns their number."""
    digits = max(4, len(str(count - 1)))
    number = 0
    for image in images:
        os.makedirs(folder, exist_ok=True)     # not before drawing works
        write_png(os.path.join(folder, "frame_%0*d.png" % (digits, number)), image)
        number += 1
    return number


def write_animation(path: Path, images: Iterable[NDArray[np.uint8]], count: int,
                    delay: float) -> int:
    """One PNG file with all `count` images, `delay` (s) apart. Returns their number."""
    images = iter(images)
    first = next(images)               # the file is made once drawing works
    with Writer(path, count, delay if count > 1 else None) as writer:
        writer.write(first)
        number = 1
        for image in images:
            writer.write(image)
            number += 1
    return number


# ---- both engines ----------------------------------------------------------------------------

class TwinPainter(Painter):
    """Pictures of a `twin.Twin`, offscreen: `size` (width, height) of each engine's."""

    def __init__(self, twin: Twin, size: tuple[int, int], camera: Any = None) -> None:
        from .twin import BAR, Artist, Layout
        self._layout = Layout(2 * size[0], size[1] + BAR)
        super().__init__(twin.model, (size[0], size[1] + BAR), 2, camera)
        self.artist = Artist(twin.model, self._context, self._camera, self._option)

    def draw_twin(self, twin: Twin, time: float, end: float) -> NDArray[np.uint8]:
        """Both engines at a time, and the slider, which ends at `end`."""
        self._gl.make_current()
        self.artist.draw(twin, time, self._layout, end)
        return self._read()


def draw_twin(twin: Twin, times: Sequence[float], size: tuple[int, int] = (640, 480),
              camera: Any = None) -> Iterator[NDArray[np.uint8]]:
    """Yields pictures of both engines at these times (s), up to which they are simulated."""
    painter = TwinPainter(twin, size, camera)
    with painter:
        for t in times:
            twin.advance(t)
            yield painter.draw_twin(twin, t, times[-1])


def make_twin(model: MjModel, keyframe: str | None = None) -> Twin:
    """Both engines from a keyframe (its name or number), or from qpos0."""
    from .twin import Twin
    names = [model.key(i).name for i in range(model.nkey)]
    key = None
    if keyframe is not None:
        key = names.index(keyframe) if keyframe in names else (
            int(keyframe) if keyframe.isdecimal() else -1)
        if not 0 <= key < model.nkey:
            raise ViewError("there is no keyframe %.60r; the scene has: %s"
                            % (keyframe, ", ".join(filter(None, names)) or model.nkey))
    return Twin(model, key)


# ---- in the viewer ---------------------------------------------------------------------------

def _open_viewer(model: MjModel, data: MjData, key: Callable[[int], None]) -> Any:
    try:
        import glfw
        import mujoco.viewer
    except (ImportError, RuntimeError) as error:
        raise ViewError("MuJoCo's viewer does not load: %s" % _one_line(error)) from None
    if sys.platform != "darwin":       # there the window is not made in this process' main thread
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not glfw.init():
                raise ViewError("no display for MuJoCo's viewer; "
                                "--frames DIR and --out FILE.png draw without one")
    try:
        return mujoco.viewer.launch_passive(model, data, key_callback=key, show_left_ui=False,
                                            show_right_ui=False)
    except RuntimeError as error:      # macOS: needs mjpython
        raise ViewError(_one_line(error)) from None


def _add_ghost(scene: Any, model: MjModel, data: MjData, option: Any) -> None:
    """Fills a mujoco.MjvScene with the moving geoms of data, all in one translucent colour, and a
    little larger so that they do not flicker where both runs agree."""
    mujoco = import_mujoco()
    scene.ngeom = 0
    mujoco.mjv_addGeoms(model, data, option, mujoco.MjvPerturb(),
                        mujoco.mjtCatBit.mjCAT_DYNAMIC, scene)
    for geom in scene.geoms[:scene.ngeom]:
        geom.rgba[:] = GHOST
        geom.size[:] *= 1.01
        geom.matid = -1


def replay(model: MjModel, runs: Sequence[Run], speed: float = 1.0, camera: Any = None,
           contacts: bool = False) -> None:
    """Plays runs in MuJoCo's viewer until its window is closed; space stops and goes on.

    A second run is shown as a translucent ghost in the first one's scene.
    """
    mujoco = import_mujoco()
    states = [mujoco.MjData(model) for _ in runs]
    first, last = runs[0].time[0], max(run.time[-1] for run in runs)
    t, playing = first, True

    def key(code: int) -> None:
        nonlocal playing
        if code == ord(" "):
            playing = not playing

    view = find_camera(model, camera)
    runs[0].pose(model, states[0], t)
    names = _names(runs)
    with _open_viewer(model, states[0], key) as handle:
        handle.cam.lookat[:] = view.lookat
        for name in "type", "fixedcamid", "distance", "azimuth", "elevation":
            setattr(handle.cam, name, getattr(view, name))
        if contacts:
            show_contacts(handle.opt)
        before = time.monotonic()
        while handle.is_running():
            now = time.monotonic()
            t += speed * (now - before) if playing else 0
            before = now
            if t > last + speed * PAUSE:
                t = first
            with handle.lock():
                for run, state in zip(runs, states):
                    run.pose(model, state, t, forces=contacts)
                if len(runs) > 1:
                    _add_ghost(handle.user_scn, model, states[1], handle.opt)
            handle.set_texts((None, mujoco.mjtGridPos.mjGRID_TOPLEFT,
                              "\n".join(["time", "solid", "ghost"][:1 + len(runs)]),
                              "\n".join(["%.2f s" % states[0].time] + names)))
            handle.sync()
            time.sleep(1 / 60)


def show_twin(twin: Twin, camera: Any = None, limit: float | None = None, speed: float = 1.0,
              size: tuple[int, int] | None = None) -> None:
    """Both engines in a window of their own, until it is closed; `size` of each engine's part."""
    from .twin import BAR
    from .window import NoWindow, show
    width, height = size or (640, 600)
    try:
        show(twin, find_camera(twin.model, camera), limit=math.inf if limit is None else limit,
             speed=speed, size=(2 * width, height + BAR))
    except NoWindow as error:
        raise ViewError("%s for the window; --frames DIR and --out FILE.png draw without one"
                        % error) from None


# ---- the command -----------------------------------------------------------------------------

def _positive(kind: Callable[[str], float], limit: float) -> Callable[[str], float]:
    def parse(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            value = 0.0
        if not 0 < value <= limit:
            raise argparse.ArgumentTypeError("%.40r is no positive number" % text)
        return value
    return parse


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.lower().partition("x")
    if not (width.isdecimal() and height.isdecimal()) or \
            not (0 < int(width) <= MAX_SIZE and 0 < int(height) <= MAX_SIZE):
        raise argparse.ArgumentTypeError("%.40r is no size; write 640x480 (at most %d)"
                                         % (text, MAX_SIZE))
    return int(width), int(height)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ViewError(message + " (--help explains the options)")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = _Parser(prog="dijoco.view", description="Replays runs written by `dijoco simulate "
                     "--out`, in MuJoCo's viewer or as pictures; or compares engines.")
    parser.add_argument("scene", metavar="SCENE", help=".xml or .mjb")
    parser.add_argument("runs", metavar="RUN.csv", nargs="*",
                        help="one run, or two: side by side, in the viewer the second as a ghost")
    parser.add_argument("--compare", action="store_true",
                        help="no runs: both engines on the scene, side by side, as they go on, with "
                        "planes and forces of contacts and a slider for time. Space stops and goes "
                        "on, arrows step, p and f hide planes and forces")
    parser.add_argument("--time", metavar="T", type=_positive(float, 1e6),
                        help="of --compare: until T s (pictures: 2)")
    parser.add_argument("--keyframe", metavar="NAME",
                        help="of --compare: name or number of the keyframe to start from")
    target = parser.add_mutually_exclusive_group()
    target.add_argument("--frames", metavar="DIR",
                        help="no viewer: one picture per frame, DIR/frame_0000.png and on")
    target.add_argument("--out", metavar="FILE.png", help="no viewer: one animated picture")
    parser.add_argument("--every", metavar="K", type=_positive(int, math.inf),
                        help="draw every K-th row (default: %d frames per second)" % RATE)
    parser.add_argument("--size", metavar="WxH", type=_size,
                        help="of a run's picture, in pixels (default 640x480)")
    parser.add_argument("--camera", metavar="NAME", help="name or number of the scene's camera")
    parser.add_argument("--speed", metavar="S", type=_positive(float, 1e6), default=1.0,
                        help="of the playback; 1 is real time")
    parser.add_argument("--contacts", action="store_true",
                        help="show contact points and forces, as MuJoCo or its plugins find them")
    args = parser.parse_intermixed_args(arguments)
    drawn = args.frames is not None or args.out is not None
    if args.compare:
        if args.runs or args.every or args.contacts:
            raise ViewError("--compare makes the runs itself, and shows contacts: give the scene "
                            "alone")
    elif not 1 <= len(args.runs) <= 2:
        raise ViewError("one run or two, not %d" % len(args.runs))
    elif args.time or args.keyframe:
        raise ViewError("--time and --keyframe are for --compare")
    if not drawn and (args.every or (args.size and not args.compare)):
        raise ViewError("--every and --size are for --frames and --out")
    if args.out is not None and pathlib.Path(args.out).suffix.lower() != ".png":
        raise ViewError("%s: --out writes .png" % args.out)
    return args


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit status: 0, or 2 after one line on stderr."""
    try:
        args = _parse(arguments)
        model = load_scene(args.scene)
        if args.compare:
            twin = make_twin(model, args.keyframe)
            if args.frames is None and args.out is None:
                show_twin(twin, args.camera, args.time, args.speed, args.size)
                return 0
            end = args.time or 2.0
            times = np.arange(int(end * RATE / args.speed + 1e-9) + 1) * args.speed / RATE
            images = draw_twin(twin, list(times), args.size or (640, 480), args.camera)
        else:
            runs = [read_run(path, model) for path in args.runs]
            if args.frames is None and args.out is None:
                replay(model, runs, args.speed, args.camera, args.contacts)
                return 0
            times = frame_times(runs, args.every, args.speed)
            images = draw_runs(model, runs, times, args.size or (640, 480), args.camera,
                               args.contacts)
        if args.frames is not None:
            count = write_frames(args.frames, images, len(times))
            print("%d pictures in %s" % (count, args.frames))
        else:
            delay = (times[-1] - times[0]) / max(1, len(times) - 1) / args.speed
            count = write_animation(args.out, images, len(times), delay)
            print("%d pictures in %s" % (count, args.out))
        return 0
    except (ViewError, Error) as error:
        print("dijoco.view: %s" % error, file=sys.stderr)
    except OSError as error:
        print("dijoco.view: %s: %s" % (error.filename or "output", error.strerror or error),
              file=sys.stderr)
    except KeyboardInterrupt:
        return 130
    return 2


if __name__ == "__main__":
    sys.exit(main())
