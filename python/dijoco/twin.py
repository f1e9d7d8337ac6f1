"""One scene in both engines at the same time, kept from its start on, and pictures of both side by
side: bodies, and of each contact its point, plane and force. What `dijoco.view --compare` shows.

A contact is a row of CONTACT numbers: point (3) m, unit normal (3), force (3) N on what the normal
points at. Of MuJoCo they are those at the start of a step, of ours at its end.
"""
from __future__ import annotations

from typing import Any, List, NamedTuple, Sequence

import numpy as np

from ._types import Array, MjData, MjModel, NDArray
from .mujoco import Context

CONTACT = 9
NAMES = ("DiJoCo", "MuJoCo")
COLORS = ((0.15, 0.55, 0.95, 1.0), (0.95, 0.5, 0.1, 1.0))   # of planes, points and forces
PLANE = 0.25                                                # opacity of planes
BAR, EDGE = 26, 10              # pixels: height of the slider, its margin


class Frame(NamedTuple):
    """A time of one engine."""

    time: float
    qpos: Array
    contacts: Array   # (n, CONTACT)


class Engine:
    """An engine on an MjData of its own, and the frames that it has gone through."""

    def __init__(self, name: str, model: MjModel, key: int | None, context: Context | None) -> None:
        import mujoco
        self.name, self._model, self._context = name, model, context
        self._mujoco, self._data = mujoco, mujoco.MjData(model)
        if key is not None:
            mujoco.mj_resetDataKeyframe(model, self._data, key)
        self.frames: List[Frame] = []
        self._keep(np.zeros((0, CONTACT)))

    def _keep(self, contacts: Array) -> None:
        time = len(self.frames) * self._model.opt.timestep
        self.frames.append(Frame(time, self._data.qpos.copy(), contacts))

    def step(self) -> None:
        """One step."""
        if self._context is not None:
            self._context.step(self._data)
            found = self._context.data.contacts
            rows = np.concatenate([found.point, found.normal, found.force], axis=1)
        else:
            self._mujoco.mj_step(self._model, self._data)
            rows = self._contacts()
        self._keep(rows)

    def _contacts(self) -> Array:
        d, force = self._data, np.zeros(6)
        rows = np.zeros((d.ncon, CONTACT))
        for i in range(d.ncon):
            self._mujoco.mj_contactForce(self._model, d, i, force)
            axes = np.reshape(d.contact.frame[i], (3, 3))
            rows[i] = *d.contact.pos[i], *axes[0], *(force[:3] @ axes)
        return rows

    def at(self, time: float) -> Frame:
        """The last frame that is not later."""
        step = self._model.opt.timestep
        return self.frames[int(np.clip(np.floor(time / step + 1e-6), 0, len(self.frames) - 1))]


class Twin:
    """Both engines from the same start: qpos0, or a keyframe (index). Keyword arguments are
    settings of the `Context`."""

    def __init__(self, model: MjModel, key: int | None = None, **settings: Any) -> None:
        self.model = model
        self.engines = (Engine(NAMES[0], model, key, Context(model, **settings)),
                        Engine(NAMES[1], model, key, None))

    @property
    def end(self) -> float:
        """Time up to which both are known, s."""
        return min(engine.frames[-1].time for engine in self.engines)

    def advance(self, time: float) -> None:
        """Step both until `time`."""
        while self.end < time - 1e-9:
            for engine in self.engines:
                engine.step()

    def apart(self, time: float) -> float:
        """The largest difference of their qpos."""
        ours, theirs = (engine.at(time).qpos for engine in self.engines)
        return float(np.abs(ours - theirs).max(initial=0))


# ---- the picture -----------------------------------------------------------------------------

class Layout:
    """Where things are in a window of (width, height) pixels, from its lower left corner."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        half = width // 2
        self.views = ((0, BAR, half, height - BAR), (half, BAR, width - half, height - BAR))
        self.bar = (EDGE, EDGE // 2, max(1, width - 2 * EDGE), BAR - EDGE)

    def on_bar(self, y: float) -> bool:
        """Whether a height, from below, is the slider's."""
        return 0 <= y < BAR

    def fraction(self, x: float) -> float:
        """Of the slider, left of x."""
        return min(1.0, max(0.0, (x - self.bar[0]) / self.bar[2]))


def _axes(normal: NDArray[Any]) -> Array:
    """A rotation matrix whose last column is along a unit normal."""
    other = np.eye(3)[np.argmin(np.abs(normal))]
    first = np.cross(other, normal)
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(normal, first), normal], axis=1)


class Artist:
    """Draws a twin by MuJoCo into the framebuffer of an OpenGL context that is current."""

    def __init__(self, model: MjModel, context: Any, camera: Any, option: Any = None) -> None:
        import mujoco
        self._mujoco, self._model, self._context = mujoco, model, context
        self.camera = camera
        self.option = option if option is not None else mujoco.MjvOption()
        self.option.flags[mujoco.mjtVisFlag.mjVIS_TRANSPARENT] = 1   # forces are inside
        self.planes = self.forces = True
        self.scene = mujoco.MjvScene(model, maxgeom=10000)
        self._data = mujoco.MjData(model)

    def draw(self, twin: Twin, time: float, layout: Layout, end: float) -> None:
        """Both engines at a time, and a slider that goes up to `end`."""
        mujoco = self._mujoco
        for engine, color, place in zip(twin.engines, COLORS, layout.views):
            frame = engine.at(time)
            self._data.time, self._data.qpos[:] = frame.time, frame.qpos
            mujoco.mj_fwdPosition(self._model, self._data)
            mujoco.mjv_updateScene(self._model, self._data, self.option, None, self.camera,
                                   mujoco.mjtCatBit.mjCAT_ALL, self.scene)
            for row in frame.contacts:
                self._add_contact(row, color)
            rect = mujoco.MjrRect(*place)
            mujoco.mjr_render(rect, self.scene, self._context)
            total = float(np.linalg.norm(frame.contacts[:, 6:], axis=1).sum())
            mujoco.mjr_overlay(mujoco.mjtFont.mjFONT_NORMAL, mujoco.mjtGridPos.mjGRID_TOPLEFT, rect,
                               "%s\ntime\ncontacts\nforces" % engine.name,
                               "\n%.3f s\n%d\n%.4g N" % (frame.time, len(frame.contacts), total),
                               self._context)
        self._draw_bar(layout, time / end if end > 0 else 0.0)

    def _draw_bar(self, layout: Layout, fraction: float) -> None:
        mujoco = self._mujoco
        x, y, width, height = layout.bar
        at = round(min(1.0, fraction) * width)
        for place, gray in (((0, 0, layout.width, BAR), 0.1), ((x, y, width, height), 0.3),
                            ((x, y, at, height), 0.6), ((x + at - 3, 1, 6, BAR - 2), 0.95)):
            if place[2] > 0:
                mujoco.mjr_rectangle(mujoco.MjrRect(*place), gray, gray, gray, 1)

    def _add(self, kind: str, size: Sequence[float], pos: Array, axes: Array,
             color: Sequence[float]) -> Any:
        """One more geom of the scene, where there is room."""
        mujoco, scene = self._mujoco, self.scene
        if scene.ngeom >= scene.maxgeom:
            return None
        geom = scene.geoms[scene.ngeom]
        mujoco.mjv_initGeom(geom, getattr(mujoco.mjtGeom, "mjGEOM_" + kind), np.array(size, float),
                            pos, axes.ravel(), np.array(color, np.float32))
        scene.ngeom += 1
        return geom

    def _add_contact(self, row: Array, color: Sequence[float]) -> None:
        """Point and plane, and force as long as MuJoCo draws them."""
        vis, stat = self._model.vis, self._model.stat
        point, normal, force = row[:3], row[3:6], row[6:]
        width = vis.scale.contactwidth * stat.meansize
        axes = _axes(normal)
        if self.planes:
            half = 2 * width
            self._add("BOX", (half, half, half / 50), point, axes, (*color[:3], PLANE))
            self._add("SPHERE", (width / 4,) * 3, point, np.eye(3), color)
        length = float(np.linalg.norm(force)) * vis.map.force / max(stat.meanmass, 1e-9)
        if self.forces and length > 0:
            thick = vis.scale.forcewidth * stat.meansize
            axes = _axes(force / np.linalg.norm(force))
            self._add("ARROW", (thick, thick, length), point, axes, color)


class Control:
    """What keys and the mouse change: whether it plays, the time shown, the camera."""

    def __init__(self, twin: Twin, artist: Artist, layout: Layout, limit: float,
                 speed: float = 1.0) -> None:
        self.twin, self.artist, self.layout = twin, artist, layout
        self.time, self.limit, self.speed = 0.0, limit, speed
        self.playing = True
        self._dragged = ""
        self._last = (0.0, 0.0)

    @property
    def end(self) -> float:
        """Where the slider ends: what is known, of a run with a limit that."""
        return self.limit if np.isfinite(self.limit) else max(self.twin.end, 1e-9)

    def tick(self, seconds: float, budget: float = np.inf) -> None:
        """Time goes by; both engines follow, by at most `budget` seconds of theirs at a time."""
        if self.playing:
            wanted = min(self.time + self.speed * seconds, self.limit)
            self.twin.advance(min(wanted, self.twin.end + budget))
            self.time = min(wanted, self.twin.end)

    def key(self, name: str) -> None:
        """SPACE plays and stops, LEFT and RIGHT are a step, HOME the start; P planes, F forces."""
        step = self.artist._model.opt.timestep
        if name == "SPACE":
            self.playing = not self.playing
        elif name in ("LEFT", "RIGHT", "HOME"):
            self.playing = False
            to = {"LEFT": self.time - step, "RIGHT": self.time + step, "HOME": 0.0}[name]
            self.show(to)
        elif name == "P":
            self.artist.planes = not self.artist.planes
        elif name == "F":
            self.artist.forces = not self.artist.forces

    def show(self, time: float) -> None:
        """Go to a time, simulating up to there where it is new."""
        time = min(max(time, 0.0), self.limit)
        self.twin.advance(time)
        self.time = time

    def press(self, x: float, y: float, button: str) -> None:
        """x, y: pixels from the lower left corner; button: "LEFT", "RIGHT", "MIDDLE"."""
        on_bar = self.layout.on_bar(y)
        self._dragged, self._last = "BAR" if on_bar else button, (x, y)
        if on_bar:
            self.playing = False
            self.move(x, y)

    def release(self) -> None:
        self._dragged = ""

    def move(self, x: float, y: float) -> None:
        """The pointer has gone there."""
        if self._dragged == "BAR":
            self.show(self.layout.fraction(x) * self.end)
        elif self._dragged:
            self._turn(self._dragged, x - self._last[0], self._last[1] - y)
        self._last = (x, y)

    def scroll(self, amount: float) -> None:
        self._turn("SCROLL", 0, 0.05 * amount * self.layout.height)

    def _turn(self, how: str, dx: float, dy: float) -> None:
        import mujoco
        action = {"LEFT": mujoco.mjtMouse.mjMOUSE_ROTATE_V,
                  "RIGHT": mujoco.mjtMouse.mjMOUSE_MOVE_V}.get(how, mujoco.mjtMouse.mjMOUSE_ZOOM)
        height = self.layout.height
        mujoco.mjv_moveCamera(self.artist._model, action, dx / height, dy / height,
                              self.artist.camera)
