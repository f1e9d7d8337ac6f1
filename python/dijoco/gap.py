"""Smoothed gaps: distance, normal and nearest points as smooth functions of poses."""
import ctypes
import math
from ctypes import byref, c_double, c_int

import numpy as np

from . import _lib
from ._lib import call, core
from .contact import _shape
from .model import mujoco_address

_MJOBJ = {"body": 1, "geom": 5}


class _CGap(ctypes.Structure):
    _fields_ = [("gap", c_double), ("normal", c_double * 3), ("point_a", c_double * 3),
                ("point_b", c_double * 3), ("gap_twist", c_double * 12),
                ("normal_twist", c_double * 36), ("point_a_twist", c_double * 36),
                ("point_b_twist", c_double * 36), ("smoothing", c_double), ("iterations", c_int)]


_lib.check_structs({"djcGap": _CGap})


def _length(smoothing):
    """The library's number: negative is the default."""
    if smoothing is None:
        return -1.0
    value = float(_lib.numbers(smoothing, (), "smoothing"))
    if not value >= 0 or math.isinf(value):
        raise ValueError("smoothing: %g is not a length" % value)
    return value


def gap(a, b, smoothing=None):
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


def mj_gap(mj_model, mj_data, first, second, kind="geom", smoothing=None):
    """Smoothed gap of two geoms or bodies (kind) of a mujoco.MjModel, by name or id, at mj_data's
    poses (after mj_forward, or mj_kinematics and mj_comPos).

    Returns value (10,): distance, normal (3), points on the first and the second (3 each), and their
    derivatives by the tangent of qpos (10, nv).
    """
    if kind not in _MJOBJ:
        raise ValueError("kind: %r is neither geom nor body" % (kind,))
    ids = [getattr(mj_model, kind)(x).id if isinstance(x, str) else _lib.integer(x, kind)
           for x in (first, second)]
    value, jac = np.zeros(10), np.zeros((10, mj_model.nv))
    call(_lib.plugin().djm_gap, value.ctypes.data, jac.ctypes.data,
         mujoco_address(mj_model, "MjModel"), mujoco_address(mj_data, "MjData"), _MJOBJ[kind], *ids,
         _length(smoothing))
    return value, jac


def mj_gap_sensor(mj_model, mj_data, sensor):
    """Derivatives (dim, nv) of the data of a sensor of the plugin dijoco.gap (name or id) by the
    tangent of qpos, at mj_data's poses."""
    index = mj_model.sensor(sensor).id if isinstance(sensor, str) else _lib.integer(sensor, "sensor")
    m, d = mujoco_address(mj_model, "MjModel"), mujoco_address(mj_data, "MjData")
    if not _lib.plugin().djm_isGapSensor(m, index):
        raise ValueError("sensor: %r is not one of dijoco.gap" % (sensor,))
    jac = np.zeros((mj_model.sensor_dim[index], mj_model.nv))
    status = _lib.plugin().djm_gapSensor(jac.ctypes.data, m, d, index)
    if status < 0:
        _lib.fail(status)
    return jac
