"""Contact queries: equality with the command, derivatives, errors."""
import json
import math

import numpy as np
import pytest

import command
import dijoco

BOX = {"geom": "box", "size": [.1, .2, .3], "pose": [0, 0, 0, 1, 0, 0, 0]}
TETRAHEDRON = {"vertices": [[0, 0, .31], [.3, 0, .6], [-.1, .3, .7], [0, -.3, .8]]}
SHAPES = [({"geom": "plane"}, {"geom": "sphere", "size": [.1], "pose": [0, 0, .102, 1, 0, 0, 0]}),
          (BOX, TETRAHEDRON),
          (dict(TETRAHEDRON, origin=[1, 2, 3]), dict(BOX, origin=[0, 1, 0])),
          ({"geom": "capsule", "size": [.1, .2], "pose": [0, 0, 0, 1, 1, 0, 0]},
           {"geom": "cylinder", "size": [.1, .2], "pose": [.3, 0, 0, .9, .1, .3, 0]}),
          ({"geom": "ellipsoid", "size": [.1, .2, .3]},
           {"vertices": [[.11, 0, 0], [.2, 0, .1]], "radius": .002}),
          (BOX, {"geom": "sphere", "size": [.1], "pose": [0, 0, 0, 1, 0, 0, 0]})]
FRICTION = {"coefficient": .5, "dt": .01, "eps": 1e-6, "motion_b": [0, 0, .1, .001, 0, 0]}


@pytest.mark.parametrize("friction", [None, FRICTION])
@pytest.mark.parametrize("a, b", SHAPES)
def test_pair_is_the_commands(a, b, friction):
    query = {"a": a, "b": b, "params": {"s": .1, "length_scale": .5}, "hessian": True}
    if friction:
        query["friction"] = friction
    theirs = command.run("contact", "-", text=json.dumps(query))
    ours = dijoco.pair(a, b, support=.1, length_scale=.5, friction=friction, hessian=True)
    assert theirs.pop("status") == "ok" and ours.pop("converged")
    same(ours, theirs)


def same(ours, theirs):
    assert set(ours) == set(theirs)
    for key, value in theirs.items():
        if isinstance(value, dict):
            same(ours[key], value)
        elif value is None:
            assert ours[key] is None or math.isinf(ours[key]), key
        else:
            np.testing.assert_array_equal(np.array(ours[key]), np.array(value, float), key)


def test_gradients_against_differences():
    vert, rng = np.array(TETRAHEDRON["vertices"]), np.random.default_rng(7)
    direction, h = rng.normal(size=vert.shape), 1e-6

    def value(s):
        return dijoco.pair(BOX, {"vertices": vert + s * direction}, support=.1)["value"]

    out = dijoco.pair(BOX, TETRAHEDRON, support=.1)
    assert out["gradient_a"] is None and out["gradient_b"].shape == (4, 3)
    difference = (8 * (value(h) - value(-h)) - value(2 * h) + value(-2 * h)) / (12 * h)
    assert (out["gradient_b"] * direction).sum() == pytest.approx(difference, rel=1e-6)
    # Rigid motion of both shapes changes nothing.
    np.testing.assert_allclose(out["twist_gradient"][3:6], -out["twist_gradient"][9:], rtol=1e-9)
    np.testing.assert_allclose(out["gradient_b"].sum(0), out["twist_gradient"][9:], rtol=1e-9)


def test_distance():
    gap, normal, a, b = dijoco.distance(BOX, TETRAHEDRON)
    assert gap == pytest.approx(.01) and dijoco.pair(BOX, TETRAHEDRON)["gap"] == pytest.approx(gap)
    np.testing.assert_allclose(normal, [0, 0, 1], atol=1e-9)
    np.testing.assert_allclose(b - a, gap * normal, atol=1e-9)
    gap, normal, _, _ = dijoco.distance(BOX, dict(BOX, pose=[.15, 0, 0, 1, 0, 0, 0]))
    assert gap == pytest.approx(-.05) and abs(normal[0]) == pytest.approx(1)


def test_far_and_overlapping():
    far = dijoco.pair(BOX, dict(BOX, pose=[9, 0, 0, 1, 0, 0, 0]))
    assert far["value"] == 0 and far["plane"] is None and not far["twist_gradient"].any()
    inside = dijoco.pair(BOX, BOX, hessian=True, friction=FRICTION)
    assert inside["value"] == math.inf and inside["gap"] < 0
    assert inside["twist_gradient"] is inside["twist_hessian"] is inside["plane"] is None
    assert inside["friction"]["value"] is None


@pytest.mark.parametrize("change, error, text", [
    ({"a": 3}, TypeError, "a: expected a dict"),
    ({"a": {}}, ValueError, "a: expected `geom` or `vertices`"),
    ({"a": {"geom": "torus"}}, ValueError, "a.geom: unknown geom 'torus'"),
    ({"a": {"geom": "mesh"}}, ValueError, "a.geom: unknown geom 'mesh'"),
    ({"a": {"geom": "box", "size": [1, 2]}}, ValueError, "a.size: expected 3 positive"),
    ({"a": {"geom": "box", "size": [1, 2, -3]}}, ValueError, "a.size"),
    ({"a": {"geom": "box", "size": [1, 2, np.nan]}}, ValueError, "a.size"),
    ({"a": dict(BOX, pose=[0] * 7)}, ValueError, "a.pose: its quaternion is zero"),
    ({"a": dict(BOX, pose=[0] * 6)}, ValueError, r"a.pose: expected shape \(7,\)"),
    ({"a": dict(BOX, pose=[np.inf, 0, 0, 1, 0, 0, 0])}, ValueError, "a.pose: not finite"),
    ({"a": dict(BOX, color=1)}, ValueError, "a: unknown key 'color'"),
    ({"b": {"vertices": [1, 2, 3]}}, ValueError, r"b.vertices: expected shape \(n, 3\)"),
    ({"b": {"vertices": [[1, 2, np.nan]]}}, ValueError, "b.vertices: not finite"),
    ({"b": dict(TETRAHEDRON, radius=-1)}, ValueError, "b.radius"),
    ({"b": dict(TETRAHEDRON, radius="x")}, ValueError, "b.radius: expected numbers"),
    ({"b": dict(TETRAHEDRON, radius=[1])}, ValueError, r"b.radius: expected shape \(\)"),
    ({"model": "sprung"}, ValueError, "unknown model 'sprung'"),
    ({"support": 0}, ValueError, "support"), ({"support": 1}, ValueError, "support"),
    ({"length_scale": np.nan}, ValueError, "length_scale"),
    ({"friction": {"coefficient": 1}}, ValueError, "friction.dt: missing"),
    ({"friction": dict(FRICTION, dt=0)}, ValueError, "friction.dt"),
    ({"friction": dict(FRICTION, coefficient=-1)}, ValueError, "friction.coefficient"),
    ({"friction": dict(FRICTION, arms="long")}, ValueError, "friction.arms: expected plane"),
    ({"friction": dict(FRICTION, mu=1)}, ValueError, "friction: unknown key 'mu'")])
def test_bad_queries(change, error, text):
    with pytest.raises(error, match=text):
        dijoco.pair(**dict({"a": BOX, "b": TETRAHEDRON}, **change))
    if set(change) <= {"a", "b"}:
        with pytest.raises(error, match=text):
            dijoco.distance(**dict({"a": BOX, "b": TETRAHEDRON}, **change))


def test_two_planes():
    with pytest.raises(dijoco.Error):
        dijoco.pair({"geom": "plane"}, {"geom": "plane"})
    with pytest.raises(dijoco.Error):
        dijoco.distance({"geom": "plane"}, {"geom": "plane"})
