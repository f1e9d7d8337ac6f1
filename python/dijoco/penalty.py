"""Penalty contact: points of one body with a geom or a closed mesh of another, without a model."""
from __future__ import annotations

import ctypes
from ctypes import byref, c_double, c_int, c_void_p
from typing import Any, Mapping

import numpy as np

from . import _lib
from ._lib import Handle, call_valued, core
from ._types import Array, ArrayLike, Shape
from .contact import GEOMS, _geom, _keys, _number, _vector

_STATES = ("free", "stick", "slip")  # DJC_*
_LAW = ("kn", "kt", "kd", "mu", "scale")


class _CQuery(_lib.Struct):
    _fields_ = [("npoint", c_int), ("point", c_void_p), ("origin", c_double * 3),
                ("twist_a", c_double * 6), ("geom", c_int), ("size", c_double * 3),
                ("pos", c_double * 3), ("quat", c_double * 4), ("twist_b", c_double * 6),
                ("kn", c_double), ("kt", c_double), ("kd", c_double), ("mu", c_double),
                ("scale", c_double), ("lambda", c_double * 12)]


class _CPoint(_lib.Struct):
    _fields_ = [("distance", c_double), ("normal", c_double * 3), ("force", c_double * 3),
                ("state", c_int)]


class _CPenalty(_lib.Struct):
    _fields_ = [("wrench_a", c_double * 6), ("wrench_b", c_double * 6),
                ("pose_jac", c_double * 144), ("twist_jac", c_double * 144)] + \
               [("by_" + name, c_double) for name in ("kn", "kt", "kd", "mu", "scale")]


_lib.check_structs({"djcPenaltyQuery": _CQuery, "djcPenaltyPoint": _CPoint,
                    "djcPenalty": _CPenalty})


def _rows(value: ArrayLike, name: str) -> Array:
    """An array (n, 3) of finite numbers, n > 0."""
    array = np.asarray(value)
    if array.ndim != 2 or array.shape[1] != 3 or len(array) < 1:
        raise ValueError("%s: expected shape (n, 3), not %s" % (name, array.shape))
    array = _lib.numbers(array, array.shape, name)
    if not np.isfinite(array).all():
        raise ValueError("%s: not finite" % name)
    return array


class Field:
    """The distance field of a closed mesh, concave ones too, on a grid: vert (n, 3) in m, triangles
    (m, 3) of indices with outward windings. Made once, it serves any number of `penalty` queries.
    error (m) is the largest found at points on and near the surface. ValueError names the triangle
    or edge for which they bound no solid."""

    __slots__ = ("_handle", "error", "nvert", "__weakref__")

    def __init__(self, vert: ArrayLike, triangles: ArrayLike) -> None:
        vert = _rows(vert, "vert")
        corners = _rows(triangles, "triangles")
        if not ((corners >= 0) & (corners < len(vert)) & (corners == np.floor(corners))).all():
            raise ValueError("triangles: not all are indices of %d vertices" % len(vert))
        tri = np.ascontiguousarray(corners, np.intc)
        field, error = c_void_p(), c_double()
        call_valued(core.djc_makeField, byref(field), byref(error), len(vert), vert.ctypes.data, len(tri),
              tri.ctypes.data)
        self._handle = Handle(field.value, core.djc_deleteField)
        self.error, self.nvert = error.value, len(vert)

    def __repr__(self) -> str:
        return "<dijoco.Field of %d vertices, error %.2g m>" % (self.nvert, self.error)


def _side_b(query: _CQuery, b: Shape) -> Any:
    """Fills in the geom; the field, or None."""
    _keys(b, ("geom", "size", "vert", "triangles", "pose", "twist"), "b")
    if "geom" not in b:
        raise ValueError("b.geom: missing")
    geom = b["geom"]
    shape = {key: b[key] for key in ("size", "pose") if key in b}
    mesh = isinstance(geom, Field) or geom == "mesh"
    for key in ("vert", "triangles"):
        if (key in b) != (geom == "mesh"):
            raise ValueError("b.%s: %s" % (key, "missing" if geom == "mesh" else "not of a mesh"))
    if mesh and "size" in b:
        raise ValueError("b.size: a mesh has none")
    if geom == "mesh":
        geom = Field(b["vert"], b["triangles"])
    field = geom if mesh else None
    given, _ = _geom(dict(shape, geom="plane" if mesh else geom), "b")
    query.geom, query.size = given.geom, tuple(given.size)
    query.pos = tuple(given.pos)
    query.quat = tuple(_vector(b, "pose", 7, (0, 0, 0, 1, 0, 0, 0), "b")[3:])  # C normalises it
    query.twist_b = tuple(_vector(b, "twist", 6, (0,) * 6, "b"))
    return field


def _query(params: Mapping[str, Any], a: Shape, b: Shape, lam: ArrayLike | None) -> Any:
    """A djcPenaltyQuery, its points, which have to live as long, and the field or None."""
    query = _CQuery()
    _keys(params, _LAW, "params")
    if "kn" not in params:
        raise ValueError("params.kn: missing")
    for name in _LAW:
        value = params.get(name, float(name == "scale"))
        setattr(query, name, _number(value, "params." + name, positive=name == "kn"))
    _keys(a, ("points", "origin", "twist"), "a")
    if "points" not in a:
        raise ValueError("a.points: missing")
    points = _rows(a["points"], "a.points")
    query.npoint, query.point = len(points), points.ctypes.data
    query.origin = tuple(_vector(a, "origin", 3, (0,) * 3, "a"))
    query.twist_a = tuple(_vector(a, "twist", 6, (0,) * 6, "a"))
    field = _side_b(query, b)
    if lam is not None:
        setattr(query, "lambda", tuple(_vector({"lam": lam}, "lam", 12, None, "penalty")))
    return query, points, field


def penalty(a: Shape, b: Shape, params: Mapping[str, float],
            lam: ArrayLike | None = None) -> dict[str, Any]:
    """Penalty contact of points of a body with a geom of another, as `dijoco contact` has it:

        a       {"points": (n, 3), "origin": (3,), "twist": (6,)}   world coordinates
        b       {"geom": "box", "size": [.1, .1, .1], "pose": [x, y, z, qw, qx, qy, qz],
                 "twist": (6,)}   one of contact.GEOMS, sizes as MuJoCo's;
                {"geom": "mesh", "vert": (n, 3), "triangles": (m, 3)}   a closed mesh, or
                {"geom": Field}   the same, of which the grid is made once
        params  {"kn", "kt", "kd", "mu", "scale"}   N/m, N s/m, N s/m2; kn must be given, scale is 1
                and the others are 0 where they are not

    Twists are velocities (angular, linear) in world axes about the origin of a (default: 0) and the
    position of b. docs/penalty.md has the law.

    Returns a dict: wrench_a, wrench_b (6,) (torque, force) about the same points; points, a dict of
    distance (n,) (m; negative inside), normal (n, 3) outward from b, force (n, 3) on a, and state, a
    list of "free", "stick" and "slip"; pose_jacobian and twist_jacobian (12, 12) of both wrenches by
    twists of the poses of a, then b, and by their velocities; gradient, the derivatives of lam .
    (wrench_a, wrench_b), lam (12,), by points (n, 3), kn, kd, kt, mu, scale, and of a mesh by vert
    (nvert, 3) in its frame, the grid's nodes held; of a mesh also grid_error (m).
    """
    query, points, field = _query(params, a, b, lam)
    out, found = _CPenalty(), (_CPoint * len(points))()
    by_point = np.zeros(points.shape)
    common = [byref(out), ctypes.cast(found, c_void_p), by_point.ctypes.data]
    gradient = {"points": by_point}
    if field is None:
        call_valued(core.djc_penalty, *common, byref(query))
    else:
        gradient["vert"] = np.zeros((field.nvert, 3))
        call_valued(core.djc_penaltyMesh, *common, gradient["vert"].ctypes.data, byref(query),
              field._handle.address)
    del points  # which the query pointed to
    gradient.update((name, getattr(out, "by_" + name)) for name in ("kn", "kd", "kt", "mu", "scale"))
    result = {"wrench_a": np.array(out.wrench_a), "wrench_b": np.array(out.wrench_b),
              "points": {"distance": np.array([p.distance for p in found]),
                         "normal": np.array([p.normal[:] for p in found]),
                         "force": np.array([p.force[:] for p in found]),
                         "state": [_STATES[p.state] for p in found]},
              "pose_jacobian": np.reshape(out.pose_jac, (12, 12)),
              "twist_jacobian": np.reshape(out.twist_jac, (12, 12)), "gradient": gradient}
    if field is not None:
        result["grid_error"] = field.error
    return result
