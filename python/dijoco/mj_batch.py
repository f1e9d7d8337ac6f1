"""Many `mujoco.MjData` of one `mujoco.MjModel`, by threads."""
from __future__ import annotations

import threading
from ctypes import byref, c_void_p
from typing import Any, Iterable, NoReturn, Sequence

import numpy as np

from . import _lib, setting
from ._lib import Handle, call
from ._types import Array, ArrayLike, MjData, MjModel, NDArray
from .batch import Run
from .model import ReportEntry, mujoco_address, take_report, warn_ignored
from .mj_transition import check_sizes
from .mujoco import _CStepOption


class ContextBatch:
    """Our step on many of MuJoCo's data at a time: a `Context` for each of `threads` threads (0: one
    for each processor).

        contexts = dijoco.ContextBatch(mj_model, threads=8)
        contexts.step(list_of_data)
        run = contexts.rollout(list_of_data, ctrl)      # (n, T, nu); run.qpos is (n, T+1, nq)

    Keyword arguments as those of `Context`. Each MjData takes the bits that a Context of its own
    would take, by any number of threads; calls release Python's lock. Data that fail stay as they
    are before that step and leave the others alone: `status` (n,) is negative there, `error(place)`
    says why, and a `StepWarning` tells of the first.
    """

    __slots__ = ("_library", "_handle", "_address", "_mj_model", "_m", "_report", "_lock", "status",
                 "__weakref__")

    def __init__(self, mj_model: MjModel, threads: int = 0, *, substeps: int | None = None,
                 sensors: bool | None = None, **settings: Any) -> None:
        self._m = mujoco_address(mj_model, "MjModel")
        given = setting.given(settings, ("substeps", "sensors"))
        library = _lib.plugin()
        batch, report = c_void_p(), c_void_p()
        call(library.djm_makeBatch, byref(batch), byref(report), self._m,
             _lib.integer(threads, "threads"), given if settings else None)
        self._handle = Handle(batch.value, library.djm_deleteBatch, (mj_model,))
        self._library, self._address, self._mj_model = library, batch.value, mj_model
        self._lock, self.status = threading.Lock(), np.zeros(0, np.intc)
        self._report = take_report(report.value)
        warn_ignored(self)
        option = _CStepOption.from_address(library.djm_batchOption(self._address))
        if substeps is not None:
            option.substeps = _lib.integer(substeps, "substeps")
        if sensors is not None:
            option.sensors = bool(sensors)

    def __repr__(self) -> str:
        m = self._mj_model
        return _lib.line("ContextBatch", "nq=%d nv=%d nu=%d threads=%d" % (
            m.nq, m.nv, m.nu, self.threads))

    def __reduce__(self) -> NoReturn:
        raise TypeError("a ContextBatch cannot be copied or pickled")

    @property
    def threads(self) -> int:
        """Threads, the caller's included."""
        return self._library.djm_batchThreads(self._address)

    @property
    def report(self) -> list[ReportEntry]:
        """What the import does not carry exactly: a list of `ReportEntry`."""
        return self._report

    @property
    def failed(self) -> NDArray[np.bool_]:
        """Which data failed in the last call (n,)."""
        return (self.status < 0) | (self.status == _lib.SINGULAR)

    def error(self, place: int = -1) -> str:
        """Why the data at a place failed in the last call, "" if it did not; -1: the first."""
        return self._library.djm_batchErrorText(self._address, _lib.integer(place, "place")).decode(
            errors="replace")

    def _call(self, function: Any, datas: Iterable[MjData], *args: Any) -> int:
        """Of a function on many data; `args` follow their number."""
        addresses = []
        for data in datas:
            addresses.append(mujoco_address(data, "MjData"))
            check_sizes(self._mj_model, data)
        if len(set(addresses)) != len(addresses):
            raise ValueError("data: one of them is there twice")
        table = (c_void_p * len(addresses))(*addresses)
        status = np.zeros(len(addresses), np.intc)
        with self._lock:
            worst = function(self._m, table, len(addresses), *args, self._address,
                             status.ctypes.data)
            self.status = status
            failed, text = self.failed, self.error()
        if failed.any():
            _lib.warn_steps("of %d data %d failed; %s" % (
                len(failed), failed.sum(), text or "data %d: %s" % (
                    failed.argmax(), _lib.STATUS_TEXT[_lib.SINGULAR])))
        elif worst < 0:
            _lib.fail(worst, text)
        return worst

    def step(self, datas: Sequence[MjData], n: int = 1) -> int:
        """n steps of each, as `Context.step`. Returns 0, or the first failure's status, else 1 where
        a step did not converge."""
        return self._call(self._library.djm_batchStep, datas, _lib.count(n, "n"))

    def rollout(self, datas: Sequence[MjData], ctrl: ArrayLike) -> Run:
        """T steps of each, under ctrl (n, T, nu). Returns a `Run`."""
        m, datas, ctrl = self._mj_model, list(datas), np.asarray(ctrl)
        T = ctrl.shape[1] if ctrl.ndim == 3 else 1
        ctrl = _lib.numbers(ctrl, (len(datas), T, m.nu), "ctrl")
        run = Run(*(np.empty((len(datas), T + 1, k)) for k in (m.nq, m.nv, m.na)))
        self._call(self._library.djm_batchRollout, datas, T, ctrl.ctypes.data,
                   *(a.ctypes.data for a in run))
        return run

    def transition(self, datas: Sequence[MjData], sensors: bool = False) -> tuple[Array, ...]:
        """Derivatives of the step from each one's state, as `Context.transition`: A (n, nx, nx),
        B (n, nx, nu), and with sensors C (n, nsensordata, nx), D (n, nsensordata, nu); NaN of those
        that fail."""
        m, datas = self._mj_model, list(datas)
        n, nx = len(datas), 2 * m.nv + m.na
        out = [np.zeros((n, nx, nx)), np.zeros((n, nx, m.nu))]
        if sensors:
            out += [np.zeros((n, m.nsensordata, nx)), np.zeros((n, m.nsensordata, m.nu))]
        self._call(self._library.djm_batchTransition, datas,
                   *([a.ctypes.data for a in out] + [None] * (4 - len(out))))
        return tuple(out)
