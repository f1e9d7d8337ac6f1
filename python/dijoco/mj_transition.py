"""Derivatives of MuJoCo's own step by formula, called as mujoco.mjd_transitionFD."""
from __future__ import annotations

import ctypes
import threading
import weakref
from ctypes import byref, c_char, c_double, c_int, c_void_p
from typing import Any, Dict, List, NamedTuple, NoReturn

import numpy as np

from . import _lib
from ._lib import CError, Handle, call
from ._types import Array, MjData, MjModel
from .model import mujoco_address

_SIZES = ("nq", "nv", "na", "nu", "nbody", "nmocap", "nsensordata", "nactuator",
          "ngeom", "nsite", "njnt")


def check_sizes(mj_model: MjModel, mj_data: MjData) -> None:
    """C reads mj_data by the sizes of mj_model."""
    made_for = mj_data.model
    if made_for is not mj_model and any(getattr(made_for, n) != getattr(mj_model, n)
                                        for n in _SIZES):
        raise ValueError("mj_data: made for another model")


_FEATURES, _MOST_KINKS = 8, 8   # DJM_NFEATURE, DJM_MAXKINK


class _CKink(_lib.Struct):
    _fields_ = [("kind", c_int), ("type", c_int), ("id", c_int * 2), ("distance", c_double)]


class _CTransitionInfo(_lib.Struct):
    _fields_ = [("ncontact", c_int), ("differences", c_int), ("newton", c_int),
                ("found", c_double), ("residual", c_double), ("features", c_int * _FEATURES),
                ("nkink", c_int), ("kink", _CKink * _MOST_KINKS)]


_lib.MIRRORS.update(djmTransitionInfo=_CTransitionInfo, djmKink=_CKink)


class TransitionInfo(NamedTuple):
    """Of a transition: ncontact, contacts that act; differences, of these those whose geometry was
    differenced; features, how many follow which formula, by its name; nkink, rows within 1e-6 of a
    switch and contacts without a derivative, and kinks, what the first of them are; newton, own
    steps of Newton's method after the solver's, where it left the step unsolved; found and
    residual, what was unbalanced after the solver, and where the derivative was taken, relative to
    the forces."""

    ncontact: int
    differences: int
    features: Dict[str, int]
    nkink: int
    kinks: List[str]
    newton: int
    found: float
    residual: float


def _info(library: Any, mj_model: MjModel, address: int) -> TransitionInfo:
    c = _CTransitionInfo.from_address(address)
    features = {library.djm_featureName(i).decode(): n for i, n in enumerate(c.features) if n}
    kinks, text = [], ctypes.create_string_buffer(200)
    for kink in c.kink[:min(c.nkink, _MOST_KINKS)]:
        library.djm_kinkText(text, mj_model._address, byref(kink))
        kinks.append(text.value.decode(errors="replace"))
    return TransitionInfo(c.ncontact, c.differences, features, c.nkink, kinks, c.newton, c.found,
                          c.residual)


# ---- memory ------------------------------------------------------------------------------------

class _Work:
    """Memory of C for a model, and for what a call on it has to say."""

    __slots__ = ("handle", "address", "error", "error_address")

    def __init__(self, library: Any, mj_model: MjModel) -> None:
        work = c_void_p()
        call(library.djm_makeTransitionWork, byref(work), mj_model._address)
        self.handle = Handle(work.value, library.djm_deleteTransitionWork)
        self.address, self.error = work.value, CError()
        self.error_address = byref(self.error)

    def run(self, library: Any, m: MjModel, d: MjData, outputs: tuple[int | None, ...]) -> None:
        status = library.djm_transitionMuJoCoWith(m._address, d._address, self.address, *outputs,
                                              self.error_address)
        if status < 0:
            _lib.fail(status, self.error.text.decode(errors="replace"))


_works: weakref.WeakKeyDictionary[MjModel, list[_Work]] = (
    weakref.WeakKeyDictionary())  # of each MjModel a stack of works that no call has
_works_lock = threading.Lock()


def _free_works(mj_model: MjModel) -> list[_Work]:
    try:
        return _works[mj_model]
    except KeyError:
        with _works_lock:
            return _works.setdefault(mj_model, [])


# ---- arguments ---------------------------------------------------------------------------------

_FLOAT = np.dtype(np.float64)
_known: dict[type, str] = {}  # types that have been found to be mujoco's


def _check(m: MjModel, d: MjData) -> None:
    if _known.get(type(m)) != "MjModel":
        mujoco_address(m, "MjModel")
        _known[type(m)] = "MjModel"
    if _known.get(type(d)) != "MjData":
        mujoco_address(d, "MjData")
        _known[type(d)] = "MjData"
    check_sizes(m, d)


def _output(array: Array | None, rows: int, columns: int, name: str) -> int | None:
    """Where C writes: ValueError or TypeError unless it can be an output of this shape."""
    if array is None:
        return None
    if not isinstance(array, np.ndarray) or array.dtype != _FLOAT:
        kind = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
        raise TypeError("%s: expected an array of float64, not %s" % (name, kind))
    if array.shape != (rows, columns):
        raise ValueError("%s: expected shape %s, not %s" % (name, (rows, columns), array.shape))
    if not array.flags.carray:
        raise ValueError("%s: expected an array that is C-contiguous, aligned and writeable" % name)
    buffer: Any = array
    return ctypes.addressof(c_char.from_buffer(buffer)) if rows and columns else None


def _outputs(m: MjModel, A: Array | None, B: Array | None, C: Array | None,
             D: Array | None) -> tuple[int | None, ...]:
    nx, nu, ns = 2 * m.nv + m.na, m.nu, m.nsensordata
    return (_output(A, nx, nx, "A"), _output(B, nx, nu, "B"), _output(C, ns, nx, "C"),
            _output(D, ns, nu, "D"))


def transition(m: MjModel, d: MjData, A: Array | None = None, B: Array | None = None,
               C: Array | None = None, D: Array | None = None) -> None:
    """Derivatives of stock mujoco.mj_step at d's state, by formula: in place of

        mujoco.mjd_transitionFD(m, d, eps, flg_centered, A, B, C, D)
        dijoco.mujoco.transition(m, d, A, B, C, D)

    m, d: mujoco.MjModel and MjData, which stays as it is. With nx = 2 nv + na, A (nx, nx),
    B (nx, nu), C (nsensordata, nx), D (nsensordata, nu) are arrays of float64, C-contiguous, or
    None, and are overwritten. m may be changed between calls. What has no derivative (integrator
    RK4, noslip...) raises `dijoco.Error`, which names it; then the arrays may hold anything.

    Calls release Python's lock, and may be made by several threads, each on its own MjData.
    """
    _check(m, d)
    outputs = _outputs(m, A, B, C, D)
    library, works = _lib.plugin(), _free_works(m)
    try:
        work = works.pop()
    except IndexError:
        work = _Work(library, m)
    try:
        work.run(library, m, d, outputs)
    finally:
        works.append(work)


class Transition:
    """`transition` of a model into new arrays.

        transition = dijoco.mujoco.Transition(m)
        A, B = transition(d)
        A, B, C, D = transition(d, sensors=True)
        transition(d, A, B)

    Those that are given are overwritten. C and D are found with `sensors`, or where one of them is
    given. `info` is a `TransitionInfo` of the last call, None before the first. Calls on one
    Transition wait for each other.
    """

    __slots__ = ("model", "_library", "_work", "_lock", "_called", "__weakref__")

    def __init__(self, m: MjModel) -> None:
        mujoco_address(m, "MjModel")
        self.model, self._library = m, _lib.plugin()
        self._work, self._lock, self._called = _Work(self._library, m), threading.Lock(), False

    def __repr__(self) -> str:
        m = self.model
        return _lib.line("Transition", "nv=%d na=%d nu=%d nsensordata=%d"
                         % (m.nv, m.na, m.nu, m.nsensordata))

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Transition cannot be copied or pickled")

    def __call__(self, d: MjData, A: Array | None = None, B: Array | None = None,
                 C: Array | None = None, D: Array | None = None, *,
                 sensors: bool = False) -> tuple[Array, ...]:
        m = self.model
        _check(m, d)
        nx, nu, ns = 2 * m.nv + m.na, m.nu, m.nsensordata
        A = np.empty((nx, nx)) if A is None else A
        B = np.empty((nx, nu)) if B is None else B
        sensors = sensors or C is not None or D is not None
        if sensors:
            C = np.empty((ns, nx)) if C is None else C
            D = np.empty((ns, nu)) if D is None else D
        outputs = _outputs(m, A, B, C, D)
        with self._lock:
            self._called = False
            self._work.run(self._library, m, d, outputs)
            self._called = True
        return tuple(x for x in (A, B, C, D) if x is not None)

    @property
    def info(self) -> TransitionInfo | None:
        """A `TransitionInfo` of the last call; None before the first, and where it failed."""
        with self._lock:
            if not self._called:
                return None
            return _info(self._library, self.model,
                         self._library.djm_transitionInfo(self._work.address))
