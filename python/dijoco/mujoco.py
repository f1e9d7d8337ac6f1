"""Inside MuJoCo programs: our step and its derivatives on `mujoco.MjData`, and our plugins."""
from __future__ import annotations

import ctypes
import importlib
import warnings
from ctypes import byref, c_void_p
from typing import Any, Literal, Mapping, NamedTuple, NoReturn

import numpy as np

from . import _lib, setting
from ._lib import Handle, call, core
from ._types import Array, ArrayLike, MjData, MjModel, Path
from .data import Data
from .mj_transition import Transition, TransitionInfo, check_sizes, transition  # noqa: F401
from .model import (Model, ModelWarning, ReportEntry, mujoco_address, take_report,
                    warn_ignored)

__all__ = ["Context", "MuJoCoContext", "PluginState", "Transition", "TransitionInfo",
           "register_plugins", "transition"]


class PluginState(NamedTuple):
    """What the plugin found in the last evaluation: copies `model` and `data`."""

    model: Model
    data: Data

    def __repr__(self) -> str:
        return _lib.line("PluginState", "of %r" % self.data)


class _CStepOption(_lib.Struct):
    _fields_ = [("substeps", ctypes.c_int), ("sensors", ctypes.c_bool)]


_lib.MIRRORS.update(djmStepOption=_CStepOption)


DERIVATIVES = ("analytic", "mujoco")  # of our step, or of MuJoCo's own


class Context:
    """Our step in place of mj_step, on MuJoCo's own data.

        context = dijoco.Context(mj_model)
        context.step(mj_data)
        A, B = context.transition(mj_data)

        context = dijoco.Context(mj_model, contact="penalty", preset="smooth", restitution="given")

    Keyword arguments are `derivatives`, `substeps`, `sensors` (the properties of these
    names) and any of `dijoco.settings()`, which are stronger than the scene's.

    record: a file to which the steps are written, for `dijoco replay` (docs/record.md); by default,
    from the first call on, that of the environment's DIJOCO_RECORD, as of a `Data`.

    derivatives="mujoco": a `MuJoCoContext`, whose step is stock mj_step, with its derivatives; it
    takes no other keyword.

    Calls see what has changed of the MjModel: its options, sizes, poses, masses, friction,
    gains..., all but meshes, height fields, keyframes, names and what joins elements to each other.
    `model` and `data` then have other arrays: ask anew rather than keep them. Settings given here, and what
    was set on `model` since, stay in force. A change that cannot be followed raises.

    One `ModelWarning` tells what is not as in MuJoCo, a `StepWarning` the first step of a run that
    did not converge, that another integrator took, or that began with overlaps (`StepWarning`).
    Calls release Python's lock; those on one Context wait for each other. `status` is that of the
    last call: 1 where its step did not converge (the best iterate was kept), else 0.
    """

    __slots__ = ("_library", "_handle", "_address", "_mj_model", "_m", "_model", "_data", "_lock",
                 "_changes", "_given", "_smooth", "status", "__weakref__")

    def __new__(cls, mj_model: MjModel, *, derivatives: str = "analytic", **_: Any) -> Context:
        if derivatives not in DERIVATIVES:
            raise ValueError("derivatives: unknown %r, there are: %s"
                             % (derivatives, ", ".join(DERIVATIVES)))
        if derivatives == "mujoco" and cls is not MuJoCoContext:
            if cls is not Context:
                raise TypeError("derivatives=\"mujoco\": not of a class derived from Context")
            cls = MuJoCoContext
        return super().__new__(cls)

    def __init__(self, mj_model: MjModel, *, derivatives: str = "analytic",
                 substeps: int | None = None, sensors: bool | None = None,
                 record: Path | Literal[False] | None = None, **settings: Any) -> None:
        address = mujoco_address(mj_model, "MjModel")
        given = setting.given(settings, ("derivatives", "substeps", "sensors", "record"))
        library = _lib.plugin()
        context, report = c_void_p(), c_void_p()
        call(library.djm_makeContextWith, byref(context), byref(report), address,
             given if settings else None)
        handle = Handle(context.value, library.djm_deleteContext, (mj_model,))
        self._library, self._handle, self._address = library, handle, context.value
        self._mj_model, self._m, self.status, self._changes = mj_model, address, 0, 0
        self._given = settings
        self._smooth: Context | None = None
        self._model = Model._make(Handle(library.djm_model(self._address), keep=handle),
                                  take_report(report.value))
        warn_ignored(self._model)
        self._data = Data._of(self._model, Handle(library.djm_data(self._address), keep=handle))
        self._lock = self._data._lock
        if substeps is not None:
            self.substeps = substeps
        if sensors is not None:
            self.sensors = sensors
        if record:
            self._data.start_record(record)

    def __repr__(self) -> str:
        m = self._mj_model
        option = self._model.option
        return _lib.line("Context", "nq=%d nv=%d nu=%d ngeom=%d contact=%s integrator=%s%s" % (
            m.nq, m.nv, m.nu, m.ngeom, option["contact"], option["integrator"],
            " substeps=%d" % self.substeps if self.substeps != 1 else ""))

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(self._no_attribute(name))

    def __setattr__(self, name: str, value: Any) -> None:
        try:
            super().__setattr__(name, value)
        except AttributeError:
            raise AttributeError(self._no_attribute(name)) from None

    @staticmethod
    def _no_attribute(name: str) -> str:
        if name in setting.TABLE:
            return ("a Context has no attribute %r: use context.model.option[%r], or "
                    "Context(mj_model, %s=...)" % (name, name, name))
        return "a Context has no attribute %r that can be read or set" % name

    @staticmethod
    def of_plugin(mj_model: MjModel, mj_data: MjData) -> PluginState | None:
        """What mj_data's dijoco.contact instance found in the last evaluation (mj_step,
        mj_forward...), or None where the model has none: a `PluginState` of `model` and `data`,
        which are copies."""
        m, d = mujoco_address(mj_model, "MjModel"), mujoco_address(mj_data, "MjData")
        check_sizes(mj_model, mj_data)
        library = _lib.plugin()
        context = library.djm_pluginContext(m, d)
        if not context:
            return None
        model = c_void_p()
        call(core.dj_copyModel, byref(model), library.djm_model(context))
        data = Data(Model._make(Handle(model.value, core.dj_deleteModel)), record=False)
        data._check(core.dj_copyData(data._address, model, library.djm_data(context)))
        return PluginState(data.model, data)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles hold the MjModel, the settings given, and what was set on `model` since: not the
        statistics, nor where the last step left mocap bodies."""
        fresh = _restored(type(self), self._mj_model, self._given, self.substeps, self.sensors)
        mine, its = self._model, fresh._model
        options = {name: mine.option[name] for name in mine.option
                   if not np.array_equal(mine.option[name], its.option[name])}
        if options.get("timestep") == its.option["timestep"] / self.substeps:
            del options["timestep"]   # which the first call divides
        its.option["timestep"] = mine.option["timestep"]   # which rules follow
        params = {name: mine.param(name) for name in mine.match("*")
                  if not np.array_equal(mine.param(name), its.param(name))}
        return _restored, (type(self), self._mj_model, self._given, self.substeps, self.sensors,
                           options, params)

    @property
    def derivatives(self) -> str:
        """Which derivatives `transition` gives."""
        return "analytic"

    @property
    def model(self) -> Model:
        """The context's own `Model`; its options may be set."""
        return self._model

    @property
    def data(self) -> Data:
        """The context's own `Data`: stats, contacts and body_forces of the last step."""
        return self._data

    @property
    def report(self) -> list[ReportEntry]:
        """What the import does not carry exactly: a list of `ReportEntry`."""
        return self._model.report

    @property
    def _option(self) -> _CStepOption:
        return _CStepOption.from_address(self._library.djm_stepOption(self._address))

    @property
    def substeps(self) -> int:
        """Steps of timestep/substeps that make one; 1."""
        return self._option.substeps

    @substeps.setter
    def substeps(self, value: int) -> None:
        self._option.substeps = _lib.integer(value, "substeps")

    @property
    def sensors(self) -> bool:
        """Whether `step` also fills, as mj_step does, what mj_forward finds at its start: poses,
        velocities, sensordata. By default it does where the model has sensors that are not
        disabled."""
        return self._option.sensors

    @sensors.setter
    def sensors(self, value: bool) -> None:
        self._option.sensors = bool(value)

    def _target(self, mj_data: MjData) -> int:
        address = mujoco_address(mj_data, "MjData")
        check_sizes(self._mj_model, mj_data)
        return address

    def _call(self, function: Any, *args: Any) -> int:
        """Call a function whose last argument is the context, and follow what it has changed. The
        lock is held."""
        status = function(*args)
        if self._library.djm_changes(self._address) != self._changes:
            self._renew()
        return status

    def _renew(self) -> None:
        """The arrays of model and data are others now; the old ones live as long as their views."""
        library = self._library
        things: tuple[Model | Data, ...] = (self._model, self._data)
        old = [c_void_p(), c_void_p()]
        report = c_void_p()
        library.djm_takeChange(self._address, *map(byref, old), byref(report))
        self._changes = library.djm_changes(self._address)
        for thing, address, delete in zip(things, old, (core.dj_deleteModel, core.dj_deleteData)):
            thing._handle.keep = (self._handle, Handle(address.value, delete))
            thing._handle = Handle(thing._address, keep=self._handle)
            thing._views.clear()
        self._model._forget_sizes()
        known = set(self._model._report)
        self._model._report = take_report(report.value)
        warn_ignored(self._model, known, 5)

    def _check(self, status: int) -> int:
        self.status = status
        if status < 0 or status == _lib.SINGULAR:
            text = self._library.djm_errorText(self._address).decode(errors="replace")
            _lib.fail(status, text)
        return status

    def step(self, mj_data: MjData, n: int = 1) -> int:
        """n steps: reads and writes time, qpos, qvel, act; writes qacc, qfrc_constraint, cfrc_ext,
        and with `sensors` what mj_step leaves in sensordata and the poses. Returns 0, or 1 where a
        step did not converge (its best iterate was kept; see `data.stats`)."""
        d, worst = self._target(mj_data), 0
        n = _lib.count(n, "n")
        with self._lock:
            for _ in range(n):
                status = self._call(self._library.djm_step, self._m, d, self._address)
                if status != 0:
                    worst = max(worst, self._check(status))
            self.status = worst
        self._data._warn()
        return worst

    def mocap_velocity(self, mj_data: MjData) -> Array:
        """Velocities (nmocap, 6) of mocap bodies in the next step from mj_data: of the origin
        (m/s), angular (rad/s), world axes. The context knows where its last step left them, of the
        MjData that it was on, as long as the time there is what it was then; else they are 0."""
        d, velocity = self._target(mj_data), np.zeros((self._mj_model.nmocap, 6))
        with self._lock:
            self._check(self._call(self._library.djm_getMocapVelocity, velocity.ctypes.data,
                                   self._m, d, self._address))
        return velocity

    def set_mocap_velocity(self, mj_data: MjData, velocity: ArrayLike) -> None:
        """Set them for the next step from mj_data."""
        d = self._target(mj_data)
        velocity = _lib.numbers(velocity, (self._mj_model.nmocap, 6), "velocity")
        with self._lock:
            self._check(self._call(self._library.djm_setMocapVelocity, self._m, d, self._address,
                                   velocity.ctypes.data))

    def forward(self, mj_data: MjData) -> int:
        """In place of mj_forward: everything that it computes, with our contact."""
        d = self._target(mj_data)
        with self._lock:
            return self._check(self._call(self._library.djm_forward, self._m, d, self._address))

    @property
    def smooth(self) -> Context:
        """A Context of the same scene with the settings given to this one, but contact by the preset
        `smooth`: `transition(..., derivatives="smooth")` is its. It follows changes of the MjModel;
        what was set on `model` is to be set on its `model`, too."""
        if self._smooth is None:
            if "preset" in self._given:
                raise ValueError("derivatives=\"smooth\": not beside a preset that was given, %r"
                                 % self._given["preset"])
            self._smooth = _restored(Context, self._mj_model, dict(self._given, preset="smooth"),
                                     self.substeps, self.sensors)
        return self._smooth

    def transition(self, mj_data: MjData, sensors: bool = False,
                   derivatives: str | None = None) -> tuple[Array, ...]:
        """Derivatives of the step from mj_data's state, which is not changed. With nx = 2 nv + na:
        A (nx, nx), B (nx, nu), and with sensors C (nsensordata, nx), D (nsensordata, nu), as
        mujoco.mjd_transitionFD has them.

        derivatives="smooth": those of a step with the contact of the preset `smooth`, from the same
        state, for optimizers that make plans along runs with the contact as it is."""
        if derivatives == "smooth":
            return self._smooth_transition(mj_data, sensors)
        if derivatives not in (None, "analytic"):
            raise ValueError("derivatives: expected analytic or smooth, not %r" % (derivatives,))
        m, d = self._mj_model, self._target(mj_data)
        nx = 2 * m.nv + m.na
        out = [np.zeros((nx, nx)), np.zeros((nx, m.nu))]
        if sensors:
            out += [np.zeros((m.nsensordata, nx)), np.zeros((m.nsensordata, m.nu))]
        pointers = [a.ctypes.data for a in out] + [None] * (4 - len(out))
        with self._lock:
            self._check(self._call(self._library.djm_transition, self._m, d, self._address,
                                   *pointers))
        return tuple(out)

    def _smooth_transition(self, mj_data: MjData, sensors: bool) -> tuple[Array, ...]:
        other = self.smooth
        other.substeps = self.substeps
        if self._mj_model.nmocap:
            other.set_mocap_velocity(mj_data, self.mocap_velocity(mj_data))
        out = other.transition(mj_data, sensors)
        self.status = other.status
        return out

    def sensor_is_analytic(self, sensor: str | int) -> bool:
        """Whether a sensor's rows (name or index) of C and D are analytic; if not, they are centred
        differences."""
        index = sensor_index(self._mj_model, sensor)
        return bool(self._library.djm_sensorIsAnalytic(self._m, index))


class MuJoCoContext(Context):
    """MuJoCo's own step and its derivatives, called as a `Context`'s.

        context = dijoco.Context(mj_model, derivatives="mujoco")
        context.step(mj_data)                # mujoco.mj_step
        A, B = context.transition(mj_data)   # of it

    The scene is not imported: there is no `model`, `data`, `report` of ours, nothing to set. `info`
    is a `TransitionInfo` of the last transition.
    """

    __slots__ = ("_functions", "_transition")

    def __init__(self, mj_model: MjModel, *, derivatives: str = "mujoco", **given: Any) -> None:
        if derivatives != "mujoco":
            raise ValueError("derivatives: expected mujoco, not %r" % derivatives)
        for name in given:
            if name in ("substeps", "sensors", "record") or name in setting.TABLE:
                raise ValueError("%s: not with derivatives=\"mujoco\", which are of MuJoCo's own "
                                 "step" % name)
        setting.given(given, ("derivatives",))
        self._transition = Transition(mj_model)
        self._functions = importlib.import_module("mujoco._functions")
        self._mj_model, self.status = mj_model, 0

    def __repr__(self) -> str:
        m = self._mj_model
        return _lib.line("Context", "nq=%d nv=%d nu=%d ngeom=%d derivatives=mujoco"
                         % (m.nq, m.nv, m.nu, m.ngeom))

    def __reduce__(self) -> tuple[Any, ...]:
        return MuJoCoContext, (self._mj_model,)

    def _none(self, *_: Any) -> NoReturn:
        raise AttributeError("a Context with derivatives=\"mujoco\" has none: its step is MuJoCo's")

    model = data = report = smooth = mocap_velocity = set_mocap_velocity = property(_none)
    substeps = property(lambda self: 1, _none, doc="1")
    sensors = property(lambda self: True, _none, doc="True: as mj_step does")

    @property
    def derivatives(self) -> str:
        """"mujoco"."""
        return "mujoco"

    @property
    def info(self) -> TransitionInfo | None:
        """A `TransitionInfo` of the last transition; None before the first."""
        return self._transition.info

    def step(self, mj_data: MjData, n: int = 1) -> int:
        """n times mj_step; returns 0."""
        self._target(mj_data)
        n = _lib.count(n, "n")
        if n:
            self._functions.mj_step(self._mj_model, mj_data, n)
        return 0

    def forward(self, mj_data: MjData) -> int:
        """mj_forward."""
        self._target(mj_data)
        self._functions.mj_forward(self._mj_model, mj_data)
        return 0

    def transition(  # type: ignore[override]
            self, mj_data: MjData, sensors: bool = False) -> tuple[Array, ...]:
        """Derivatives of mj_step from mj_data's state, which is not changed: A, B, and with sensors
        C, D, of the shapes of mujoco.mjd_transitionFD."""
        return self._transition(mj_data, sensors=sensors)

    def sensor_is_analytic(self, sensor: str | int) -> bool:
        """Whether a sensor's rows (name or index) of C and D are analytic. If not, they are
        differences along the derivatives of the acceleration, at the forces' own solution."""
        m, index = self._mj_model, sensor_index(self._mj_model, sensor)
        return m.sensor_needstage[index] != 3 and bool(
            _lib.plugin().djm_sensorIsAnalytic(m._address, index))


def _restored(cls: type[Context], mj_model: MjModel, given: dict[str, Any], substeps: int,
              sensors: bool, options: Mapping[str, Any] = {},
              params: Mapping[str, Array] = {}) -> Context:
    """A pickled context; what is not as in MuJoCo has been told."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        context = cls(mj_model, substeps=substeps, sensors=sensors, **given)
    for name, value in options.items():
        context.model.option[name] = value
    for name, value in params.items():
        context.model.set_param(name, value)
    return context


def sensor_index(mj_model: MjModel, sensor: str | int) -> int:
    """Index of a sensor."""
    if isinstance(sensor, str):
        return mj_model.sensor(sensor).id
    index = _lib.integer(sensor, "sensor")
    if not 0 <= index < mj_model.nsensor:
        raise ValueError("sensor: %d is not below %d" % (index, mj_model.nsensor))
    return index


def register_plugins() -> None:
    """Register dijoco.contact and dijoco.gap with MuJoCo. `import mujoco` calls it where this
    package is installed (entry point group mujoco.plugins)."""
    call(_lib.plugin().djm_registerPlugins)
