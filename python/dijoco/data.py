"""Simulations."""
from __future__ import annotations

import ctypes
import os
import threading
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Iterable, Literal, NamedTuple, Sequence

import numpy as np

from . import _lib
from ._lib import CArray, CParam, Handle, call, core
from ._types import AnyModel, Array, ArrayField, ArrayLike, History, NDArray, Path
from .model import Model, _field_names
from .named import Element, accessors

_FIELDS = _field_names(core.dj_dataArrayName)
_STATS = [n[6:] for n in _FIELDS if n.startswith("stats.")]
_LISTS = ("contact.", "pair.")


class Stats(NamedTuple):
    """Statistics since the data was made or reset: steps, newton_iterations, unconverged_steps,
    recovering_steps, fallback_steps, impact_steps; of the last step iterations, evaluations (of
    forces with derivatives), attempts (solutions looked for: 1 unless it was not found or the step
    was taken in parts), passes and inner_iterations (over rows), factorizations, rows, attempts by
    name, parts, near_pairs, loaded_pairs, ended (djStepEnd), recovering (pairs) and residual;
    worst_residual; gap between contact shapes (m), smallest_gap; overlap of true geoms (m),
    deepest_overlap."""

    steps: int
    newton_iterations: int
    unconverged_steps: int
    recovering_steps: int
    fallback_steps: int
    impact_steps: int
    iterations: int
    evaluations: int
    attempts: int
    passes: int
    inner_iterations: int
    factorizations: int
    rows: int
    near_attempts: int
    guess_attempts: int
    root_attempts: int
    lag_attempts: int
    hold_attempts: int
    jammed_attempts: int
    substitute_attempts: int
    parts: int
    near_pairs: int
    loaded_pairs: int
    ended: int
    recovering: int
    residual: float
    worst_residual: float
    gap: float
    smallest_gap: float
    overlap: float
    deepest_overlap: float

    def __repr__(self) -> str:
        return _lib.line("Stats", "of %d steps: %d unconverged, %d fallback, %d recovering, %d "
                         "impact; last %d iterations" % (
                             self.steps, self.unconverged_steps, self.fallback_steps,
                             self.recovering_steps, self.impact_steps, self.iterations))


# What a run warns of, by the counter in Stats.
TOLD = {"unconverged_steps": "did not converge (their best iterates were kept)",
         "fallback_steps": "were taken by another integrator, as the model's found no solution",
         "recovering_steps": "began with overlapping shapes, which are made to recover"}


def warn_of_steps(seen: Sequence[int], counts: Sequence[int], steps: int) -> None:
    """Warn of each kind of step that a run had none of before. seen, counts: as TOLD; seen may be
    of a run before, which had more."""
    for name, before, now in zip(TOLD, seen, counts):
        if now and (not before or now < before):
            _lib.warn_steps("of %d steps %d %s; `stats` has the run's %s"
                            % (steps, now, TOLD[name], name))


def expand(model: Model, names: Iterable[str]) -> list[str]:
    """The names that a list with patterns stands for."""
    return [name for pattern in names for name in model.match(pattern)]


def param_array(model: Model, names: Sequence[str]) -> tuple[ctypes.Array[CParam], list[int]]:
    """djParam array of parameters, and the number of tangent entries of each."""
    if isinstance(names, str):
        raise TypeError("params: expected a list of names, not a str")
    names = expand(model, names)
    params = (CParam * len(names))(*[model._param(name) for name in names])
    return params, [p.ntangent for p in params]


class Arrays:
    """Arrays that `Data` and `Batch` both have, for checkers of types."""

    __slots__ = ()

    if TYPE_CHECKING:   # properties that are made for both classes
        qpos = ArrayField()
        qvel = ArrayField()
        act = ArrayField()
        ctrl = ArrayField()
        qfrc_applied = ArrayField()
        xfrc_applied = ArrayField()
        mocap_pos = ArrayField()
        mocap_quat = ArrayField()
        mocap_last_pos = ArrayField()
        mocap_last_quat = ArrayField()
        eq_active = ArrayField()
        xpos: Array
        xquat: Array
        xmat: Array


@accessors(("body", "joint", "geom", "site", "actuator"))
class Data(Arrays):
    """One simulation of a model: state, inputs, results, and the step.

    Arrays are views of the C memory: writing to `qpos`, `qvel`, `act`, `ctrl`, `qfrc_applied`,
    `xfrc_applied`, `mocap_pos`, `mocap_quat`, `mocap_last_pos`, `mocap_last_quat`, `eq_active`
    changes the simulation. Calls release Python's lock;
    those on one Data wait for each other. Layouts are MuJoCo's, tangent vectors are in the order
    and frames of `qvel`. `status` is that of the last call: 1 where its step did not converge (the
    best iterate was kept), else 0; failures raise. The first step of a run that did not converge,
    that another integrator took, or that began with overlaps warns (`StepWarning`).

    record: a file to which the run is written, for `dijoco replay` (docs/record.md); by default
    that of the environment's DIJOCO_RECORD, or the first of FILE.2, FILE.3, ... that no one is
    writing; False: none.
    """

    # A name mistyped in an assignment is an error.
    __slots__ = ("_model", "_handle", "_address", "_views", "_lock", "status", "_counts", "_seen",
                 "_told", "__weakref__")

    if TYPE_CHECKING:   # properties that are made below
        xipos: Array
        site_xpos: Array
        geom_xpos: Array
        geom_xmat: Array

        def body(self, name: str | int) -> Element: ...
        def joint(self, name: str | int) -> Element: ...
        def geom(self, name: str | int) -> Element: ...
        def site(self, name: str | int) -> Element: ...
        def actuator(self, name: str | int) -> Element: ...

    def __init__(self, model: AnyModel, record: Path | Literal[False] | None = None) -> None:
        model = Model.of(model)
        data = c_void_p()
        call(core.dj_makeData, byref(data), model._address)
        self._bind(model, Handle(data.value, core.dj_deleteData))
        if record is None and os.environ.get("DIJOCO_RECORD"):
            self._record(core.dj_startRecordBeside, os.environ["DIJOCO_RECORD"])
        elif record:
            self.start_record(record)

    def _bind(self, model: Model, handle: Handle) -> None:
        self._model, self._handle, self._address = model, handle, handle.address
        _lib.OBJECTS[self._address] = self
        self._views: dict[str, Any] = {}
        self._lock = threading.Lock()
        self.status = 0
        first, *_, last = sorted(self._field("stats." + name).data for name in TOLD)
        self._counts = (ctypes.c_char * (last + ctypes.sizeof(ctypes.c_long) - first)
                        ).from_address(first)
        self._seen, self._told = self._counts.raw, (0,) * len(TOLD)

    @classmethod
    def _of(cls, model: Model, handle: Handle) -> Data:
        """A Data for a djData that belongs to someone else."""
        self = object.__new__(cls)
        self._bind(model, handle)
        return self

    @property
    def _nx(self) -> int:
        return self._model.tangent_size

    def _check(self, status: int) -> int:
        self.status = status
        if status < 0 or status == _lib.SINGULAR:
            text = core.dj_errorText(self._address).decode(errors="replace") if status < 0 else ""
            _lib.fail(status, text)
        return status

    def _take_counts(self) -> tuple[int, ...]:
        """Of the run, as TOLD."""
        stats = self.stats
        return tuple([getattr(stats, name) for name in TOLD])

    def _warn(self) -> None:
        """Warn of what the run has seen for the first time."""
        if self._counts.raw == self._seen:  # as ever
            return
        self._seen, counts, told = self._counts.raw, self._take_counts(), self._told
        self._told = counts
        warn_of_steps(told, counts, self.stats.steps)

    def _run(self, function: Any, *args: Any) -> int:
        """Call a function of this data, not while another thread does."""
        with self._lock:
            return self._check(function(*args))

    def _field(self, name: str) -> CArray:
        field = CArray()
        core.dj_dataArray(byref(field), self._model._address, self._address, name.encode())
        return field

    def _view(self, name: str, writable: bool) -> NDArray[Any]:
        array = self._views.get(name)
        if array is None:
            array = _lib.view(self._field(name), self._handle, True, writable)
            self._views[name] = array
        return array

    def _set(self, name: str, value: Any) -> None:
        array = self._view(name, True)
        array[...] = _lib.numbers(value, array.shape, name)

    def _structure(self, start: str) -> tuple[int, np.dtype[np.void]]:
        """Address and dtype of a struct whose fields begin with start, and the number of rows."""
        fields = {n[len(start):]: self._field(n) for n in _FIELDS if n.startswith(start)}
        base, one = min(f.data for f in fields.values()), next(iter(fields.values()))
        end = max(f.data + f.columns * _lib.DTYPES[f.type].itemsize for f in fields.values())
        formats = [(_lib.DTYPES[f.type], (f.columns,)) if f.columns > 1 else _lib.DTYPES[f.type]
                   for f in fields.values()]
        size = one.stride if start in _LISTS else end - base
        return base, np.dtype({"names": list(fields), "formats": formats, "itemsize": size,
                               "offsets": [f.data - base for f in fields.values()]})

    def _records(self, start: str, rows: int) -> NDArray[np.void]:
        """The first rows of a struct or list, copied."""
        found = self._views.get(start)
        if found is None:
            found = self._views[start] = self._structure(start)
        base, dtype = found
        if start in _LISTS:  # which have other memory when they have grown
            names, fields = dtype.names or (), dtype.fields or {}
            base = self._field(start + names[0]).data - fields[names[0]][1]
        if rows == 0:
            return np.zeros(0, dtype)
        memory: Any = (ctypes.c_char * (rows * dtype.itemsize)).from_address(base)
        return np.frombuffer(memory, dtype, rows).copy()

    def __repr__(self) -> str:
        return "<dijoco.Data time=%g of %r>" % (self.time, self._model)

    # ---- fields

    @property
    def model(self) -> Model:
        """The model."""
        return self._model

    @property
    def time(self) -> float:
        """Time, s."""
        return self._view("time", True)[0].item()

    @time.setter
    def time(self, value: float) -> None:
        self._view("time", True)[0] = value

    @property
    def gravity_scale(self) -> float:
        """Factor on gravity, 1 by default."""
        return self._view("gravity_scale", True)[0].item()

    @gravity_scale.setter
    def gravity_scale(self, value: float) -> None:
        self._view("gravity_scale", True)[0] = value

    @property
    def energy(self) -> Array:
        """Potential and kinetic energy (2,) as the last call of forward found them, J."""
        return self._view("energy", False)[0]

    @property
    def stats(self) -> Stats:
        """Statistics of the steps taken (`Stats`)."""
        return Stats._make(self._records("stats.", 1)[0].item())

    @property
    def contacts(self) -> Any:
        """Geom pairs near contact after the last step, a record array (npair,) with geom1, geom2;
        gap (m); normal (3,) from geom1 to geom2; point (3,); force (3,) on geom2, N;
        normal_force; recovering."""
        rows = self._view("npair", False)[0].item()
        return self._records("pair.", rows).view(np.recarray)

    @property
    def body_forces(self) -> Any:
        """Contact forces between bodies, a record array with body1, body2; force (3,) on body2, N;
        torque (3,) about body2's frame origin, N m."""
        rows = self._view("ncontact", False)[0].item()
        return self._records("contact.", rows).view(np.recarray)

    # ---- running

    def reset(self, key: str | int | None = None) -> None:
        """Back to qpos0, or to a keyframe (name or index): state, inputs and statistics."""
        self._told = (0,) * len(TOLD)
        if key is None:
            self._run(core.dj_resetData, self._model._address, self._address)
            return
        index = self._model.id("key", key) if isinstance(key, str) else _lib.integer(key, "key")
        if not 0 <= index < self._model.nkey:
            raise ValueError("key: %d is not below %d" % (index, self._model.nkey))
        self._run(core.dj_resetKey, self._model._address, self._address, index)

    def _record(self, function: Any, path: Path) -> None:
        with self._lock:
            call(function, self._address, self._model._address, os.fsencode(path))

    def start_record(self, path: Path) -> None:
        """Write what is done with this from now on to a file, for `dijoco replay`. What another
        record is being written to is an error."""
        self._record(core.dj_startRecord, path)

    def stop_record(self) -> None:
        """End it; an error where something could not be written."""
        with self._lock:
            call(core.dj_stopRecord, self._address)

    @property
    def record_path(self) -> str | None:
        """The file to which this is recorded, or None."""
        path = core.dj_recordPath(self._address)
        return None if path is None else os.fsdecode(path)

    def copy(self) -> Data:
        """A copy that continues identically; it is not recorded."""
        data = Data(self._model, record=False)
        with self._lock:
            data._check(core.dj_copyData(data._address, self._model._address, self._address))
        data._seen, data._told = self._seen, self._told
        return data

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles hold state, inputs and statistics."""
        inputs = {name: np.array(getattr(self, name)) for name in _INPUTS}
        with self._lock:
            base, dtype = self._structure("stats.")
            stats = ctypes.string_at(base, dtype.itemsize)
        return _restored, (self._model, self.get_state(), inputs, stats)

    def __copy__(self) -> Data:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Data:
        return self.copy()

    def forward(self) -> int:
        """Poses, energy and gaps of the current state, without a step."""
        return self._run(core.dj_forward, self._model._address, self._address)

    def step(self, n: int = 1) -> int:
        """Take n steps. Returns 0, or 1 where a step did not converge (its best iterate was kept;
        see `stats`)."""
        model, data, worst = self._model._address, self._address, 0
        n = _lib.count(n, "n")
        with self._lock:
            for _ in range(n):
                status = core.dj_step(model, data)
                if status != 0:
                    worst = max(worst, self._check(status))
            self.status = worst
        self._warn()
        return worst

    def get_state(self) -> Array:
        """Time, qpos, qvel, act, the integrator's history and where mocap bodies were last as one
        vector, from which a run continues to the last bit."""
        state = np.empty(core.dj_stateSize(self._model._address))
        self._run(core.dj_getState, state.ctypes.data, self._model._address, self._address)
        return state

    def set_state(self, state: ArrayLike) -> None:
        """Set what `get_state` gave."""
        state = _lib.numbers(state, (core.dj_stateSize(self._model._address),), "state")
        self._run(core.dj_setState, self._address, self._model._address, state.ctypes.data)

    @property
    def mocap_vel(self) -> Array:
        """Velocities (nmocap, 6) of mocap bodies in the next step, copied: of the origin (m/s),
        angular (rad/s), world axes; from the pose where the last step left them to that of
        `mocap_pos` and `mocap_quat`, 0 where there was none or it is a jump. Where they are set the
        next step begins where it takes them to these poses."""
        velocity = np.zeros((self._model.nmocap, 6))
        self._run(core.dj_getMocapVelocity, velocity.ctypes.data, self._model._address,
                  self._address)
        return velocity

    @mocap_vel.setter
    def mocap_vel(self, value: ArrayLike) -> None:
        velocity = _lib.numbers(value, (self._model.nmocap, 6), "mocap_vel")
        self._run(core.dj_setMocapVelocity, self._address, self._model._address,
                  velocity.ctypes.data)

    @property
    def history(self) -> tuple[Array, Array] | None:
        """Of an integrator that keeps one (bdf2): qpos (nq,) and qvel (nv,) one timestep before the
        present state, copied; None: there is none. It belongs to qpos, qvel, act and the timestep:
        where these are written the next step begins without it, unless it is set after them."""
        qpos, qvel = np.empty(self._model.nq), np.empty(self._model.nv)
        with self._lock:
            found = core.dj_getHistory(qpos.ctypes.data, qvel.ctypes.data, self._model._address,
                                       self._address)
        return (qpos, qvel) if found else None

    @history.setter
    def history(self, value: History | None) -> None:
        qpos, qvel = history_arrays(value, self._model)
        self._run(core.dj_setHistory, self._address, self._model._address, _lib.pointer(qpos),
                  _lib.pointer(qvel))

    def momentum(self) -> Array:
        """Momentum (6,) of all bodies: angular about the world's origin, linear; world axes,
        kg m^2/s and kg m/s."""
        momentum = np.empty(6)
        self._run(core.dj_totalMomentum, momentum.ctypes.data, self._model._address, self._address)
        return momentum

    def angular_momentum(self) -> Array:
        """Spin: angular momentum (3,) of the trees that float freely, each about its own centre of
        mass, summed; world axes, kg m^2/s."""
        spin = np.empty(3)
        self._run(core.dj_angularMomentum, spin.ctypes.data, self._model._address, self._address)
        return spin

    # ---- derivatives

    def _matrices(self, function: Any) -> tuple[Array, Array]:
        A = np.zeros((self._nx, self._nx))
        B = np.zeros((self._nx, self._model.nu))
        self._run(function, self._model._address, self._address, A.ctypes.data, B.ctypes.data)
        return A, B

    def transition(self) -> tuple[Array, Array]:
        """Derivatives of the step that would start here; nothing is advanced. With nx =
        `Model.tangent_size` = 2 nv + na: A (nx, nx) by (q, v, act), B (nx, nu) by ctrl, as
        mujoco.mjd_transitionFD has them. Of an integrator with a history nx = 4 nv + na, by (q, v,
        act, q-, v-): the columns of q and v hold the history fixed. Differences by `set_state` are
        A; those by writes to qpos and qvel are not, as the next step begins without the history."""
        return self._matrices(core.djd_transition)

    def last_transition(self) -> tuple[Array, Array]:
        """A and B of the step just taken, without solving it again."""
        return self._matrices(core.djd_lastTransition)

    def last_params(self, names: Sequence[str]) -> Array:
        """Derivatives (nx, sum of param_tangent) of the step just taken by named parameters;
        patterns stand for all that `Model.match` finds."""
        params, sizes = param_array(self._model, names)
        out = np.zeros((self._nx, sum(sizes)))
        self._run(core.djd_lastParams, self._model._address, self._address, out.ctypes.data,
                  len(params), params)
        return out

    def step_vjp(self, lam: ArrayLike) -> tuple[Array, Array]:
        """A^T lam (nx,) and B^T lam (nu,) of the step just taken, for lam (nx,)."""
        lam = _lib.numbers(lam, (self._nx,), "lam")
        dx, du = np.zeros(self._nx), np.zeros(self._model.nu)
        self._run(core.djd_stepVjp, self._model._address, self._address, dx.ctypes.data,
                  du.ctypes.data, lam.ctypes.data)
        return dx, du

    def step_jvp(self, dx: ArrayLike, du: ArrayLike | None = None) -> Array:
        """A dx + B du (nx,) of the step just taken, for dx (nx,), du (nu,)."""
        dx = _lib.numbers(dx, (self._nx,), "dx")
        nu = self._model.nu
        du = np.zeros(nu) if du is None else _lib.numbers(du, (nu,), "du")
        out = np.zeros(self._nx)
        self._run(core.djd_stepJvp, self._model._address, self._address, out.ctypes.data,
                  dx.ctypes.data, du.ctypes.data)
        return out


_INPUTS = ("ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat", "eq_active",
           "gravity_scale")


def _restored(model: Model, state: Array, inputs: dict[str, NDArray[Any]], stats: bytes) -> Data:
    """A pickled data."""
    data = Data(model, record=False)
    for name, value in inputs.items():
        setattr(data, name, value if value.ndim else value.item())
    data.set_state(state)
    base, _ = data._structure("stats.")
    ctypes.memmove(base, stats, len(stats))
    data._seen, data._told = data._counts.raw, data._take_counts()
    return data


def history_arrays(value: History | None, model: Model) -> tuple[Array | None, Array | None]:
    """qpos (nq,) and qvel (nv,) of a history that was given as a pair; None, None for None."""
    if value is None:
        return None, None
    qpos, qvel = value
    return (np.array(_lib.numbers(qpos, (model.nq,), "history: qpos")),
            np.array(_lib.numbers(qvel, (model.nv,), "history: qvel")))


def _array_property(name: str, text: str, writable: bool) -> property:
    def get(self: Data) -> NDArray[Any]:
        return self._view(name, writable)

    def put(self: Data, value: ArrayLike) -> None:
        self._set(name, value)

    return property(get, put if writable else None, None, text)


for _name, _text in {
        "qpos": "Configuration (nq,); quaternions need not be normalised.",
        "qvel": "Velocity (nv,).", "act": "Activations (na,).", "ctrl": "Controls (nu,).",
        "qfrc_applied": "Applied generalized force (nv,).",
        "xfrc_applied": "Applied force and torque about the centre of mass (nbody, 6), world axes.",
        "mocap_pos": "Positions (nmocap, 3) of mocap bodies, m, at the end of the step.",
        "mocap_quat": "Orientations (nmocap, 4) of mocap bodies.",
        "mocap_last_pos": "Positions (nmocap, 3) where mocap bodies begin the next step, m.",
        "mocap_last_quat": "Orientations (nmocap, 4) there; all 0: they do not move.",
        "eq_active": "Which equality constraints act (nequality,): 1 or 0."}.items():
    setattr(Data, _name, _array_property(_name, _text, True))
for _name, _text in {
        "xpos": "Positions (nbody, 3) of body frames, m; poses are of the current state after "
                "step and forward.",
        "xquat": "Orientations (nbody, 4) of body frames.",
        "xmat": "The same as matrices (nbody, 9).", "xipos": "Centres of mass (nbody, 3), m.",
        "site_xpos": "Positions (nsite, 3) of sites, m.",
        "geom_xpos": "Positions (ngeom, 3) of geoms, m.",
        "geom_xmat": "Orientations of geoms as matrices (ngeom, 9)."}.items():
    setattr(Data, _name, _array_property(_name, _text, False))
