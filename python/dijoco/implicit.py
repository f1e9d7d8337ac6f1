"""Contact kinematics of strictly convex implicit surfaces: one pair, without a model."""
from __future__ import annotations

import ctypes
import itertools
import threading
from ctypes import byref, c_bool, c_char_p, c_double, c_int, c_void_p
from typing import Any

import numpy as np

from . import _lib
from ._lib import Handle, call_valued, core
from ._types import Array, ArrayLike, Shape
from .contact import _keys, _number, _vector

_DERIVATIVES, _CONDITION = 1, 2  # DJC_*
_STATUS = {_lib.OK: "ok", _lib.NOT_CONVERGED: "no_convergence", _lib.SINGULAR: "singular"}
_FACETS = "smooth_polytope"      # the family whose numbers are arrays


def _names(function: Any, *at: int) -> list[str]:
    """Names of a table, up to the empty one."""
    found = (function(*at, i).decode() for i in itertools.count())
    return list(itertools.takewhile(bool, found))


# Families: name to the names of the numbers, and the list that holds all but the last, or "".
FAMILIES = {name: (_names(core.djc_implicitNumber, i), core.djc_implicitList(i).decode())
            for i, name in enumerate(_names(core.djc_implicitFamily))}


class _CShape(_lib.Struct):
    _fields_ = [("family", c_char_p), ("nface", c_int), ("nsize", c_int), ("size", c_void_p)]


class _CImplicit(_lib.Struct):
    _fields_ = [("alpha", c_double), ("x", c_double * 3), ("normal", c_double * 3),
                ("gap", c_double), ("point_a", c_double * 3), ("point_b", c_double * 3),
                ("multipliers", c_double * 2), ("condition", c_double), ("degenerate", c_bool),
                ("iterations", c_int), ("dalpha", c_double * 12), ("dx", c_double * 36),
                ("dnormal", c_double * 36), ("dgap", c_double * 12), ("dpoint_a", c_double * 36),
                ("dpoint_b", c_double * 36)]


class _CDistance(_lib.Struct):
    _fields_ = [("distance", c_double), ("normal", c_double * 3), ("point_a", c_double * 3),
                ("point_b", c_double * 3), ("iterations", c_int), ("ddistance", c_double * 12),
                ("dnormal", c_double * 36), ("dpoint_a", c_double * 36),
                ("dpoint_b", c_double * 36)]


_lib.check_structs({"djcImplicitShape": _CShape, "djcImplicit": _CImplicit,
                    "djcImplicitDistance": _CDistance})

# The order in which 14 numbers lie in djcImplicit, and then their derivatives.
VALUES = ("alpha", "x", "normal", "gap", "point_a", "point_b")


# ---- arguments ---------------------------------------------------------------------------------

def _facets(given: Shape, name: str) -> tuple[Array, int]:
    """A (m, 3) and b (m,) in a row; m."""
    A = np.asarray(given["A"])
    if A.ndim != 2 or A.shape[1] != 3 or len(A) < 1:
        raise ValueError("%s.A: expected shape (m, 3), not %s" % (name, A.shape))
    A = _lib.numbers(A, A.shape, name + ".A")
    if not np.isfinite(A).all():
        raise ValueError("%s.A: not finite" % name)
    return np.append(A, _vector(given, "b", len(A), None, name)), len(A)


def _shape(given: Shape, name: str) -> tuple[_CShape, Array]:
    """A djcImplicitShape and its numbers, which have to live as long. The pose is not read."""
    if not isinstance(given, dict):
        raise TypeError("%s: expected a dict, not %s" % (name, type(given).__name__))
    if "geom" in given:
        _keys(given, ["geom", "pose"], name)
        if given["geom"] != "plane":
            raise ValueError("%s.geom: only a plane is a surface as a geom, not %r"
                             % (name, given["geom"]))
        return _CShape(b"plane", 0, 0, None), np.zeros(0)
    if "shape" not in given:
        raise ValueError("%s.shape: missing" % name)
    family = given["shape"]
    if not isinstance(family, str) or family not in FAMILIES:
        raise ValueError("%s.shape: unknown family %r, expected one of %s"
                         % (name, family, ", ".join(FAMILIES)))
    numbers, listed = FAMILIES[family]
    keys = [listed, numbers[-1]] if listed else numbers
    _keys(given, ["shape", *keys, "pose"], name)
    for key in keys:
        if key not in given:
            raise ValueError("%s.%s: missing" % (name, key))
    first, nface = np.zeros(0), 0
    if listed:
        first, keys = _vector(given, listed, len(numbers) - 1, None, name), keys[1:]
    elif family == _FACETS:
        (first, nface), keys = _facets(given, name), keys[2:]
    size = np.append(first, [_number(given[key], "%s.%s" % (name, key)) for key in keys])
    return _CShape(family.encode(), nface, size.size, size.ctypes.data), size


def _poses(value: ArrayLike, name: str) -> Array:
    """Poses (..., 7) as a new array, quaternions normalised."""
    pose = np.array(_lib.numbers(value, np.shape(value)[:-1] + (7,), name))
    with np.errstate(over="ignore"):
        norm = np.hypot.reduce(pose[..., 3:], axis=-1, keepdims=True)
    if not np.isfinite(pose).all() or not np.isfinite(norm).all():
        raise ValueError("%s: not finite" % name)
    if not norm.all():
        raise ValueError("%s: its quaternion is zero" % name)
    pose[..., 3:] /= norm
    return pose


def _pose(given: Any, name: str) -> Array:
    return _poses(_vector(given, "pose", 7, (0, 0, 0, 1, 0, 0, 0), name), name + ".pose")


# ---- results -----------------------------------------------------------------------------------

def _result(out: _CImplicit, status: int, derivatives: bool) -> dict[str, Any]:
    result = {"alpha": out.alpha, "x": np.array(out.x), "normal": np.array(out.normal),
              "gap": out.gap, "energy_angle": core.djc_energyAngle(byref(out)),
              "point_a": np.array(out.point_a), "point_b": np.array(out.point_b),
              "multipliers": np.array(out.multipliers), "condition": out.condition,
              "degenerate": out.degenerate, "iterations": out.iterations,
              "converged": status == _lib.OK}
    if derivatives:
        for name in VALUES:
            rates = np.array(getattr(out, "d" + name))
            result["d" + name] = rates if rates.size == 12 else rates.reshape(3, 12)
    return result


def _distance(out: _CDistance, derivatives: bool) -> dict[str, Any]:
    result = {"distance": out.distance, "direction": np.array(out.normal),
              "points": np.array([out.point_a, out.point_b])}
    if derivatives:
        result["ddistance"] = np.array(out.ddistance)
        result["ddirection"] = np.reshape(out.dnormal, (3, 12))
        result["dpoints"] = np.reshape([out.dpoint_a, out.dpoint_b], (6, 12))
    return result


def _by_size(by: Array, apart: Array | None) -> dict[str, Any]:
    """Rows of (8, n) and, or None, (10, n), by their names."""
    result = {"alpha": by[0], "point": by[1:4], "normal": by[4:7], "gap": by[7]}
    if apart is not None:
        result.update(distance=apart[0], direction=apart[1:4], points=apart[4:])
    return result


def implicit(a: Shape, b: Shape, derivatives: bool = False, sizes: bool = False,
             distance: bool = False) -> dict[str, Any]:
    """Contact kinematics of two strictly convex implicit surfaces, which are dicts as
    `dijoco contact` takes them, with or without a pose:

        {"shape": "superellipsoid", "size": [.1, .2, .3], "n": 8, "pose": [x, y, z, qw, qx, qy, qz]}
        {"shape": "smooth_polytope", "A": (m, 3), "b": (m,), "L": 1, "beta": 20}
        {"shape": "truncated_cone", "Rb": .1, "Rt": .05, "a": .1, "b": .1, "beta": 20}
        {"shape": "superelliptic_cylinder", "R": .1, "h": .2, "n": 8}
        {"shape": "smooth_capsule", "r": .1, "h": .2, "beta": 10}

    One of both may be a half space, {"geom": "plane", "pose": ...}, which z points out of and which
    stays where it is while the other is scaled. Their surfaces, in the frame of pose:

        superellipsoid         |x/a|^2n + |y/b|^2n + |z/c|^2n = 1, size = [a, b, c]
        smooth_polytope        sum of exp(beta (A_i . (x, y, z) - b_i)/L) over facets = 1
        truncated_cone         likewise of a side, radius Rb at x = -a and Rt at x = b, and two ends
        superelliptic_cylinder |x/h|^2n + ((y^2 + z^2)/R^2)^n = 1, h half of its length
        smooth_capsule         radius r about the segment |x| <= h, whose ends begin smoothly

    n, at least 1, is half of the exponent: 1 is an ellipsoid, and from 2 on it comes ever nearer to
    the box or cylinder around it (along a cube's diagonal to 3^-1/(2n) of the corner: .58, .76, .87
    and .93 with n = 1, 2, 4, 8). beta is as much for the others: they approach what is sharp.

    Returns a dict: alpha, the scale about their origins at which both touch (1: they touch), x (3,)
    where, normal (3,) unit from a to b, gap (m; (1 - 1/alpha) times the distance of the origins),
    energy_angle (rad) by which the force of a law with an energy is off the normal,
    point_a, point_b (3,) on the surfaces, multipliers (2,), condition of the system, degenerate
    (the origins coincide), iterations, converged.

    derivatives: also dalpha (12,), dx, dnormal (3, 12), dgap (12,), dpoint_a, dpoint_b (3, 12), by
    twists (angular, linear; world axes) of a about its origin, then of b. sizes: also sizes_a and
    sizes_b, dicts of derivatives by the n numbers of a shape, in the order above (of a polytope A
    by rows, then b, L, beta): alpha (n,), point (3, n) of x, normal (3, n), gap (n,); None where
    not converged.

    distance: also the Euclidean distance, of the gap's sign (overlapping: minus a local minimum of
    the depth), direction (3,) unit from a to b, points (2, 3) of a and b, and distance_status "ok",
    "singular" (its direction is not differentiable) or "no_convergence"; with derivatives
    ddistance (12,), ddirection (3, 12), dpoints (6, 12), with sizes distance, direction and points
    in sizes_a and sizes_b. None of them where not converged.
    """
    pair = ImplicitPair(a, b)
    pose_a, pose_b = _pose(a, "a"), _pose(b, "b")
    out, at, bt = _CImplicit(), pose_a.ctypes.data, pose_b.ctypes.data
    status = pair._run(out, at, bt, _CONDITION | _DERIVATIVES, "a and b")
    result = _result(out, status, derivatives)
    by: list[Array | None] = [None, None]
    apart: list[Array | None] = [None, None]
    if sizes and status == _lib.OK:
        by = [np.zeros((8, n)) for n in pair._numbers]
        for side in range(2):
            core.djc_implicitBySize(_lib.pointer(by[side]), pair._handle.address, side)
        apart = [np.zeros((10, n)) if distance else None for n in pair._numbers]
    if distance and status == _lib.OK:
        result.update(pair._distance(derivatives, *apart))
    if sizes:
        for name, rows, more in zip(("sizes_a", "sizes_b"), by, apart):
            result[name] = None if rows is None else _by_size(rows, more)
    return result


class ImplicitPair:
    """Two implicit surfaces that move:

        pair = dijoco.ImplicitPair(a, b)
        pair.evaluate([0, 0, 0, 1, 0, 0, 0], [.5, 0, 0, 1, 0, 0, 0])["alpha"]

    a and b are dicts as for `implicit`; a pose in them is ignored. Each evaluation starts from the
    last solution, which changes results within the tolerance alone. Calls on one pair wait for each
    other.
    """

    __slots__ = ("_handle", "_lock", "_numbers", "_families", "__weakref__")

    def __init__(self, a: Shape, b: Shape) -> None:
        (first, size_a), (second, size_b) = _shape(a, "a"), _shape(b, "b")
        pair = c_void_p()
        call_valued(core.djc_makeImplicitPair, byref(pair), byref(first), byref(second))
        self._numbers = size_a.size, size_b.size
        self._families = first.family.decode(), second.family.decode()
        del size_a, size_b  # which the shapes pointed to
        self._handle = Handle(pair.value, core.djc_deleteImplicitPair)
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return _lib.line("ImplicitPair", "of %s and %s" % self._families)

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("an ImplicitPair cannot be copied or pickled")

    def evaluate(self, pose_a: ArrayLike, pose_b: ArrayLike, derivatives: bool = False,
                 condition: bool = False, distance: bool = False) -> dict[str, Any]:
        """The touch at poses (7,), [x, y, z, qw, qx, qy, qz] each: a dict as of `implicit`, with
        `condition` and the Euclidean distance where they are asked for."""
        poses = [_poses(_lib.numbers(value, (7,), name), name)
                 for value, name in ((pose_a, "pose_a"), (pose_b, "pose_b"))]
        flags = (_DERIVATIVES if derivatives else 0) | (_CONDITION if condition else 0)
        out = _CImplicit()
        with self._lock:
            status = self._run(out, poses[0].ctypes.data, poses[1].ctypes.data, flags)
            apart = self._distance(derivatives) if distance and status == _lib.OK else {}
        result = dict(_result(out, status, derivatives), **apart)
        if not condition:
            del result["condition"]
        return result

    def _run(self, out: _CImplicit, at: int, bt: int, flags: int,
             names: str = "pose_a and pose_b") -> int:
        """At poses of these addresses. The lock is held."""
        status = core.djc_evalImplicitPair(byref(out), self._handle.address, at, at + 24, bt,
                                           bt + 24, flags)
        if status < 0:
            raise ValueError(names + ": a position is beyond 1e20 m")
        return status

    def _distance(self, derivatives: bool, by_a: Array | None = None,
                  by_b: Array | None = None) -> dict[str, Any]:
        """Of what was evaluated last. The lock is held."""
        out = _CDistance()
        status = core.djc_implicitDistance(byref(out), _lib.pointer(by_a), _lib.pointer(by_b),
                                           self._handle.address, _DERIVATIVES)
        return dict(_distance(out, derivatives), distance_status=_STATUS[status])

    def _batch(self, pose_a: Array, pose_b: Array,
               derivatives: bool) -> tuple[Array, Array | None, int]:
        """At poses (n, 7) each: VALUES (n, 14), their derivatives by twists (n, 14, 12) or None,
        and how many were not found to full accuracy."""
        pose_a, pose_b = _poses(pose_a, "pose_a"), _poses(pose_b, "pose_b")
        out, count = _CImplicit(), len(pose_a)
        memory: Any = out   # a buffer
        found = np.frombuffer(memory, float, 14, _CImplicit.alpha.offset)
        rates = np.frombuffer(memory, float, 168, _CImplicit.dalpha.offset).reshape(14, 12)
        values, jac = np.empty((count, 14)), np.empty((count, 14, 12)) if derivatives else None
        at, bt, missed = pose_a.ctypes.data, pose_b.ctypes.data, 0
        with self._lock:
            for i in range(count):
                status = self._run(out, at + 56 * i, bt + 56 * i, _DERIVATIVES * bool(derivatives))
                missed += status != _lib.OK
                values[i] = found
                if jac is not None:
                    jac[i] = rates
        return values, jac, missed
