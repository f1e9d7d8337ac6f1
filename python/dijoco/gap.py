"""Smoothed gaps: distance, normal and nearest points as smooth functions of poses."""
from __future__ import annotations

import ctypes
import math
from ctypes import byref, c_double, c_int, c_void_p
from typing import Any, NamedTuple, Optional

import numpy as np

from . import _lib
from ._lib import Handle, call, core
from ._types import AnyModel, Array, MjData, MjModel, Shape
from .contact import _shape
from .data import Data
from .model import Model, mujoco_address
from .mj_transition import check_sizes
from .mujoco import sensor_index

_MJOBJ = {"body": 1, "geom": 5}
_OBJECT = {"body": 0, "geom": 2}  # djObject


class GapValue(NamedTuple):
    """Smoothed distance (m, negative: depth), unit normal (3,) from 1 to 2, witness points (3,) and
    (3,) on 1 and 2; jac (10, nv) or None: derivatives of these ten numbers, in this order, by the
    tangent of qpos."""

    gap: float
    normal: Array
    point1: Array
    point2: Array
    jac: Optional[Array]

    def __repr__(self) -> str:
        return _lib.line("GapValue", "%g m, normal %s" % (self.gap, self.normal))


class _CGap(_lib.Struct):
    _fields_ = [("gap", c_double), ("normal", c_double * 3), ("point_a", c_double * 3),
                ("point_b", c_double * 3), ("gap_twist", c_double * 12),
                ("normal_twist", c_double * 36), ("point_a_twist", c_double * 36),
                ("point_b_twist", c_double * 36), ("smoothing", c_double), ("iterations", c_int)]


_lib.check_structs({"djcGap": _CGap})


def _length(smoothing: float | None) -> float:
    """The library's number: negative is the default."""
    if smoothing is None:
        return -1.0
    value = float(_lib.numbers(smoothing, (), "smoothing"))
    if not value >= 0 or math.isinf(value):
        raise ValueError("smoothing: %g is not a length" % value)
    return value


def gap(a: Shape, b: Shape, smoothing: float | None = None) -> dict[str, Any]:
    """Smoothed gap of two shapes (dicts as for `pair`). smoothing: a length (m), by default 0.002
    of the lesser inner radius; 0: `distance`, without derivatives of the normal and the points.

    Returns a dict: gap (m; negative: depth), normal (3,) unit from a to b, point_a, point_b (3,) on
    the surfaces, their derivatives by twists (angular, linear) of a about its origin, then of b:
    twist_gradient (12,) of the gap, twist_normal, twist_point_a, twist_point_b (3, 12), None where
    there are none; smoothing, iterations, converged.
    """
    (first, vert_a), (second, vert_b) = _shape(a, "a"), _shape(b, "b")
    out = _CGap()
    status = core.djc_gap(byref(out), byref(first), byref(second), _length(smoothing))
    del vert_a, vert_b  # which the shapes pointed to
    if status < 0:
        _lib.fail(status)
    result = {"gap": out.gap, "normal": np.array(out.normal), "point_a": np.array(out.point_a),
              "point_b": np.array(out.point_b), "twist_gradient": np.array(out.gap_twist),
              "smoothing": out.smoothing, "iterations": out.iterations,
              "converged": status != _lib.NOT_CONVERGED}
    smooth = status == _lib.OK and out.smoothing > 0
    for name in ("normal", "point_a", "point_b"):
        twist = getattr(out, name + "_twist")
        result["twist_" + name] = np.reshape(twist, (3, 12)) if smooth else None
    return result


class Gap:
    """The gap of two geoms or bodies of a model as it is now, for any data of that model:

        gap = dijoco.Gap(model, "finger", "ball")
        value = gap(data, jac=True)

    first, second: names or indices; kind: "geom" or "body" (the geoms of a body that may collide,
    or all if none may); smoothing (m): how much edges are rounded, None: 0.002 of the least inner
    radius.
    """

    def __init__(self, model: AnyModel, first: str | int, second: str | int, kind: str = "geom",
                 smoothing: float | None = None) -> None:
        model = Model.of(model)
        if kind not in _OBJECT:
            raise ValueError("kind: %r is neither geom nor body" % (kind,))
        ids = [model.id(kind, x) if isinstance(x, str) else _lib.integer(x, kind)
               for x in (first, second)]
        pair = c_void_p()
        call(core.dj_makeGapPair, byref(pair), model._address, _OBJECT[kind], ids[0], ids[1],
             _length(smoothing))
        self._handle = Handle(pair.value, core.dj_deleteGapPair)
        self._model = model

        self._text = "of %s %s and %s %s" % (kind, first, kind, second)

    def __repr__(self) -> str:
        return _lib.line("Gap", self._text)

    def __call__(self, data: Data, jac: bool = False) -> GapValue:
        """`GapValue` at data's qpos and mocap poses; with jac also its derivatives."""
        _lib.expect(data, Data, "data")
        values = np.zeros(10)
        out = np.zeros((10, self._model.nv)) if jac else None
        at = values.ctypes.data
        with data._lock:
            status = core.dj_evalGapPair(at, at + 8, at + 32, at + 56, _lib.pointer(out),
                                         self._handle.address, self._model._address, data._address)
            if status < 0:
                _lib.fail(status, core.dj_errorText(data._address).decode(errors="replace"))
        return GapValue(float(values[0]), values[1:4], values[4:7], values[7:10], out)


def mj_gap(mj_model: MjModel, mj_data: MjData, first: str | int, second: str | int,
           kind: str = "geom", smoothing: float | None = None) -> tuple[Array, Array]:
    """Smoothed gap of two geoms or bodies (kind) of a mujoco.MjModel, by name or id, at mj_data's
    poses (after mj_forward, or mj_kinematics and mj_comPos).

    Returns value (10,): distance, normal (3), points on the first and the second (3 each), and
    their derivatives by the tangent of qpos (10, nv).
    """
    m, d = mujoco_address(mj_model, "MjModel"), mujoco_address(mj_data, "MjData")
    check_sizes(mj_model, mj_data)
    if kind not in _MJOBJ:
        raise ValueError("kind: %r is neither geom nor body" % (kind,))
    ids = [getattr(mj_model, kind)(x).id if isinstance(x, str) else _lib.integer(x, kind)
           for x in (first, second)]
    value, jac = np.zeros(10), np.zeros((10, mj_model.nv))
    call(_lib.plugin().djm_gap, value.ctypes.data, jac.ctypes.data, m, d, _MJOBJ[kind], *ids,
         _length(smoothing))
    return value, jac


def mj_gap_sensor(mj_model: MjModel, mj_data: MjData, sensor: str | int) -> Array:
    """Derivatives (dim, nv) of the data of a sensor of the plugin dijoco.gap (name or id) by the
    tangent of qpos, at mj_data's poses."""
    m, d = mujoco_address(mj_model, "MjModel"), mujoco_address(mj_data, "MjData")
    check_sizes(mj_model, mj_data)
    index = sensor_index(mj_model, sensor)
    if not _lib.plugin().djm_isGapSensor(m, index):
        raise ValueError("sensor: %r is not one of dijoco.gap" % (sensor,))
    jac = np.zeros((mj_model.sensor_dim[index], mj_model.nv))
    status = _lib.plugin().djm_gapSensor(jac.ctypes.data, m, d, index)
    if status < 0:
        _lib.fail(status)
    return jac
