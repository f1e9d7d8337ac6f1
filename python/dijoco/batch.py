"""Many worlds of one model."""
from __future__ import annotations

import ctypes
import threading
from ctypes import byref, c_void_p
from typing import (TYPE_CHECKING, Any, Iterable, Literal, Mapping, NamedTuple, NoReturn,
                    overload)

import numpy as np

from . import _lib
from ._lib import CArray, CBatchResult, CRollout, Handle, call, core
from ._types import AnyModel, Array, ArrayField, ArrayLike, NDArray
from .data import Arrays, Data, _STATS, expand, param_array
from .model import Model, ReportEntry, _field_names
from .rollout import Gradient

_NAMES = _field_names(core.dj_batchArrayName)
# Entries of a row's last axis, where a row has two.
_LAST = {"xfrc_applied": 6, "mocap_pos": 3, "mocap_quat": 4, "mocap_last_pos": 3,
         "mocap_last_quat": 4, "xpos": 3, "xquat": 4, "xmat": 9, "xipos": 3, "site_xpos": 3,
         "geom_xpos": 3, "geom_xmat": 9}
_READ = ("status", "xpos", "xquat", "xmat", "xipos", "site_xpos", "geom_xpos", "geom_xmat")


class Run(NamedTuple):
    """States of the worlds' runs: qpos (n, T+1, nq), qvel (n, T+1, nv), act (n, T+1, na); the first
    is the start. NaN from where a world fails."""

    qpos: Array
    qvel: Array
    act: Array

    def __repr__(self) -> str:
        return _lib.line("Run", "of %d worlds, %d steps" % (
            len(self.qpos), self.qpos.shape[1] - 1))


class Batch(Arrays):
    """n worlds of a model, on `threads` threads (0: one for each processor).

        batch = dijoco.Batch(model, 4096, threads=8)
        batch.qvel[:] = rng.normal(size=batch.qvel.shape)
        batch.step(ctrl)                     # (4096, nu)
        run = batch.rollout(ctrls)           # (4096, T, nu); run.qpos is (4096, T+1, nq)

    State and inputs are arrays of the library's own memory, a row for each world, to be read and
    written in place: `time`, `qpos`, `qvel`, `act`, `ctrl`, `qfrc_applied`, `xfrc_applied`,
    `mocap_pos`, `mocap_quat`, `gravity_scale`, `eq_active`, `active` (0: calls leave the world
    alone)...; poses (`xpos`, `xquat`...) and `status` are to be read. A world takes the bits that a
    `Data` of its own would take, by any number of threads. Calls release Python's lock.

    A world that fails leaves the others alone: calls return nonzero, `status` is negative there,
    `error(world)` says why, and a `StepWarning` tells of the first.
    """

    __slots__ = ("_handle", "_address", "_model", "_views", "_lock", "_strict", "__weakref__")

    if TYPE_CHECKING:   # properties that are made below
        time = ArrayField()
        history = ArrayField()
        has_history = ArrayField()
        gravity_scale = ArrayField()
        active = ArrayField()
        status: NDArray[np.intc]
        xipos: Array
        site_xpos: Array
        geom_xpos: Array
        geom_xmat: Array

    def __init__(self, model: AnyModel, n: int, threads: int = 0) -> None:
        model = Model.of(model)
        batch = c_void_p()
        call(core.dj_makeBatch, byref(batch), model._address, _lib.integer(n, "n"),
             _lib.integer(threads, "threads"))
        self._handle = Handle(batch.value, core.dj_deleteBatch)
        self._address = batch.value
        self._views: dict[str, NDArray[Any]] = {}
        self._lock = threading.Lock()
        self._strict = False   # whether worlds that fail raise
        self._model = self._model_of(-1, model._report)

    def _model_of(self, world: int, report: Iterable[ReportEntry]) -> Model:
        model = c_void_p()
        call(core.dj_ownBatchModel, byref(model), self._address, world)
        return Model._make(Handle(model.value, keep=self._handle), report)

    def __repr__(self) -> str:
        return _lib.line("Batch", "of %d worlds of %r" % (len(self), self._model))

    def __len__(self) -> int:
        return len(self.time)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Batch cannot be copied or pickled")

    # ---- fields

    def _field(self, name: str) -> CArray:
        field = CArray()
        core.dj_batchArray(byref(field), self._address, name.encode())
        return field

    def _view(self, name: str) -> NDArray[Any]:
        array = self._views.get(name)
        if array is None:
            array = _lib.view(self._field(name), self._handle, False, name not in _READ)
            last = _LAST.get(name)
            if last:
                array = array.reshape(len(array), array.shape[1] // last, last)
            elif name in ("time", "gravity_scale", "active", "has_history", "status"):
                array = array[:, 0]
            self._views[name] = array
        return array

    @property
    def model(self) -> Model:
        """The model of all worlds that have none of their own; may be changed between calls."""
        return self._model

    def world_model(self, world: int) -> Model:
        """The world's own `Model`, a copy that is made at the first call; may be changed between
        calls."""
        return self._model_of(self._world(world), self._model._report)

    @property
    def nbytes(self) -> int:
        """Bytes that the batch holds, but for models."""
        return core.dj_batchBytes(self._address)

    @property
    def stats(self) -> Any:
        """Statistics (n,) of the steps since a reset, or of the last run: a record array with the
        fields of `Stats`, copied."""
        fields = {name: self._field("stats." + name) for name in _STATS}
        base = min(f.data for f in fields.values())
        one = next(iter(fields.values()))
        dtype = np.dtype({"names": list(fields), "itemsize": one.stride,
                          "formats": [_lib.DTYPES[f.type] for f in fields.values()],
                          "offsets": [f.data - base for f in fields.values()]})
        size = (one.rows - 1) * one.stride + max(
            f.data - base + _lib.DTYPES[f.type].itemsize for f in fields.values())
        memory = ctypes.string_at(base, size).ljust(one.rows * one.stride, b"\0")
        return np.frombuffer(memory, dtype, one.rows).view(np.recarray)

    def error(self, world: int = -1) -> str:
        """Why a world's last call failed, "" if it did not; -1: the first that did."""
        return core.dj_batchErrorText(self._address, _lib.integer(world, "world")).decode(
            errors="replace")

    @property
    def failed(self) -> NDArray[np.bool_]:
        """Which worlds' last call failed (n,)."""
        status = self.status
        return (status < 0) | (status == _lib.SINGULAR)

    # ---- calls

    def _world(self, world: int) -> int:
        index = _lib.integer(world, "world")
        if not 0 <= index < len(self):
            raise IndexError("world: %d is not below %d" % (index, len(self)))
        return index

    def _check(self, status: int) -> int:
        """Of a call for all worlds."""
        if status < 0 or status == _lib.SINGULAR:
            failed = self.failed
            if not failed.any():
                _lib.fail(status, self.error())
            text = self.error() or "world %d: %s" % (
                failed.argmax(), _lib.STATUS_TEXT[_lib.SINGULAR])
            if self._strict:
                _lib.fail(self.status[failed][0], text)
            _lib.warn_steps("of %d worlds %d failed; %s" % (len(failed), failed.sum(), text))
        return status

    def _single(self, function: Any, *args: Any) -> None:
        with self._lock:
            status = function(*args)
        if status < 0:
            _lib.fail(status, self.error())

    def reset(self, world: int | None = None, key: str | int | None = None) -> None:
        """All worlds, or one, back to qpos0, or to a keyframe (name or index): state, inputs and
        statistics."""
        world = -1 if world is None else self._world(world)
        key = (-1 if key is None else self._model.id("key", key) if isinstance(key, str)
               else _lib.count(key, "key"))
        self._single(core.dj_resetBatch, self._address, world, key)

    def get(self, data: Data, world: int) -> None:
        """A world's state, inputs and statistics into a `Data`, with its poses."""
        _lib.expect(data, Data, "data")
        self._single(core.dj_getWorld, data._address, self._address, self._world(world))

    def set(self, world: int, data: Data) -> None:
        """The same from a `Data`."""
        _lib.expect(data, Data, "data")
        self._single(core.dj_setWorld, self._address, self._world(world), data._address)

    def set_params(self, params: Mapping[str, ArrayLike]) -> None:
        """Parameters of every world, which each has a model of its own for: a dict of name (or
        pattern) to values (n, entries of one)."""
        names, values = [], []
        for pattern, value in params.items():
            for name in expand(self._model, [pattern]):
                names.append(name)
                size = self._model._param(name).nvalue
                values.append(_lib.numbers(np.reshape(value, (len(self), -1)),
                                           (len(self), size), name))
        table, _ = param_array(self._model, names)
        flat = np.ascontiguousarray(np.concatenate(values, 1)) if values else np.zeros((len(self), 0))
        with self._lock:
            call(core.dj_setBatchParams, self._address, len(table), table, flat.ctypes.data)

    def forward(self) -> int:
        """Poses of the present states, without a step."""
        with self._lock:
            return self._check(core.dj_batchForward(self._address))

    def step(self, ctrl: ArrayLike | None = None, n: int = 1) -> int:
        """n steps of every world, under ctrl (n worlds, nu) or its own. Returns 0, or the first
        failure's status, else 1 where a step did not converge."""
        if ctrl is not None:
            self.ctrl = ctrl
        n = _lib.count(n, "n")
        with self._lock:
            return self._check(core.dj_batchStep(self._address, n))

    def transition(self) -> tuple[Array, Array]:
        """Derivatives A (n, nx, nx), B (n, nx, nu) of every world's next step, as
        `Data.transition`; NaN of those that fail. Nothing is advanced."""
        n, nx, nu = len(self), self._model.tangent_size, self._model.nu
        A, B = np.zeros((n, nx, nx)), np.zeros((n, nx, nu))
        with self._lock:
            self._check(core.djd_batchTransition(self._address, A.ctypes.data, B.ctypes.data))
        return A, B

    def _run(self, T: int) -> Run:
        m, n = self._model, len(self)
        return Run(np.empty((n, T + 1, m.nq)), np.empty((n, T + 1, m.nv)),
                   np.empty((n, T + 1, m.na)))

    @overload
    def rollout(self, ctrl: ArrayLike, gradient: Literal[False] = False,
                checkpoint: int = 0) -> Run: ...

    @overload
    def rollout(self, ctrl: ArrayLike, gradient: Literal[True],
                checkpoint: int = 0) -> BatchRollout: ...

    @overload
    def rollout(self, ctrl: ArrayLike, gradient: bool,
                checkpoint: int = 0) -> Run | BatchRollout: ...

    def rollout(self, ctrl: ArrayLike, gradient: bool = False,
                checkpoint: int = 0) -> Run | BatchRollout:
        """T steps of every world from its state, under ctrl (n, T, nu); the worlds are at their ends
        afterwards. Returns a `Run`, or, with gradient, a `BatchRollout`. checkpoint: 0, or of how
        many steps at a time a thread keeps what derivatives need: less memory, up to one run more
        of time, the same bits."""
        ctrl = np.asarray(ctrl)
        if ctrl.ndim != 3 or ctrl.shape[1] < 1:
            raise ValueError("ctrl: expected shape (%d, T, %d) with T > 0, not %s"
                             % (len(self), self._model.nu, ctrl.shape))
        T = ctrl.shape[1]
        ctrl = _lib.numbers(ctrl, (len(self), T, self._model.nu), "ctrl")
        if gradient:
            return BatchRollout(self, ctrl, _lib.count(checkpoint, "checkpoint"))
        run = self._run(T)
        with self._lock:
            self._check(core.dj_batchRollout(self._address, T, ctrl.ctypes.data,
                                             *(a.ctypes.data for a in run)))
        return run


class BatchRollout:
    """Runs of a batch's worlds and what their derivatives need; `Batch.rollout` makes it.

    `qpos` (n, T+1, nq), `qvel` (n, T+1, nv), `act` (n, T+1, na), as a `Run` has them; `ctrl`.
    """

    def __init__(self, batch: Batch, ctrl: Array, checkpoint: int) -> None:
        T = ctrl.shape[1]
        tape = c_void_p()
        call(core.djd_makeBatchTape, byref(tape), batch._address, T, checkpoint)
        self._tape = Handle(tape.value, core.djd_deleteBatchTape)
        self._batch = batch
        self.ctrl = ctrl
        self._rollout = CRollout(horizon=T, ctrl=ctrl.ctypes.data)
        self.qpos, self.qvel, self.act = run = batch._run(T)
        result = CBatchResult(qpos=run.qpos.ctypes.data, qvel=run.qvel.ctypes.data,
                              act=run.act.ctypes.data)
        with batch._lock:
            batch._check(core.djd_batchRolloutForward(byref(result), batch._address,
                                                      byref(self._rollout), self._tape.address))

    def __repr__(self) -> str:
        return _lib.line("BatchRollout", "of %d worlds, %d steps" % self.ctrl.shape[:2])

    @property
    def nbytes(self) -> int:
        """Bytes that derivatives keep."""
        return core.djd_batchTapeBytes(self._tape.address)

    def vjp(self, qpos: ArrayLike | None = None, qvel: ArrayLike | None = None,
            act: ArrayLike | None = None, params: str | Iterable[str] = (),
            ctrl: ArrayLike | None = None) -> Gradient:
        """Pull derivatives of a loss back to what the runs were made from, as `Rollout.vjp`, with a
        row for each world: qpos (n, T+1, nv) tangent, qvel (n, T+1, nv), act (n, T+1, na), ctrl
        (n, T, nu). Returns a `Gradient`; NaN of worlds that failed. The worlds' other inputs and
        models must be those of the run."""
        batch, m = self._batch, self._batch._model
        n, T = self.ctrl.shape[:2]
        table, sizes = param_array(m, [params] if isinstance(params, str) else list(params))
        names = expand(m, [params] if isinstance(params, str) else list(params))
        dstate = np.zeros((n, T + 1, m.tangent_size))
        for value, at, size, name in ((qpos, 0, m.nv, "qpos"), (qvel, m.nv, m.nv, "qvel"),
                                      (act, 2 * m.nv, m.na, "act")):
            if value is not None:
                dstate[:, :, at:at + size] = _lib.numbers(value, (n, T + 1, size), name)
        if ctrl is not None:
            ctrl = _lib.numbers(ctrl, (n, T, m.nu), "ctrl")
        out = Gradient(np.zeros((n, T, m.nu)), np.zeros((n, m.nv)), np.zeros((n, m.nv)),
                       np.zeros((n, m.na)), {}, np.zeros((n, m.nv)), np.zeros((n, m.nv)))
        flat = np.zeros((n, sum(sizes)))
        result = CBatchResult(
            grad_ctrl=out.ctrl.ctypes.data, grad_qpos0=out.qpos0.ctypes.data,
            grad_qvel0=out.qvel0.ctypes.data, grad_act0=out.act0.ctypes.data,
            grad_history_qpos0=out.history_qpos0.ctypes.data,
            grad_history_qvel0=out.history_qvel0.ctypes.data,
            nparam=len(names), param=table, grad_param=flat.ctypes.data)
        with batch._lock:
            batch._check(core.djd_batchRolloutBackward(
                byref(result), batch._address, byref(self._rollout), self._tape.address,
                dstate.ctypes.data, _lib.pointer(ctrl)))
        at = 0
        for name, size in zip(names, sizes):
            out.params[name] = flat[:, at:at + size]
            at += size
        return out


def _array_property(name: str) -> property:
    if name in _READ:
        return property(lambda self: self._view(name))

    def put(self: Batch, value: ArrayLike) -> None:
        array = self._view(name)
        array[...] = value if array.dtype.kind == "i" else _lib.numbers(value, array.shape, name)

    return property(lambda self: self._view(name), put)


for _name in _NAMES:
    setattr(Batch, _name, _array_property(_name))
