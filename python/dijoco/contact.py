"""Contact queries: one pair of shapes, without a model."""
from __future__ import annotations

import ctypes
import itertools
import math
from ctypes import byref, c_bool, c_double, c_int, c_void_p
from typing import Any, Mapping, Sequence

import numpy as np

from . import _lib
from ._lib import core
from ._types import Array, ArrayLike, Shape



def _geoms() -> dict[str, tuple[int, int]]:
    """Geom types that sizes describe: name to type and number of sizes needed."""
    found: dict[str, tuple[int, int]] = {}
    nsize = c_int()
    for geom in itertools.count():
        name = core.dj_geomName(byref(nsize), geom).decode()
        if not name:
            break
        if nsize.value >= 0:
            found[name] = (geom, nsize.value)
    return found


GEOMS = _geoms()
_ARMS, _CAPS = ("plane", "paper"), ("magnitude", "paper")


class _CShape(_lib.Struct):
    _fields_ = [("nvert", c_int), ("vert", c_void_p), ("radius", c_double), ("geom", c_int),
                ("size", c_double * 3), ("pos", c_double * 3), ("quat", c_double * 4),
                ("origin", c_double * 3), ("nweight", c_int), ("weight", c_void_p),
                ("ntri", c_int), ("tri", c_void_p),
                ("nnode", c_int), ("node", c_void_p)]


class _CFriction(_lib.Struct):
    _fields_ = [("enabled", c_bool), ("coefficient", c_double), ("dt", c_double),
                ("eps", c_double), ("arms", c_int), ("cap", c_int), ("motion_a", c_double * 6),
                ("motion_b", c_double * 6)]


class _CSetting(_lib.Struct):
    _fields_ = [("name", ctypes.c_char_p), ("value", c_double)]


class _COption(_lib.Struct):
    _fields_ = [("model", c_int), ("support", c_double), ("length_scale", c_double),
                ("friction", _CFriction), ("nsetting", c_int), ("setting", c_void_p),
                ("guide_scale", c_double), ("twist_a", c_double * 6), ("twist_b", c_double * 6)]


class _CResult(_lib.Struct):
    _fields_ = [("status", c_int), ("message", ctypes.c_char * 200), ("value", c_double),
                ("gap", c_double), ("has_plane", c_bool), ("plane", c_double * 4),
                ("iterations", c_int), ("twist_gradient", c_double * 12),
                ("twist_hessian", c_double * 144), ("friction_value", c_double),
                ("friction_wrench_a", c_double * 6), ("friction_wrench_b", c_double * 6),
                ("energy", c_bool), ("twist_jac", c_double * 144),
                ("visited", c_int), ("exact", c_int)]


_lib.check_structs({"djcShape": _CShape, "djcFriction": _CFriction, "djcSetting": _CSetting,
                    "djcOption": _COption, "djcResult": _CResult})


def _keys(given: object, allowed: Sequence[str], name: str) -> None:
    if not isinstance(given, dict):
        raise TypeError("%s: expected a dict, not %s" % (name, type(given).__name__))
    for key in given:
        if key not in allowed:
            raise ValueError("%s: unknown key '%s', expected one of %s"
                             % (name, key, ", ".join(allowed)))


def _vector(given: Shape, key: str, size: int, default: ArrayLike | None, name: str) -> Array:
    """size finite numbers under a key."""
    label = "%s.%s" % (name, key)
    value = _lib.numbers(given.get(key, default), (size,), label)
    if not np.isfinite(value).all():
        raise ValueError("%s: not finite" % label)
    return value


def _number(value: ArrayLike, name: str, low: float = 0.0, positive: bool = True) -> float:
    value = float(_lib.numbers(value, (), name))
    if not (value > low if positive else value >= low) or math.isinf(value):
        raise ValueError("%s: %g is not %s" % (name, value, "positive" if positive else "allowed"))
    return value


def _geom(given: Shape, name: str) -> tuple[_CShape, None]:
    _keys(given, ("geom", "size", "pose", "origin"), name)
    if given["geom"] not in GEOMS:
        raise ValueError("%s.geom: unknown geom %r, expected one of %s"
                         % (name, given["geom"], ", ".join(GEOMS)))
    geom, nsize = GEOMS[given["geom"]]
    size = np.atleast_1d(np.asarray(given.get("size", ())))
    size = _lib.numbers(size, (size.size,), name + ".size")
    if not nsize <= size.size <= 3 or not (size[:nsize] > 0).all() or not np.isfinite(size).all():
        raise ValueError("%s.size: expected %d positive numbers" % (name, nsize))
    pose = _vector(given, "pose", 7, (0, 0, 0, 1, 0, 0, 0), name)
    largest = np.abs(pose[3:]).max()
    if largest == 0:
        raise ValueError("%s.pose: its quaternion is zero" % name)
    quat = pose[3:] / largest  # no overflow
    quat = quat / np.sqrt(np.sum(quat * quat))
    shape = _CShape(geom=geom, size=tuple(size) + (0,) * (3 - size.size), pos=tuple(pose[:3]),
                    quat=tuple(quat))
    shape.origin = tuple(_vector(given, "origin", 3, pose[:3], name))
    return shape, None


def _shape(given: Shape, name: str) -> tuple[_CShape, Array | None]:
    """A djcShape and its vertices, which have to live as long, or None."""
    if isinstance(given, dict) and "geom" in given:
        return _geom(given, name)
    _keys(given, ("vertices", "radius", "origin"), name)
    if "vertices" not in given:
        raise ValueError("%s: expected `geom` or `vertices`" % name)
    vert = np.asarray(given["vertices"])
    if vert.ndim != 2 or vert.shape[1] != 3 or len(vert) < 1:
        raise ValueError("%s.vertices: expected shape (n, 3), not %s" % (name, vert.shape))
    vert = _lib.numbers(vert, vert.shape, name + ".vertices")
    if not np.isfinite(vert).all():
        raise ValueError("%s.vertices: not finite" % name)
    shape = _CShape(nvert=len(vert), vert=vert.ctypes.data, quat=(1, 0, 0, 0),
                    radius=_number(given.get("radius", 0), name + ".radius", positive=False))
    shape.origin = tuple(_vector(given, "origin", 3, (vert / len(vert)).sum(0), name))
    return shape, vert


def _friction(given: Mapping[str, Any] | None) -> _CFriction:
    out = _CFriction()
    if given is None:
        return out
    _keys(given, ("coefficient", "dt", "eps", "arms", "cap", "motion_a", "motion_b"), "friction")
    for key in ("coefficient", "dt"):
        if key not in given:
            raise ValueError("friction.%s: missing" % key)
    for key, names in (("arms", _ARMS), ("cap", _CAPS)):
        if given.get(key, names[0]) not in names:
            raise ValueError("friction.%s: expected %s or %s" % ((key,) + names))
    out.enabled = True
    out.coefficient = _number(given["coefficient"], "friction.coefficient", positive=False)
    out.dt = _number(given["dt"], "friction.dt")
    out.eps = _number(given.get("eps", 1e-8), "friction.eps")
    out.arms = _ARMS.index(given.get("arms", "plane"))
    out.cap = _CAPS.index(given.get("cap", "magnitude"))
    out.motion_a = tuple(_vector(given, "motion_a", 6, (0,) * 6, "friction"))
    out.motion_b = tuple(_vector(given, "motion_b", 6, (0,) * 6, "friction"))
    return out


def _models() -> list[str]:
    """Names of the contact models, by number."""
    names: list[str] = []
    while True:
        name = core.dj_contactName(len(names)).decode()
        if not name:
            return names
        names.append(name)


def _settings(given: Mapping[str, float] | None) -> Any:
    """A model's settings as an array of C structs; the library checks them."""
    given = given or {}
    if not isinstance(given, dict):
        raise TypeError("settings: expected a dict, not %s" % type(given).__name__)
    return (_CSetting * len(given))(*[
        _CSetting(str(name).encode(), _number(value, "settings.%s" % name, positive=False))
        for name, value in given.items()])


def _weigh(shape: _CShape, weight: ArrayLike | None, name: str) -> Array | None:
    """Gives a shape the weights of a guide's tail; what it points to."""
    if weight is None:
        return None
    weight = _lib.numbers(weight, np.shape(weight), name)
    shape.nweight, shape.weight = weight.size, weight.ctypes.data
    return weight


def pair(a: Shape, b: Shape, model: str = "separating_plane", support: float = 0.01,
         length_scale: float = 1.0, friction: Mapping[str, Any] | None = None,
         hessian: bool = False, settings: Mapping[str, float] | None = None,
         twist_a: ArrayLike | None = None, twist_b: ArrayLike | None = None,
         guide_scale: float | None = None, guide_weights_a: ArrayLike | None = None,
         guide_weights_b: ArrayLike | None = None) -> dict[str, Any]:
    """Evaluate the contact model of two shapes, which are dicts as `dijoco contact` takes them:

        {"geom": "box", "size": [.1, .1, .1], "pose": [x, y, z, qw, qx, qy, qz]}   one of
            contact.GEOMS; sizes as MuJoCo's
        {"vertices": (n, 3), "radius": 0}   a convex hull

    and may have an `origin` (3,) for twists. friction: a dict with coefficient, dt and optionally
    eps, arms, cap, motion_a, motion_b. settings: a dict of other settings of the model; twist_a,
    twist_b: velocities (6,) about the origins, of models that use them. Of a guide (settings guide,
    guide_length): guide_scale (m) in place of the sum of both bounding radii, guide_weights_a and
    _b, one for each vertex, in place of the parts of the surface.

    Returns a dict: value (infinite where the shapes overlap), gap (m), plane (4,) or None,
    iterations, gradient_a and gradient_b (n, 3) by vertices, or None, twist_gradient (12,) a then
    b, angular then linear; with hessian also hessian by all vertices and twist_hessian (12, 12);
    with friction also friction: value, wrench_a (6,), wrench_b (6,). Of models without an energy
    value is 0, twist_gradient minus the wrenches with their friction, and twist_jac (12, 12) its
    derivative by both twists. Derivatives are None where the value is infinite. `converged` tells
    whether the plane was found to full accuracy.
    """
    models = _models()
    if model not in models:
        raise ValueError("model: unknown model %r, expected %s" % (model, " or ".join(models)))
    (first, vert_a), (second, vert_b) = _shape(a, "a"), _shape(b, "b")
    support = _number(support, "support")
    if support >= 1:
        raise ValueError("support: %g is not below 1" % support)
    own = _settings(settings)
    option = _COption(models.index(model), support, _number(length_scale, "length_scale"),
                      _friction(friction), len(own), ctypes.cast(own, c_void_p))
    if guide_scale is not None:
        option.guide_scale = _number(guide_scale, "guide_scale")
    weights = (_weigh(first, guide_weights_a, "guide_weights_a"),
               _weigh(second, guide_weights_b, "guide_weights_b"))
    for name, twist in (("twist_a", twist_a), ("twist_b", twist_b)):
        if twist is not None:
            setattr(option, name, tuple(_vector({name: twist}, name, 6, None, "pair")))
    gradients = [None if v is None else np.zeros(v.shape) for v in (vert_a, vert_b)]
    n = 3 * (first.nvert + second.nvert)
    full = np.zeros((n, n)) if hessian and first.nvert and second.nvert else None
    result = _CResult()
    status = core.djc_pair(byref(result), _lib.pointer(gradients[0]), _lib.pointer(gradients[1]),
                           _lib.pointer(full), byref(first), byref(second), byref(option))
    del weights  # which the shapes pointed to
    if status < 0:
        _lib.fail(status, result.message.decode(errors="replace"))
    finite = math.isfinite(result.value)
    out = {"value": result.value, "gap": result.gap, "converged": status == _lib.OK,
           "plane": np.array(result.plane) if result.has_plane and finite else None,
           "iterations": result.iterations, "gradient_a": gradients[0] if finite else None,
           "gradient_b": gradients[1] if finite else None,
           "twist_gradient": np.array(result.twist_gradient) if finite else None}
    if hessian:
        out["hessian"] = full if finite else None
        out["twist_hessian"] = np.reshape(result.twist_hessian, (12, 12)) if finite else None
    if not result.energy:
        out["twist_jac"] = np.reshape(result.twist_jac, (12, 12)) if finite else None
    if option.friction.enabled:
        out["friction"] = {
            "value": result.friction_value if finite else None,
            "wrench_a": np.array(result.friction_wrench_a) if finite else None,
            "wrench_b": np.array(result.friction_wrench_b) if finite else None}
    return out


def distance(a: Shape, b: Shape) -> tuple[float, Array, Array, Array]:
    """Signed distance of two shapes (see `pair`): gap (m; negative: depth), normal (3,) unit from a
    to b, and the witness points (3,), (3,) on a and b."""
    (first, vert_a), (second, vert_b) = _shape(a, "a"), _shape(b, "b")
    gap, normal, points = c_double(), np.zeros(3), np.zeros((2, 3))
    status = core.djc_distance(byref(gap), normal.ctypes.data, points[0].ctypes.data,
                               points[1].ctypes.data, byref(first), byref(second))
    del vert_a, vert_b  # which the shapes pointed to
    if status < 0:
        _lib.fail(status)
    return gap.value, normal, points[0], points[1]
