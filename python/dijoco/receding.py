"""Receding horizons: controls optimised over windows that move on through a task."""
from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_bool, c_int, c_void_p
from typing import Any, Callable

import numpy as np

from . import _lib
from ._lib import CArray, Handle, call, core
from ._types import Array, NDArray, Path, Task
from .task import STOPS, Design, _COptimizeStep, _guarded, _optimizer

_Iteration = ctypes.CFUNCTYPE(c_bool, c_void_p, c_int, POINTER(_COptimizeStep))


class _CRecedingCallback(_lib.Struct):
    _fields_ = [("iteration", c_void_p), ("frame", c_void_p), ("user", c_void_p)]


_lib.check_structs({"djRecedingCallback": _CRecedingCallback})


def receding(task: Task | Design, horizon: int | None = None, apply: int | None = None,
             iterations: int | None = None,
             callback: Callable[[int, int, float, Array], object] | None = None,
             folder: Path | None = None, allow_ignored: bool = False,
             candidates: int | None = None, spread: float | None = None, seed: int | None = None,
             **optimizer: Any) -> dict[str, Any]:
    """Optimise a task's controls over windows of `horizon` steps that move on through it; of each
    the first `apply` steps are executed (docs/tasks.md). With `candidates` each begins with the best of
    so many plans, changed by about `spread` by `seed`. What is not given is the task's own. task:
    as for `Design`, or a `Design`, which the callback then must not call. Keys of the optimizer may
    be given as for `optimize`.

    callback(frame, iteration, loss, x) is called after every iteration at the window that starts at
    the step `frame`, with the window's x; it ends the run by returning False, and nothing of that
    window is executed. Returns a dict:

    ctrl (steps, nu), of which `executed` rows were executed, and what follows is planned; qpos,
    qvel, act (executed + 1, ...), the states; frames, a list with a dict for each window: frame,
    iterations, loss_first, loss_last, stop (as in `optimize`), candidate (0: its own plan); loss_first and loss_last, the task's
    own with the controls given and with ctrl; iterations, evaluations, unconverged_steps; x and
    values (see `Design.values`); window, x with which the next window would start; design.
    """
    design = task if isinstance(task, Design) else Design(task, folder, allow_ignored)
    how = _optimizer(design, iterations, optimizer)
    for name, value in (("horizon", horizon), ("apply", apply), ("candidates", candidates),
                        ("seed", seed)):
        if value is not None:
            call(core.dj_setReceding, how, name.encode(), float(_lib.integer(value, name)))
    if spread is not None:
        call(core.dj_setReceding, how, b"spread", float(spread))
    failure: list[BaseException] = []
    address = c_void_p()
    with design._lock:
        call(core.djd_makeReceding, byref(address), design._address, how)
        run = Handle(address.value, core.djd_deleteReceding, (design._handle,))
        n = _array(run, "start").size

        def iteration(_: Any, frame: int, state: Any) -> bool:
            def told(s: Any, x: Array) -> object:
                return callback is None or callback(frame, s.iteration, s.loss, x)

            return _guarded(n, failure, told)(state)

        iteration_of_c = _Iteration(iteration)
        callbacks = _CRecedingCallback(ctypes.cast(iteration_of_c, c_void_p), None, None)
        call(core.djd_receding, run.address, byref(callbacks))
    if failure:
        raise failure[0]
    return _result(design, run)


def _array(run: Handle, name: str, flat: bool = True) -> NDArray[Any]:
    field = CArray()
    if core.djd_recedingArray(byref(field), run.address, name.encode()) < 0:
        return np.zeros(0)
    return _lib.view(field, run, flat)


def _result(design: Design, run: Handle) -> dict[str, Any]:
    def number(name: str) -> Any:
        return _array(run, name)[0].item()

    frames = zip(*(_array(run, "frame." + name).tolist()
                   for name in ("frame", "iterations", "first_loss", "loss", "stop",
                                "candidate")))
    out = {name: _array(run, name, flat=False) for name in ("ctrl", "qpos", "qvel", "act")}
    x = _array(run, "x")
    return {**out, "executed": number("next"),
            "frames": [{"frame": f, "iterations": n, "loss_first": first, "loss_last": last,
                        "stop": STOPS[stop], "candidate": k}
                       for f, n, first, last, stop, k in frames],
            "loss_first": number("first_loss"), "loss_last": number("loss"),
            "iterations": number("iterations"), "evaluations": number("evaluations"),
            "unconverged_steps": number("unconverged_steps"), "x": x,
            "values": design.values(x), "window": _array(run, "start"), "design": design}
