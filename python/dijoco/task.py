"""Tasks: the loss of a run as a function of its variables, its gradient, and its improvement."""
from __future__ import annotations

import builtins
import ctypes
import itertools
import json
import math
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from ctypes import (POINTER, byref, c_bool, c_char, c_char_p, c_double, c_int, c_uint,
                    c_void_p)
from typing import Any, Callable, Iterator, Literal, Mapping, overload

import numpy as np

from . import _lib, entry, setting
from ._lib import CArray, Handle, call, call_valued, core
from ._types import Array, ArrayLike, NDArray, Path, Task
from .model import Model, outside, warn_ignored

STOPS = ("iterations", "gradient", "step", "callback", "stuck", "patience")
_CTRL = 0  # djVariableKind
_LEADS = (None, True, False)  # djdLead


class _CCertificate(_lib.Struct):
    _fields_ = [("analytic", c_double), ("difference", c_double), ("difference_error", c_double),
                ("step", c_double), ("relative_error", c_double), ("uncertainty", c_double),
                ("has_slope", c_bool), ("slope", c_double), ("passed", c_bool),
                ("surrogate", c_bool), ("touched", c_uint), ("evaluations", c_int),
                ("one_sided", c_double * 2), ("kink", c_char * 160), ("gave_up", c_char * 160),
                ("leads", c_int), ("scale", c_double), ("secant_step", c_double * 3),
                ("secant", c_double * 3), ("secant_analytic", c_double * 3),
                ("secant_flat", c_double * 3), ("secant_sides", c_int * 3)]


class _COptimizeStep(_lib.Struct):
    _fields_ = [("iteration", c_int), ("loss", c_double), ("step_norm", c_double),
                ("gradient_norm", c_double), ("best_loss", c_double), ("x", c_void_p),
                ("stage", c_int), ("flattened", c_int), ("pieces", c_int), ("jump", c_double)]


_Callback = ctypes.CFUNCTYPE(c_bool, c_void_p, POINTER(_COptimizeStep))


class _COptimizeResult(_lib.Struct):
    _fields_ = [("stop", c_int), ("first_loss", c_double), ("loss", c_double),
                ("best_iteration", c_int), ("iterations", c_int), ("evaluations", c_int),
                ("refused", c_int), ("restarts", c_int), ("products", c_int),
                ("gradient_norm", c_double), ("stage", c_int), ("shrink", c_double),
                ("flattened", c_int), ("contradiction", c_int), ("renewals", c_int),
                ("largest_jump", c_double)]


_lib.check_structs({"djdCertificate": _CCertificate, "djOptimizeStep": _COptimizeStep,
                    "djOptimizeResult": _COptimizeResult})


def _kinks() -> list[str]:
    """Names of the sets at which penalty contact has kinks."""
    names = (core.dj_kinkName(k).decode() for k in itertools.count())
    return list(itertools.takewhile(bool, names))


def _load(task: Task, folder: Path | None) -> Handle:
    """A djTask from a path, or from a dict whose paths start at folder."""
    out = c_void_p()
    if isinstance(task, dict):
        text = json.dumps(task, default=_plain)
        call(core.dj_loadTaskText, byref(out), text.encode(),
             None if folder is None else _lib.path_bytes(folder))
    else:
        call(core.dj_loadTask, byref(out), _lib.path_bytes(os.fspath(task)))
    return Handle(out.value, core.dj_deleteTask)


def _plain(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError("a task cannot hold a %s" % type(value).__name__)


class _Part:
    """A scene of a task: its model and design."""

    def __init__(self, task: Handle, k: int, models: Mapping[str, Model],
                 allow_ignored: bool) -> None:
        own = core.dj_taskOfScene(task.address, k)
        self.name, self.weight = core.dj_taskName(own).decode(), core.dj_taskWeight(own)
        path = os.fsdecode(core.dj_taskScene(own))
        given = models.get(os.path.basename(path))
        self.path = None if given else path
        self.model = given.copy() if given else Model._load(path)
        if not allow_ignored:
            _refuse_ignored(self.model)
        call(core.dj_applyTask, self.model._address, own)
        found, design = c_void_p(), c_void_p()
        call(core.dj_resolveTask, byref(found), own, self.model._address)
        problem = Handle(found.value, core.dj_deleteProblem, (task,))
        call(core.djd_makeDesign, byref(design), self.model._address, problem.address)
        self.handle = Handle(design.value, core.djd_deleteDesign, (problem,))
        self.problem = problem.address

    def array(self, name: str) -> NDArray[Any]:
        field = CArray()
        if core.djd_designArray(byref(field), self.handle.address, name.encode()) < 0:
            return np.zeros(0)
        return _lib.view(field, self.handle, True)


def _take_models(task: Task) -> tuple[Task, dict[str, Model]]:
    """The task with names in place of models, and these by their names."""
    models: dict[str, Model] = {}

    def without(part: Any) -> Any:
        if not isinstance(part, dict) or not isinstance(part.get("scene"), Model):
            return part
        name = "\x01model %d" % len(models)   # no file's
        models[name] = part["scene"]
        return dict(part, scene=name)

    if not isinstance(task, dict):
        return task, models
    out: dict[str, Any] = without(task)
    if isinstance(out.get("scenes"), (list, tuple)):
        out = dict(out, scenes=[without(part) for part in out["scenes"]])
    return out, models


class Design:
    """The loss of a task as a function of one vector x (n,), which lists the entries of its
    variables that vary.

        design = dijoco.Design("task.json")
        loss, gradient = design.evaluate(design.x0)

    task: path of a .json task, or a dict of the same form (docs/tasks.md), whose `scene`, also in
    `scenes`, may be a `Model`; relative paths of a dict start at `folder`. Scenes of which
    something that changes the motion is ignored are refused unless allow_ignored. `threads` share
    the scenes and change no result; 0: one for each processor. Calls on one Design wait for each other.
    Rotations vary by a rotation vector, which is 0 at x0.
    """
    _tells = True   # what is ignored of its scenes

    def __init__(self, task: Task, folder: Path | None = None, allow_ignored: bool = False,
                 threads: int = 0) -> None:
        whole = task if isinstance(task, dict) else os.path.abspath(task)
        self._given = whole, os.path.abspath(folder or os.curdir), allow_ignored, threads
        task, models = _take_models(task)
        self._task = _load(task, folder)
        count = core.dj_taskScenes(self._task.address)
        self._parts = [_Part(self._task, k, models, allow_ignored) for k in range(count)]
        loaded = {part.path: part.model for part in self._parts if part.path}
        for model in loaded.values() if self._tells else ():  # models that are given have been told of
            warn_ignored(model, stacklevel=outside())
        first = self._parts[0]
        self._handle, self._scene = first.handle, first.model
        self._address, self._problem = first.handle.address, first.problem
        self._sum = self._make_sum(1, threads)
        self._alone: list[Handle] = []
        self._threads = min(count, threads or os.cpu_count() or 1)
        self._lock = threading.Lock()
        kinds, nvalues = self._array("variable.kind"), self._array("variable.nvalue")
        tangents, picked = self._array("variable.ntangent"), self._array("variable.picked")
        names = [core.djd_variableName(self._address, i).decode() for i in range(len(kinds))]
        self._variables = list(zip(names, kinds, nvalues, tangents, picked))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles hold the task, by its path where it was given so."""
        return type(self), self._given

    def _designs(self) -> tuple[int, Any, Any]:
        """Arguments of C functions that take several scenes: number, designs, weights."""
        n = len(self._parts)
        return (n, (c_void_p * n)(*(part.handle.address for part in self._parts)),
                (c_double * n)(*(part.weight for part in self._parts)))

    def _make_alone(self) -> None:
        """Each scene by itself, where that is not there yet."""
        if self._alone:
            return
        out = []
        for part in self._parts:
            address = c_void_p()
            call(core.djd_makeScenes, byref(address), 1, (c_void_p * 1)(part.handle.address),
                 (c_double * 1)(1), 1, 1)
            out.append(Handle(address.value, core.djd_deletePhases, [part.handle]))
        self._alone = out

    def _make_sum(self, phases: int, threads: int) -> Handle:
        out = c_void_p()
        n, designs, weights = self._designs()
        call(core.djd_makeScenes, byref(out), n, designs, weights,
             _lib.integer(phases, "phases"), _lib.integer(threads, "threads"))
        return Handle(out.value, core.djd_deletePhases, [part.handle for part in self._parts])

    def _array(self, name: str) -> NDArray[Any]:
        return self._parts[0].array(name)

    def _number(self, name: str) -> Any:
        return self._array(name)[0].item()

    def _check(self, status: int, address: int | None = None) -> int:
        if status < 0 or status == _lib.SINGULAR:
            error = core.djd_designError(address or self._address).decode(errors="replace")
            _lib.fail(status, error if status < 0 else "")
        return status

    def __repr__(self) -> str:
        return _lib.line("Design", "n=%d by %s" % (self.n, _lib.named(self.names)))

    n = property(lambda self: self._number("n"), None, None, "Entries of x.")
    names = property(lambda self: [v[0] for v in self._variables], None, None,
                     "Names of the variables.")
    x0 = property(lambda self: self._array("x0"), None, None, "The task's own values (n,).")
    lower = property(lambda self: self._array("lower"), None, None, "Lower bounds (n,), or -inf.")
    upper = property(lambda self: self._array("upper"), None, None, "Upper bounds (n,), or inf.")
    model = property(lambda self: self._scene, None, None,
                     "The task's scene, the first of several, with its settings and `set`, as a "
                     "`Model`.")
    models = property(lambda self: [part.model for part in self._parts], None, None,
                      "The same of all scenes.")
    scenes = property(lambda self: [part.name for part in self._parts if part.name], None, None,
                      "Names of the task's `scenes`; [] where it has no such list.")

    evaluations = property(lambda self: self._number("evaluations"), None, None,
                           "Losses asked for so far, with a gradient or without.")

    def slice(self, name: str) -> builtins.slice:
        """Where a variable is in x."""
        if name not in self.names:
            raise ValueError("there is no variable '%s'" % name)
        i, adr = self.names.index(name), self._array("adr")
        return slice(int(adr[i]), int(adr[i + 1]))

    @overload
    def evaluate(self, x: ArrayLike, gradient: Literal[True] = True) -> tuple[float, Array]: ...

    @overload
    def evaluate(self, x: ArrayLike, gradient: bool) -> tuple[float, Array | None]: ...

    def evaluate(self, x: ArrayLike, gradient: bool = True) -> tuple[float, Array | None]:
        """Loss at x (n,) and its gradient (n,), or None without `gradient`. Of several scenes these
        are sums, by their weights; see `scene_losses`."""
        x, loss = self._vector(x), c_double()
        out = np.zeros(self.n) if gradient else None
        with self._lock:
            self._check(core.djd_forwardPhases(byref(loss), self._sum.address, x.ctypes.data,
                                               bool(gradient)))
            if out is not None:
                self._check(core.djd_backwardPhases(out.ctypes.data, self._sum.address))
        return loss.value, out

    def _try(self, x: ArrayLike) -> tuple[float, Array, int, tuple[float, float]]:
        """Loss and gradient at x as far as they exist, the status, and seconds of either. Raises where
        there is no loss."""
        x, loss, out = self._vector(x), c_double(), np.full(self.n, math.nan)
        with self._lock:
            start = time.perf_counter()
            status = core.djd_forwardPhases(byref(loss), self._sum.address, x.ctypes.data, True)
            forward = time.perf_counter()
            if status >= 0 and status != _lib.SINGULAR:
                status = core.djd_backwardPhases(out.ctypes.data, self._sum.address)
            backward = time.perf_counter()
            if status < 0:
                self._check(status)
        if status == _lib.SINGULAR:
            out[:] = math.nan
        return loss.value, out, status, (forward - start, backward - forward)

    def _recedes(self) -> bool:
        """Whether its optimizer takes windows."""
        how = core.dj_taskOptimizer(self._task.address)
        return core.dj_getReceding(how, core.dj_recedingKey(0)) > 0

    def scene_losses(self) -> Array:
        """Loss of each scene at the last evaluation, before its weight."""
        with self._lock:
            return np.array([core.djd_sceneLoss(self._sum.address, k)
                             for k in range(len(self._parts))])

    weights = property(lambda self: np.array([part.weight for part in self._parts]), None, None,
                       "Weight of each scene's loss in the sum.")

    @overload
    def evaluate_scenes(self, x: ArrayLike,
                        gradient: Literal[True] = True) -> tuple[Array, Array]: ...

    @overload
    def evaluate_scenes(self, x: ArrayLike, gradient: bool) -> tuple[Array, Array | None]: ...

    def evaluate_scenes(self, x: ArrayLike, gradient: bool = True) -> tuple[Array, Array | None]:
        """Loss of each scene at x (n,), before its weight, and their gradients (scenes, n), or None
        without `gradient`."""
        x = self._vector(x)
        losses = np.zeros(len(self._parts))
        out = np.zeros((len(losses), self.n)) if gradient else None

        def run(k: int) -> int:
            loss, alone = c_double(), self._alone[k].address
            status = core.djd_forwardPhases(byref(loss), alone, x.ctypes.data, bool(gradient))
            if out is not None and status >= 0 and status != _lib.SINGULAR:
                status = core.djd_backwardPhases(out[k].ctypes.data, alone)
            losses[k] = loss.value
            return status

        with self._lock, ThreadPoolExecutor(self._threads) as pool:
            self._make_alone()
            for part, status in zip(self._parts, pool.map(run, range(len(losses)))):
                self._check(status, part.handle.address)
        return losses, out

    def hvp(self, x: ArrayLike, v: ArrayLike) -> Array:
        """Hessian-vector product (n,) at x (n,) with v (n,) of the same loss as `evaluate`."""
        x, v, out = self._vector(x), np.array(_lib.numbers(v, (self.n,), "v")), np.zeros(self.n)
        with self._lock:
            self._check(core.djd_phasesHvp(self._sum.address, out.ctypes.data, x.ctypes.data,
                                           v.ctypes.data))
        return out

    def hvp_scenes(self, x: ArrayLike, v: ArrayLike) -> Array:
        """The same (scenes, n) of each scene's loss, before its weight."""
        x, v = self._vector(x), np.array(_lib.numbers(v, (self.n,), "v"))
        out = np.zeros((len(self._parts), self.n))

        def run(k: int) -> int:
            return core.djd_phasesHvp(self._alone[k].address, out[k].ctypes.data, x.ctypes.data,
                                      v.ctypes.data)

        with self._lock, ThreadPoolExecutor(self._threads) as pool:
            self._make_alone()
            for part, status in zip(self._parts, pool.map(run, range(len(out)))):
                self._check(status, part.handle.address)
        return out

    def values(self, x: ArrayLike | None = None) -> dict[str, Array]:
        """Values of the variables at x (default: x0) as a dict of flat arrays; ctrl is
        (horizon, nu)."""
        x = self._vector(self.x0 if x is None else x)
        with self._lock:
            self._check(core.djd_moveDesign(self._address, x.ctypes.data))
            return {v[0]: self._value(i) for i, v in enumerate(self._variables)}

    def model_at(self, x: ArrayLike | None = None) -> Model:
        """A `Model` of its own with the design at x (default: x0), maps included: of the first of
        several scenes. `Model.save_mjcf` writes it."""
        x, model = self._vector(self.x0 if x is None else x), c_void_p()
        with self._lock:
            self._check(core.djd_moveDesign(self._address, x.ctypes.data))
            call(core.dj_copyModel, byref(model), core.djd_designModel(self._address))
        return Model._make(Handle(model.value, core.dj_deleteModel), self._scene._report)

    def _vector(self, x: ArrayLike) -> Array:
        return np.array(_lib.numbers(x, (self.n,), "x"))

    def _shape(self, variable: int) -> tuple[int, ...]:
        name, kind, nvalue, ntangent, picked = self._variables[variable]
        if kind == _CTRL and not picked:
            horizon = self._number("horizon")
            return (horizon, int(ntangent) // horizon)
        part = self.slice(name)
        return (part.stop - part.start,) if picked else (int(ntangent),)

    def _value(self, variable: int) -> Array:
        """Value at the present point; entries that were picked, where these are plain numbers."""
        name, kind, nvalue, ntangent, picked = self._variables[variable]
        value = np.zeros(nvalue)
        core.djd_designValue(value.ctypes.data, self._address, variable)
        if picked and nvalue == ntangent:
            part = self.slice(name)
            return value[[core.djd_variableIndex(self._address, variable, k)
                          for k in range(part.stop - part.start)]]
        return value.reshape(self._shape(variable)) if kind == _CTRL and not picked else value

    def certify(self, variable: str, loss: float, gradient: ArrayLike, seed: int = 0,
                runs: int = 0, x: ArrayLike | None = None) -> dict[str, Any]:
        """Compare the derivative by a variable (its name) at x (n,), where loss and gradient were
        evaluated (None: x0), with extrapolated differences of the loss along a random direction. Where a guide
        acts in derivatives alone it is a `surrogate`, and `passed` None. `touched` names kinks of
        penalty contact that runs of the differences cross, `kink` a tie or kink at x itself, with
        the slopes below and above it in `one_sided`. At most `runs` losses are evaluated (0: 800);
        `gave_up` says why there is no verdict.

        `leads`: whether the gradient foretells what steps of a useful size do, None where a run is
        missing. `secants` are [step, slope] along the same direction over steps of 1e-3, 1e-2 and
        5e-2 of the variable's `scale`, by up to 6 runs more; `secant_gradients` beside them are the
        gradient's, which bounds of the task may change, and `secant_sides` on how many sides there
        was a run."""
        gradient = _lib.numbers(gradient, (self.n,), "gradient")
        return self._certify(variable, loss, gradient, seed, core.djd_checkBudget(0, runs, 0), x)

    def _certify(self, variable: str, loss: float, gradient: Array, seed: int, most: int,
                 x: ArrayLike | None) -> dict[str, Any]:
        self.slice(variable)
        out, x = _CCertificate(), self._vector(self.x0 if x is None else x)
        with self._lock:
            core.djd_certifyAt(byref(out), self._sum.address, x.ctypes.data,
                               self.names.index(variable), loss, gradient.ctypes.data, seed, most)
        kinks = [name for k, name in enumerate(_kinks()) if out.touched >> k & 1]
        return {"name": variable, "analytic": out.analytic, "difference": out.difference,
                "relative_error": out.relative_error,
                "slope": out.slope if out.has_slope else None,
                "passed": None if out.surrogate else out.passed, "surrogate": out.surrogate,
                "difference_error": out.difference_error, "step": out.step,
                "uncertainty": out.uncertainty, "touched": kinks,
                "kink": out.kink.decode() or None,
                "one_sided": [x if math.isfinite(x) else None for x in out.one_sided],
                "gave_up": out.gave_up.decode() or None, "runs": out.evaluations,
                **_secants(out)}

    def _certify_all(self, loss: float, gradient: Array, seed: int, runs: int,
                     x: ArrayLike | None = None) -> list[dict[str, Any]]:
        """Certificates of all variables, which share their runs."""
        out: list[dict[str, Any]] = []
        for name in self.names:
            taken = sum(c["runs"] for c in out)
            most = core.djd_checkBudget(len(out) + 1, runs, taken)
            out.append(self._certify(name, loss, gradient, seed, most, x))
        return out

    def spread(self, phases: int = 8, threads: int = 0) -> Array:
        """How far the gradient at x0 by each variable is from the same at all phases: its standard
        deviation over starts moved by j/phases of a timestep along qvel0, by the size of its mean.
        Where one of them has no gradient all are NaN. `threads` 0: one for each processor."""
        out = np.full(len(self.names), math.nan)
        with self._lock:
            runs = self._make_sum(phases, threads)
            status = core.djd_phaseSpread(out.ctypes.data, runs.address, self.x0.ctypes.data)
        return out if status >= 0 else np.full(len(self.names), math.nan)

    def landscape(self, variable: str, index: int = 0, range: ArrayLike = (-1, 1),
                  samples: int = 101) -> dict[str, Any]:
        """Loss and gradient along one entry of a variable (its name; `index` of those that vary), at
        `samples` values from range[0] to range[1], all else as at x0, as a dict: `values`, `loss`,
        `gradient` and `reconstructed`, the first loss plus the gradient's integral by the trapezoid
        rule (samples,); `range`, largest less smallest loss; `sign_changes`, of differences above
        1e-9 of it; `total_variation` and `gradient_total_variation`, sums of |differences|;
        `reconstruction_error`, the largest |reconstructed - loss|; `missing`, samples without a loss
        or a gradient, which are NaN; `unconverged`, those with steps that did not converge."""
        part = self.slice(variable)
        index, samples = _lib.integer(index, "index"), _lib.integer(samples, "samples")
        if not 0 <= index < part.stop - part.start:
            raise IndexError("'%s' has %d entries that vary" % (variable, part.stop - part.start))
        start, end = _lib.numbers(range, (2,), "range")
        out = {key: np.zeros(max(samples, 2))
               for key in ("values", "loss", "gradient", "reconstructed")}
        measured = _lib.CLandscape()
        with self._lock:
            call_valued(core.djd_landscape, byref(measured),
                        *(x.ctypes.data for x in out.values()), samples, self._sum.address,
                        part.start + index, start, end)
        return {**out, **{key: getattr(measured, key) for key, _ in measured._fields_}}

    def components(self, x: ArrayLike | None = None) -> int:
        """Pieces into which, at x (default x0), the bodies fall whose shapes the task's connections
        hold together; 1 for each robot that hangs together, 0 without connections."""
        x, n = self._vector(self.x0 if x is None else x), c_int()
        with self._lock:
            self._check(core.djd_moveDesign(self._address, x.ctypes.data))
            call(core.djd_countPieces, byref(n), self._address)
        return n.value


def _secants(certificate: _CCertificate) -> dict[str, Any]:
    """What it says of steps of a useful size."""
    taken = slice(None if certificate.scale > 0 else 0)

    def numbers(values: Any) -> list[float | None]:
        return [x if math.isfinite(x) else None for x in values[taken]]

    return {"leads": _LEADS[certificate.leads],
            "secants": [[step, slope] for step, slope in zip(certificate.secant_step,
                                                             numbers(certificate.secant))],
            "secant_gradients": numbers(certificate.secant_analytic),
            "secant_sides": certificate.secant_sides[taken],
            "scale": certificate.scale if certificate.scale > 0 else None}


def _refuse_ignored(model: Model) -> None:
    for entry in model.report:
        if entry.state == "ignored":
            raise _lib.Error("%s: %s is ignored although it changes the motion (%s); "
                             "allow_ignored=True runs the scene without it"
                             % (entry.element, entry.feature, entry.note), _lib.UNSUPPORTED)


def _settings(model: Model) -> dict[str, Any]:
    out = {row.name: setting.report(row, model._field(row.in_force)[0])
           for row in setting.settings()}
    out["contact_range"] = model.settings["range"]
    return out


def grad(task: Task, check: bool = False, seed: int = 0, folder: Path | None = None,
         allow_ignored: bool = False, check_runs: int = 0) -> dict[str, Any]:
    """Loss and gradient of a task at its own values: a dict as `dijoco grad --json` prints it.

    status ("ok", "singular", "no_convergence", "check_failed"), loss, terms, variables (name,
    shape, value, gradient: arrays), inertia (the rule), overlap (share of bodies' volumes that
    counts twice), steps, unconverged_steps, fallback_steps, recovering_steps, worst_residual,
    worst_condition, settings, time; with check also a certificate for each variable, with its
    `spread` over phases (None where there is none), by `check_runs` runs at most for one variable (0:
    800) and an eighth of that more for each in all, besides 6 that tell whether it `leads` (see
    `Design.certify`). Arguments: see `Design`.
    """
    design = Design(task, folder, allow_ignored)
    loss, gradient, status, (forward, backward) = design._try(design.x0)
    singular = status == _lib.SINGULAR
    out = {"status": "ok", "loss": loss,
           "surrogate": any(core.djd_isSurrogate(part.handle.address) for part in design._parts),
           "terms": [_term(part, t, v) for part in design._parts
                     for t, v in zip(part.array("term.type"), part.array("term"))],
           "variables": [{"name": name, "shape": list(design._shape(i)), "value": design._value(i),
                          "gradient": gradient[design.slice(name)].reshape(_fit(design, i))}
                         for i, name in enumerate(design.names)],
           "inertia": core.dj_inertiaRuleName(
               design._parts[0].array("inertia_from_geom")[0].item()).decode(),
           "overlap": design.model.overlap()["share"],
           "steps": _over(design, "horizon", sum),
           "unconverged_steps": _over(design, "unconverged_steps", sum),
           "fallback_steps": _over(design, "fallback_steps", sum),
           "recovering_steps": _over(design, "recovering_steps", sum),
           "worst_residual": _over(design, "worst_residual", max),
           "worst_condition": _over(design, "worst_condition", max),
           "settings": _settings(design.model),
           "time": {"forward_s": forward, "backward_s": backward}}
    if design.scenes:
        out["scenes"] = [{"name": part.name, "weight": part.weight, "loss": float(value)}
                         for part, value in zip(design._parts, design.scene_losses())]
    if check and not singular:
        out["certificate"] = design._certify_all(loss, gradient, seed, check_runs)
        for row, spread in zip(out["certificate"], design.spread()):
            row["spread"] = float(spread) if math.isfinite(spread) else None
    if singular:
        out["status"] = "singular"
    elif out["unconverged_steps"] > 0:
        out["status"] = "no_convergence"
    elif any(c["passed"] is False for c in out.get("certificate", ())):
        out["status"] = "check_failed"
    return out


def _term(part: _Part, row: int, value: float) -> dict[str, Any]:
    scene = {"scene": part.name} if part.name else {}
    return dict(scene, type=entry.LOSSES[row].name, value=float(value))


def _over(design: Design, name: str, together: Callable[[Iterator[Any]], Any]) -> Any:
    """A number of all scenes."""
    return together(part.array(name)[0].item() for part in design._parts)


def _fit(design: Design, variable: int) -> tuple[int, ...]:
    """Shape of the gradient's part."""
    part, shape = design.slice(design.names[variable]), design._shape(variable)
    return shape if math.prod(shape) == part.stop - part.start else (part.stop - part.start,)


def _set_optimizer(how: Any, name: str, value: Any) -> None:
    if name == "type":
        call(core.dj_setOptimizerType, how, _lib.text(value, "type"))
    elif isinstance(value, (int, float, np.generic)) and not isinstance(value, bool):
        call(core.dj_setOptimizer, how, _lib.text(name, "optimizer"), float(value))
    elif isinstance(value, str):
        call(core.dj_setOptimizerText, how, _lib.text(name, "optimizer"), _lib.text(value, name))
    else:
        raise TypeError("%s: expected a number or a name, not %r" % (name, value))


def _optimizer(design: Design, iterations: int | None, keys: Mapping[str, Any]) -> Any:
    """A copy of the task's optimizer with other keys."""
    call(core.djd_checkVariables, design._problem)
    how = (ctypes.c_char * core.dj_sizeOf(b"djOptimizer")).from_buffer_copy(ctypes.string_at(
        core.dj_taskOptimizer(design._task.address), core.dj_sizeOf(b"djOptimizer")))
    if iterations is not None:
        keys = dict(keys, iterations=_lib.integer(iterations, "iterations"))
    for name, value in keys.items():
        _set_optimizer(how, name, value)
    for name in keys:
        call(core.dj_checkOptimizerKey, how, _lib.text(name, "optimizer"))
    count = core.dj_copyStages(how, None, -1)
    if count > 0 and "iterations" in keys:
        how.stages = (ctypes.c_char * (count * core.dj_sizeOf(b"djStage")))()  # as long as `how`
        core.dj_copyStages(how, how.stages, int(keys["iterations"]))
    return how


def _guarded(n: int, failure: list[BaseException],
             call_back: Callable[[Any, Array], object] | None) -> Callable[[Any], bool]:
    """A callback of C with a djOptimizeStep, for call_back(step, x) or None; x is (n,)."""
    def step(state: Any) -> bool:
        try:
            s = state.contents
            x = np.ctypeslib.as_array((c_double * n).from_address(s.x)).copy() if n else np.zeros(0)
            return call_back is None or call_back(s, x) is not False
        except BaseException as error:  # it cannot pass through C
            failure.append(error)
            return False
    return step


def optimize(task: Task | Design, iterations: int | None = None,
             callback: Callable[[int, float, Array], object] | None = None,
             folder: Path | None = None, allow_ignored: bool = False, threads: int = 0,
             x0: ArrayLike | None = None, **optimizer: Any) -> dict[str, Any]:
    """Improve a task's variables with its own optimizer (docs/tasks.md), whose type and keys may be
    given as keyword arguments instead: optimize(task, type="lbfgsb", memory=5). `iterations` are
    those of each stage, where there are any. `threads` share
    scenes and the starts of optimize(task, phases=8) and change no result; 0: one for each
    processor. task: as for `Design`, or a `Design`, which keeps what stages set. x0 (n,): where it
    starts, in place of the task's own values.

    callback(iteration, loss, x) is called after every iteration, 0 being the start (of a stage),
    with x (n,); it ends the run by returning False. Of a Design that was given it may read
    `evaluations`, and call nothing. Returns a dict: x, the best, values (see `Design.values`),
    loss_first, loss_last (at x), iterations, evaluations, restarts, products, best_iteration, flattened (steps
    that were shortened since a hull would have been flat), stop ("iterations", "gradient", "step",
    "callback", "stuck", "patience"), renewals (of facets, docs/tasks.md) and largest_jump of the loss
    at one, design. Arguments: see `Design`.
    """
    design = task if isinstance(task, Design) else Design(task, folder, allow_ignored)
    how = _optimizer(design, iterations, optimizer)
    if design._recedes():
        raise ValueError("the horizon of this task recedes: see dijoco.receding")
    failure: list[BaseException] = []
    step = _guarded(design.n, failure, callback and (lambda s, x: callback(s.iteration, s.loss, x)))

    x, result = design._vector(design.x0 if x0 is None else x0), _COptimizeResult()
    callback_of_c = _Callback(lambda _, state: step(state))
    with design._lock:
        call(core.djd_optimizeScenes, byref(result), x.ctypes.data, *design._designs(), byref(how),
             _lib.integer(threads, "threads"), ctypes.cast(callback_of_c, c_void_p), None)
    if failure:
        raise failure[0]
    return {"x": x, "values": design.values(x), "loss_first": result.first_loss,
            "loss_last": result.loss, "iterations": result.iterations,
            "evaluations": result.evaluations, "restarts": result.restarts,
            "products": result.products,
            "best_iteration": result.best_iteration, "flattened": result.flattened,
            "renewals": result.renewals,
            "largest_jump": result.largest_jump,
            "stop": STOPS[result.stop], "design": design}
