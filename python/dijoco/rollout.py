"""Runs and their adjoint."""
from __future__ import annotations

import threading
from ctypes import byref, c_void_p
from typing import Any, Dict, Iterable, Mapping, NamedTuple

import numpy as np

from . import _lib
from ._lib import CRollout, CRolloutResult, CVariation, Handle, call, core
from ._types import AnyModel, Array, ArrayLike, History
from .data import Data, expand, history_arrays, param_array, warn_of_steps
from .model import Model


class Gradient(NamedTuple):
    """What `Rollout.vjp` returns: derivatives by ctrl (T, nu), qpos0 (nv,) tangent, qvel0 (nv,),
    act0 (na,), a dict of those by parameters, each (param_tangent,), and by the start's history
    (nv,) each, 0 where it has none."""

    ctrl: Array
    qpos0: Array
    qvel0: Array
    act0: Array
    params: Dict[str, Array]
    history_qpos0: Array
    history_qvel0: Array

    def __repr__(self) -> str:
        return _lib.line("Gradient", "by %d steps of %d controls, the start%s" % (
            *self.ctrl.shape[-2:], "".join(", " + name for name in self.params)))


_INPUTS = ("qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat", "mocap_last_pos",
           "mocap_last_quat", "eq_active")


class Rollout:
    """A run and what its derivatives need; `rollout` makes it.

    `qpos` (T+1, nq), `qvel` (T+1, nv), `act` (T+1, na), `time` (T+1,) s; row 0 is the start.
    `unconverged_steps` counts steps whose best iterate was kept, `stats` are those of the run
    (`Stats`).
    """

    def __init__(self, model: AnyModel, ctrl: ArrayLike, qpos0: ArrayLike | None,
                 qvel0: ArrayLike | None, act0: ArrayLike | None, data: Data | None,
                 gradient: bool, history: History | None, checkpoint: int = 0,
                 derivatives: str | None = None) -> None:
        model = Model.of(model)
        if data is not None:
            _lib.expect(data, Data, "data")
        ctrl = np.asarray(ctrl)
        if ctrl.ndim != 2 or ctrl.shape[1] != model.nu or len(ctrl) < 1:
            raise ValueError("ctrl: expected shape (T, %d) with T > 0, not %s"
                             % (model.nu, ctrl.shape))
        self._lock = threading.Lock()  # a tape serves one backward pass at a time
        self._model = model.copy()     # derivatives are of the model as it is now
        self._ctrl = np.array(_lib.numbers(ctrl, ctrl.shape, "ctrl"))
        self._data = Data(self._model, record=False)
        if data is not None:
            self._data._check(core.dj_copyData(self._data._address, self._model._address,
                                               data._address))
        start = [_start(value, getattr(data, name, None), size, name + "0") for value, name, size
                 in ((qpos0, "qpos", model.nq), (qvel0, "qvel", model.nv), (act0, "act", model.na))]
        if history is None and data is not None and qpos0 is None and qvel0 is None:
            history = self._data.history
        self._start = start + list(history_arrays(history, model))
        self._run = CRollout(history_qpos0=_lib.pointer(self._start[3]),
                             history_qvel0=_lib.pointer(self._start[4]),
                             horizon=len(ctrl), qpos0=_lib.pointer(start[0]),
                             qvel0=_lib.pointer(start[1]), act0=_lib.pointer(start[2]),
                             ctrl=self._ctrl.ctypes.data,
                             loss_only=not gradient or derivatives == "smooth",
                             checkpoint=_lib.count(checkpoint, "checkpoint"))
        self._tape = self._make_tape()
        self._second: Handle | None = None            # of products
        self._forward()
        if gradient and derivatives == "smooth":
            self._turn_smooth(data)

    def _make_tape(self) -> Handle:
        tape = c_void_p()
        call(core.djd_makeTape, byref(tape), self._model._address, len(self._ctrl))
        return Handle(tape.value, core.djd_deleteTape)

    def _turn_smooth(self, data: Data | None) -> None:
        """From here on the model, its data and the tape are those of smooth steps along the run."""
        self._run_tape, self._model = self._tape, self._model.copy(preset="smooth")
        self._data, self._tape = Data(self._model, record=False), self._make_tape()
        for name in _INPUTS if data is not None else ():
            getattr(self._data, name)[...] = getattr(data, name)
        if data is not None:
            self._data.gravity_scale = data.gravity_scale
        self._run.along, self._run.loss_only = self._run_tape.address, False
        self._run_forward()

    def _run_forward(self) -> CRolloutResult:
        result, model, data = CRolloutResult(), self._model, self._data
        status = core.djd_rolloutForward(byref(result), model._address, data._address,
                                         byref(self._run), self._tape.address)
        if status < 0 or status == _lib.SINGULAR:
            steps = data.stats.steps
            try:
                data._check(status)
            except _lib.Error as error:
                raise _lib.Error("step %d: %s" % (steps, error) if steps else str(error),
                                 status) from None
        return result

    def _forward(self) -> None:
        result, model, data = self._run_forward(), self._model, self._data
        T = self._run.horizon
        self.qpos = np.empty((T + 1, model.nq))
        self.qvel = np.empty((T + 1, model.nv))
        self.act = np.empty((T + 1, model.na))
        core.djd_tapeStates(self.qpos.ctypes.data, self.qvel.ctypes.data, self.act.ctypes.data,
                            model._address, self._tape.address)
        self.time = np.arange(T + 1) * model.option["timestep"]
        self.stats = data.stats
        self.unconverged_steps = result.unconverged_steps
        self.worst_residual = result.worst_residual

    def __repr__(self) -> str:
        return "<dijoco.Rollout of %d steps of %r>" % (self._run.horizon, self._model)

    def _counts(self) -> tuple[int, int, int]:
        return self.stats.unconverged_steps, self.stats.fallback_steps, self.stats.recovering_steps

    @property
    def model(self) -> Model:
        """A copy of the model as it was when the run was made."""
        return self._model

    @property
    def ctrl(self) -> Array:
        """Controls (T, nu) of the run; read-only."""
        ctrl = self._ctrl.view()
        ctrl.flags.writeable = False
        return ctrl

    def vjp(self, qpos: ArrayLike | None = None, qvel: ArrayLike | None = None,
            act: ArrayLike | None = None, params: str | Iterable[str] = (),
            ctrl: ArrayLike | None = None) -> Gradient:
        """Pull derivatives of a loss back to what the run was made from.

        qpos (T+1, nv) tangent, qvel (T+1, nv), act (T+1, na): the loss's derivatives by the
        states; ctrl (T, nu): by the controls themselves; None: zero. params: names of parameters.
        Returns a `Gradient`. May be called any number of times.
        """
        m, T = self._model, self._run.horizon
        names = expand(m, [params] if isinstance(params, str) else list(params))
        table, sizes = param_array(m, names)
        out, flat = _gradient(m, T, sizes)
        result = CRolloutResult(grad_ctrl=out.ctrl.ctypes.data, grad_qpos0=out.qpos0.ctypes.data,
                                grad_qvel0=out.qvel0.ctypes.data, grad_act0=out.act0.ctypes.data,
                                grad_history_qpos0=out.history_qpos0.ctypes.data,
                                grad_history_qvel0=out.history_qvel0.ctypes.data,
                                nparam=len(names), param=table, grad_param=flat.ctypes.data)
        with self._lock:
            self._set_cotangents(qpos, qvel, act, ctrl)
            self._data._check(core.djd_rolloutBackward(
                byref(result), m._address, self._data._address, byref(self._run),
                self._tape.address))
        out.params.update(zip(names, _split(flat, sizes)))
        return out

    def jvp(self, ctrl: ArrayLike | None = None, qpos0: ArrayLike | None = None,
            qvel0: ArrayLike | None = None, act0: ArrayLike | None = None,
            params: Mapping[str, ArrayLike | None] | None = None,
            history: History | None = None) -> tuple[Array, Array, Array]:
        """Tangents of the run where what it was made from changes along a direction.

        ctrl (T, nu), qpos0 (nv,) tangent, qvel0 (nv,), act0 (na,), history: pairs of (nv,); params:
        dict name -> (param_tangent,); None: no change. Returns qpos (T+1, nv) tangent, qvel
        (T+1, nv), act (T+1, na).
        """
        m, T = self._model, self._run.horizon
        along, _, keep = self._along(ctrl, qpos0, qvel0, act0, params, history)
        out = np.zeros((T + 1, m.tangent_size))
        with self._lock:
            self._data._check(core.djd_rolloutJvp(
                out.ctypes.data, byref(along), m._address, self._data._address, byref(self._run),
                self._tape.address, self._hessian()))
        return out[:, :m.nv], out[:, m.nv:2 * m.nv], out[:, 2 * m.nv:2 * m.nv + m.na]

    def hvp(self, cotangents: Mapping[str, ArrayLike | None], ctrl: ArrayLike | None = None,
            qpos0: ArrayLike | None = None, qvel0: ArrayLike | None = None,
            act0: ArrayLike | None = None, params: Mapping[str, ArrayLike | None] | None = None,
            history: History | None = None,
            rates: Mapping[str, ArrayLike | None] | None = None) -> Gradient:
        """Hessian-vector product of a loss with these derivatives by the states.

        cotangents: dict of qpos, qvel, act and ctrl as `vjp` has them; rates: how they change along
        the direction, likewise (None: they do not). Derivatives by turns are in axes of bodies,
        which turn with them. The direction is that of `jvp`; params name those whose products are
        wanted, too (None: they do not change). Returns a `Gradient`: the symmetric second
        derivative by rotation vectors, by numbers elsewhere.
        """
        m, T = self._model, self._run.horizon
        along, (names, table, sizes), keep = self._along(ctrl, qpos0, qvel0, act0, params, history)
        out, flat = _gradient(m, T, sizes)
        product = CVariation(ctrl=out.ctrl.ctypes.data, qpos0=out.qpos0.ctypes.data,
                             qvel0=out.qvel0.ctypes.data, act0=out.act0.ctypes.data,
                             history_qpos0=out.history_qpos0.ctypes.data,
                             history_qvel0=out.history_qvel0.ctypes.data,
                             value=flat.ctypes.data)
        with self._lock:
            self._set_cotangents(**cotangents)
            if rates is not None:
                dstate, dctrl = self._cotangents(**rates)
                self._data._check(core.djd_setCotangentRates(
                    self._hessian(), m._address, self._tape.address, dstate.ctypes.data,
                    _lib.pointer(dctrl)))
            self._data._check(core.djd_rolloutHvp(
                byref(product), byref(along), m._address, self._data._address, byref(self._run),
                self._tape.address, self._hessian()))
        out.params.update(zip(names, _split(flat, sizes)))
        return out

    def _hessian(self) -> int | None:
        if self._second is None:
            address = c_void_p()
            call(core.djd_makeHessian, byref(address), self._model._address, self._run.horizon)
            self._second = Handle(address.value, core.djd_deleteHessian)
        return self._second.address

    def _along(self, ctrl: ArrayLike | None, qpos0: ArrayLike | None, qvel0: ArrayLike | None,
               act0: ArrayLike | None, params: Mapping[str, ArrayLike | None] | None,
               history: History | None) -> tuple[CVariation, tuple[list[str], Any, list[int]],
                                                 object]:
        """A djVariation, names, djParam array and sizes of its parameters, and what it points to."""
        m, T = self._model, self._run.horizon
        self._check_gradient()
        directions: dict[str, Any] = {}
        for pattern, value in (params or {}).items():
            for name in m.match(pattern):
                directions[name] = directions.get(name, 0) + (
                    np.zeros(m._param(name).ntangent) if value is None else np.asarray(value))
        names = list(directions)
        table, sizes = param_array(m, names)
        value = [_lib.numbers(directions[n], (k,), n) for n, k in zip(names, sizes)]
        flat = np.concatenate(value) if value else None
        first, second = history or (None, None)
        numbers = [None if x is None else _lib.numbers(x, shape, name) for name, x, shape in (
            ("ctrl", ctrl, (T, m.nu)), ("qpos0", qpos0, (m.nv,)), ("qvel0", qvel0, (m.nv,)),
            ("act0", act0, (m.na,)), ("history", first, (m.nv,)), ("history", second, (m.nv,)))]
        along = CVariation(*map(_lib.pointer, (numbers[1], numbers[2], numbers[3], numbers[4],
                                               numbers[5], numbers[0])),
                           len(names), table, _lib.pointer(flat))
        return along, (names, table, sizes), (numbers, flat)

    def _check_gradient(self) -> None:
        if self._run.loss_only:
            raise ValueError("the run was made with gradient=False")

    def _cotangents(self, qpos: ArrayLike | None = None, qvel: ArrayLike | None = None,
                    act: ArrayLike | None = None,
                    ctrl: ArrayLike | None = None) -> tuple[Array, Array | None]:
        m, T = self._model, self._run.horizon
        self._check_gradient()
        dstate = np.zeros((T + 1, m.tangent_size))
        for value, at, size, name in ((qpos, 0, m.nv, "qpos"), (qvel, m.nv, m.nv, "qvel"),
                                      (act, 2 * m.nv, m.na, "act")):
            if value is not None:
                dstate[:, at:at + size] = _lib.numbers(value, (T + 1, size), name)
        return dstate, None if ctrl is None else _lib.numbers(ctrl, (T, m.nu), "ctrl")

    def _set_cotangents(self, qpos: ArrayLike | None = None, qvel: ArrayLike | None = None,
                        act: ArrayLike | None = None, ctrl: ArrayLike | None = None) -> None:
        dstate, dctrl = self._cotangents(qpos, qvel, act, ctrl)
        self._data._check(core.djd_setCotangents(self._tape.address, self._model._address,
                                                 dstate.ctypes.data, _lib.pointer(dctrl)))


def _gradient(m: Model, T: int, sizes: list[int]) -> tuple[Gradient, Array]:
    """A `Gradient` of zeros without parameters, and numbers for these."""
    return Gradient(np.zeros((T, m.nu)), np.zeros(m.nv), np.zeros(m.nv), np.zeros(m.na), {},
                    np.zeros(m.nv), np.zeros(m.nv)), np.zeros(sum(sizes))


def _split(flat: Array, sizes: list[int]) -> list[Array]:
    return np.split(flat, np.cumsum(sizes)[:-1]) if sizes else []


def _start(value: ArrayLike | None, default: Array | None, size: int, name: str) -> Array | None:
    if value is None:
        return None if default is None else np.array(default)
    return np.array(_lib.numbers(value, (size,), name))


def rollout(model: AnyModel, ctrl: ArrayLike, qpos0: ArrayLike | None = None,
            qvel0: ArrayLike | None = None, act0: ArrayLike | None = None,
            data: Data | None = None, gradient: bool = True, history: History | None = None,
            checkpoint: int = 0, derivatives: str | None = None) -> Rollout:
    """Run a model under controls and record what derivatives need.

    ctrl (T, nu). qpos0 (nq,), qvel0 (nv,), act0 (na,): the start; where not given, that of data,
    else the model's reference at rest. data: a `Data` whose other inputs (applied forces, mocap
    poses, gravity_scale) act throughout; it is not changed. gradient=False: states only, cheaper.
    history: qpos (nq,) and qvel (nv,) one timestep before the start, for an integrator that keeps
    them; where not given, that of data if the start is, too. checkpoint: k > 0 keeps what derivatives
    need of k steps at a time: less memory, up to one run more of time, the same bits; products of
    tangents and Hessians need it to be 0. derivatives="smooth": those of steps with the contact of the
    preset `smooth` from each of the run's states, for optimizers that would else stall at contact
    that is not made or does not slip; first ones, by `vjp`. Returns a `Rollout`. Steps that did
    not converge, that another integrator took, or that began with overlaps warn (`StepWarning`).
    """
    if derivatives not in (None, "analytic", "smooth"):
        raise ValueError("derivatives: expected analytic or smooth, not %r" % (derivatives,))
    run = Rollout(model, ctrl, qpos0, qvel0, act0, data, gradient, history, checkpoint,
                  derivatives)
    warn_of_steps((0, 0, 0), run._counts(), run.stats.steps)
    return run
