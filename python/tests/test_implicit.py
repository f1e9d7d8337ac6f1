"""Implicit surfaces: equality with the command, derivatives, pairs that move, errors."""
import copy
import itertools
import json
import threading

import numpy as np
import pytest

import command
import dijoco
from dijoco import _autodiff, _lib
from dijoco.implicit import FAMILIES
from implicit_shapes import (POSE_A, POSE_B, SHAPES, VALUES, VECTORS, difference, numbers,
                             random_poses)

PAIRS = list(itertools.product(SHAPES, repeat=2))
BALL = {"shape": "superellipsoid", "size": [.1, .1, .1], "n": 1}
CONE, CYLINDER = SHAPES["truncated_cone"], SHAPES["superelliptic_cylinder"]
POLYTOPE, SUPER = SHAPES["smooth_polytope"], SHAPES["superellipsoid"]


def same(ours, theirs, name=""):
    assert set(ours) == set(theirs)
    for key, value in theirs.items():
        if isinstance(value, dict):
            same(ours[key], value, key)
        else:
            np.testing.assert_array_equal(ours[key], value, name + key)
            assert np.shape(ours[key]) == np.shape(value)


def test_families():
    assert set(FAMILIES) == set(SHAPES)
    assert all(name in dijoco.implicit.__doc__ for name in FAMILIES)


def test_surfaces_are_those_of_the_help():
    """Witness points lie on the surfaces that help(dijoco.implicit) writes down."""
    for (a, b), seed in zip(PAIRS, itertools.count()):
        pose_a, pose_b = (p[0] for p in random_poses(1, seed))
        found = dijoco.implicit(dict(SHAPES[a], pose=pose_a), dict(SHAPES[b], pose=pose_b))
        for shape, pose, point in ((a, pose_a, "point_a"), (b, pose_b, "point_b")):
            q = pose[3:] / np.linalg.norm(pose[3:])
            back, y = np.array([q[0], *-q[1:]]), found[point] - pose[:3]
            t = 2 * np.cross(back[1:], y)
            y, s = y + back[0] * t + np.cross(back[1:], t), SHAPES[shape]
            if shape == "superellipsoid":
                value = (abs(y / s["size"]) ** (2 * s["n"])).sum()
            elif shape == "superelliptic_cylinder":
                value = (y[0] / s["h"]) ** 2, (y[1:] ** 2).sum() / s["R"] ** 2
                value = value[0] ** s["n"] + value[1] ** s["n"]
            elif shape == "smooth_polytope":
                value = np.exp(s["beta"] * (np.array(s["A"]) @ y - s["b"]) / s["L"]).sum()
            else:
                continue
            assert abs(value - 1) < 1e-9, shape
    text = dijoco.implicit.__doc__
    assert "|x/a|^2n + |y/b|^2n + |z/c|^2n = 1" in text and "half of the exponent" in text


@pytest.mark.parametrize("a, b", PAIRS)
def test_implicit_is_the_commands(a, b):
    a, b = dict(SHAPES[a], pose=POSE_A), dict(SHAPES[b], pose=POSE_B)
    query = {"model": "implicit_surface", "a": a, "b": b}
    theirs = command.run("contact", "-", text=json.dumps(query))
    ours = dijoco.implicit(a, b)
    assert theirs.pop("status") == "ok" and ours.pop("converged") and ours["condition"] > 1
    same(ours, theirs)
    query.update(derivatives=True, sizes=True)
    theirs = command.run("contact", "-", text=json.dumps(query))
    ours = dijoco.implicit(a, b, derivatives=True, sizes=True)
    del theirs["status"], ours["converged"]
    same(ours, theirs)


@pytest.mark.parametrize("name", SHAPES)
def test_distance_and_planes_are_the_commands(name):
    plane, shape = {"geom": "plane", "pose": POSE_A}, dict(SHAPES[name], pose=POSE_B)
    far = dict(SUPER, pose=[.8, .9, 1, 1, 0, 0, 0])
    for a, b in ((plane, shape), (shape, plane), (shape, far)):
        query = {"model": "implicit_surface", "a": a, "b": b, "distance": True, "sizes": True,
                 "derivatives": True}
        theirs = command.run("contact", "-", text=json.dumps(query))
        ours = dijoco.implicit(a, b, derivatives=True, sizes=True, distance=True)
        assert theirs.pop("status") == "ok" and ours.pop("converged")
        for of in (ours, theirs):  # those of a plane are empty
            for side in ("sizes_a", "sizes_b"):
                of[side] = {key: np.ravel(value) for key, value in of[side].items()}
        same(ours, theirs)
        found = dijoco.ImplicitPair(a, b).evaluate(a["pose"], b["pose"], distance=True)
        assert found["distance"] == ours["distance"] and "ddistance" not in found
        if plane in (a, b):
            assert ours["distance"] == pytest.approx(ours["gap"], abs=1e-12)


def test_without_a_pose():
    ours = dijoco.implicit(BALL, dict(BALL, pose=[0, 0, .5, 1, 0, 0, 0]))
    assert ours["alpha"] == pytest.approx(2.5) and ours["gap"] == pytest.approx(.3)
    np.testing.assert_allclose(ours["normal"], [0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(ours["point_b"], [0, 0, .4], atol=1e-9)


def moved(pose, twist):
    """The pose after a twist (angular, linear; world axes) about its origin."""
    angle = np.linalg.norm(twist[:3])
    s, v = np.cos(angle / 2), np.sinc(angle / (2 * np.pi)) / 2 * twist[:3]
    p, u = pose[3], np.array(pose[4:])
    quat = np.r_[s * p - v @ u, s * u + p * v + np.cross(v, u)]
    return np.r_[pose[:3] + twist[3:], quat]


@pytest.mark.parametrize("a, b", PAIRS)
def test_twists_against_differences(a, b):
    out = dijoco.implicit(dict(SHAPES[a], pose=POSE_A), dict(SHAPES[b], pose=POSE_B), True)
    jac = np.concatenate([np.atleast_2d(out["d" + name]) for name in VALUES])
    assert jac.shape == (14, 12)
    for k, twist in enumerate(np.eye(12)):
        def along(s):
            return numbers(dijoco.implicit(
                dict(SHAPES[a], pose=moved(POSE_A, s * twist[:6])),
                dict(SHAPES[b], pose=moved(POSE_B, s * twist[6:]))))
        np.testing.assert_allclose(jac[:, k], difference(along, 3e-4), rtol=1e-6, atol=1e-7)


def with_numbers(shape, size):
    """The shape with these numbers, in their order."""
    names, listed = FAMILIES[shape["shape"]]
    if "A" in shape:
        m = len(shape["A"])
        parts = np.reshape(size[:3 * m], (m, 3)), size[3 * m:4 * m], size[-2], size[-1]
        return dict(shape, **dict(zip(names, parts)))
    if listed:
        return dict(shape, **{listed: size[:-1], names[-1]: size[-1]})
    return dict(shape, **dict(zip(names, size)))


def numbers_of(shape):
    names, listed = FAMILIES[shape["shape"]]
    return np.concatenate([np.ravel(shape[name])
                           for name in ([listed, names[-1]] if listed else names)])


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("side", [0, 1])
def test_sizes_against_differences(name, side):
    poses = POSE_A, [[.5, .1, .35, .8, .3, .5, -.2], [.5, .2, .1, .5, .5, .1, -.6]][side]
    shapes = [dict(SUPER, pose=pose) for pose in poses]
    shapes[side] = dict(SHAPES[name], pose=poses[side])
    size, random = numbers_of(shapes[side]), np.random.default_rng(6)
    direction = random.normal(size=size.size) * (np.abs(size) + .1)

    def along(s):
        moved = list(shapes)
        moved[side] = with_numbers(shapes[side], size + s * direction)
        return numbers(dijoco.implicit(*moved))[:8]

    by = dijoco.implicit(*shapes, sizes=True)["sizes_" + "ab"[side]]
    assert [by[key].shape for key in ("alpha", "point", "normal", "gap")] == \
        [size.shape, (3, size.size), (3, size.size), size.shape]
    jac = np.concatenate([np.atleast_2d(by[key]) for key in ("alpha", "point", "normal", "gap")])
    wanted = difference(along, 1e-4)
    np.testing.assert_allclose(jac @ direction, wanted, rtol=1e-6, atol=1e-7)
    assert np.abs(wanted[4:7]).max() > .01


# ---- pairs that move ---------------------------------------------------------------------------

@pytest.mark.parametrize("a, b", PAIRS)
def test_pair(a, b):
    """Along a track; the poses of the shapes are not read."""
    pair = dijoco.ImplicitPair(dict(SHAPES[a], pose=[0] * 7), dict(SHAPES[b], pose="none"))
    first = pair.evaluate(POSE_A, POSE_B, derivatives=True, condition=True)
    cold = dijoco.implicit(dict(SHAPES[a], pose=POSE_A), dict(SHAPES[b], pose=POSE_B), True)
    same(first, cold)
    for k in range(1, 6):
        at = moved(POSE_B, .01 * k * np.arange(6))
        warm = pair.evaluate(POSE_A, at)
        cold = dijoco.implicit(dict(SHAPES[a], pose=POSE_A), dict(SHAPES[b], pose=at))
        assert set(warm) == set(cold) - {"condition"} and warm["converged"]
        assert warm["iterations"] < cold["iterations"]
        np.testing.assert_allclose(numbers(warm), numbers(cold), atol=1e-10)


def test_degenerate():
    pair = dijoco.ImplicitPair(BALL, BALL)
    pair.evaluate(POSE_A, np.add(POSE_A, [0, 0, .1, 0, 0, 0, 0]))
    out = pair.evaluate(POSE_A, POSE_A, derivatives=True)
    assert out["degenerate"] is True and out["alpha"] == 0 and out["gap"] == pytest.approx(-.2)
    np.testing.assert_allclose(out["normal"], [0, 0, 1], atol=1e-12)
    assert dijoco.implicit(BALL, CONE)["degenerate"] is True


def test_results_are_their_own():
    pair = dijoco.ImplicitPair(SUPER, CONE)
    first = pair.evaluate(POSE_A, POSE_B, derivatives=True)
    kept = copy.deepcopy(first)
    pair.evaluate(POSE_B, POSE_A, derivatives=True)
    same(first, kept)


def test_threads():
    """Calls on one pair from several threads."""
    pair, failed = dijoco.ImplicitPair(POLYTOPE, CYLINDER), []
    a, b = random_poses(20, 5)
    wanted = [numbers(dijoco.implicit(dict(POLYTOPE, pose=p), dict(CYLINDER, pose=q)))
              for p, q in zip(a, b)]

    def run(k):
        for i in np.random.default_rng(k).integers(20, size=500):
            got = numbers(pair.evaluate(a[i], b[i]))
            if not np.allclose(got, wanted[i], rtol=0, atol=1e-9):
                failed.append(i)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_not_converged(monkeypatch):
    pair = dijoco.ImplicitPair(SUPER, CONE)
    assert pair.evaluate(POSE_A, POSE_B)["converged"] is True
    monkeypatch.setattr(dijoco.ImplicitPair, "_run", lambda *args: _lib.NOT_CONVERGED)
    assert pair.evaluate(POSE_A, POSE_B)["converged"] is False
    with pytest.warns(RuntimeWarning, match="2 of 2 touches did not converge"):
        _autodiff.Touches(pair, *random_poses(2, 1), derivatives=False)


def test_no_copies():
    with pytest.raises(TypeError, match="ImplicitPair"):
        copy.deepcopy(dijoco.ImplicitPair(SUPER, CONE))


# ---- batches -----------------------------------------------------------------------------------

def test_batch():
    """Values of a batch, and its cotangents by the numbers of poses, not normalised."""
    pair = dijoco.ImplicitPair(SUPER, CONE)
    poses, random = np.array(random_poses(5, 2)), np.random.default_rng(3)
    made = _autodiff.Touches(pair, *poses, derivatives=True)
    assert [x.shape for x in made.values] == [(5,), (5, 3), (5, 3), (5,), (5, 3), (5, 3)]
    for i in range(5):
        single = dijoco.implicit(dict(SUPER, pose=poses[0, i]), dict(CONE, pose=poses[1, i]))
        for name, value in zip(VALUES, made.values):
            np.testing.assert_allclose(value[i], single[name], atol=1e-10)
    cotangents = [random.normal(size=x.shape) for x in made.values]
    got = made.vjp(*cotangents)
    for k in range(5):
        direction = random.normal(size=poses.shape)

        def along(s):
            values = _autodiff.Touches(pair, *(poses + s * direction), derivatives=False).values
            return sum((x * g).sum() for x, g in zip(values, cotangents))

        assert np.vdot(got, direction) == pytest.approx(difference(along, 1e-4), rel=1e-6)


def test_no_members():
    made = _autodiff.Touches(dijoco.ImplicitPair(SUPER, CONE), np.ones((0, 7)), np.ones((0, 7)),
                             derivatives=True)
    assert [x.shape for x in made.values] == [(0, 3) if name in VECTORS else (0,)
                                              for name in VALUES]
    assert [x.shape for x in made.vjp(*made.values)] == [(0, 7), (0, 7)]


# ---- errors ------------------------------------------------------------------------------------

def without(shape, key):
    return {name: value for name, value in shape.items() if name != key}


@pytest.mark.parametrize("change, error, text", [
    ({"a": 3}, TypeError, "a: expected a dict"),
    ({"a": {}}, ValueError, "a.shape: missing"),
    ({"b": {"shape": "torus"}}, ValueError, "b.shape: unknown family 'torus', .*truncated_cone"),
    ({"b": {"shape": ["torus"]}}, ValueError, "b.shape: unknown family"),
    ({"a": dict(SUPER, color=1)}, ValueError, "a: unknown key 'color', expected one of shape"),
    ({"a": dict(SUPER, a=1)}, ValueError, "a: unknown key 'a'"),
    ({"a": without(SUPER, "size")}, ValueError, "a.size: missing"),
    ({"a": without(SUPER, "n")}, ValueError, "a.n: missing"),
    ({"a": dict(SUPER, size=[1, 2])}, ValueError, r"a.size: expected shape \(3,\)"),
    ({"a": dict(SUPER, size=[1, 2, np.nan])}, ValueError, "a.size: not finite"),
    ({"a": dict(SUPER, size=[1, 2, -3])}, ValueError, "a: superellipsoid: c = -3"),
    ({"a": dict(SUPER, n=.5)}, ValueError, "a: superellipsoid: n = 0.5 must be at least 1"),
    ({"a": dict(SUPER, n="x")}, ValueError, "a.n: expected numbers"),
    ({"a": dict(SUPER, n=[8])}, ValueError, r"a.n: expected shape \(\)"),
    ({"a": dict(SUPER, n=np.inf)}, ValueError, "a.n: inf"),
    ({"b": dict(CONE, Rt=-1)}, ValueError, "b.Rt: -1 is not positive"),
    ({"b": dict(CONE, beta=0)}, ValueError, "b.beta: 0 is not positive"),
    ({"b": without(CYLINDER, "h")}, ValueError, "b.h: missing"),
    ({"b": dict(POLYTOPE, A=[1, 2, 3])}, ValueError, r"b.A: expected shape \(m, 3\), not \(3,\)"),
    ({"b": dict(POLYTOPE, A=np.zeros((0, 3)))}, ValueError, "b.A: expected shape"),
    ({"b": dict(POLYTOPE, A=np.full((7, 3), np.nan))}, ValueError, "b.A: not finite"),
    ({"b": dict(POLYTOPE, b=[1] * 6)}, ValueError, r"b.b: expected shape \(7,\), not \(6,\)"),
    ({"b": dict(POLYTOPE, b=[1] * 6 + [-1])}, ValueError, r"b: smooth_polytope: b\[6\] = -1"),
    ({"b": dict(POLYTOPE, A=[[1, 0, 0]] * 7)}, ValueError, "b: .*7 facets do not bound it"),
    ({"b": dict(POLYTOPE, L=0)}, ValueError, "b.L: 0 is not positive")])
def test_bad_shapes(change, error, text):
    shapes = dict({"a": SUPER, "b": CONE}, **change)
    for function in (dijoco.implicit, dijoco.ImplicitPair):
        with pytest.raises(error, match="^" + text):
            function(**shapes)


@pytest.mark.parametrize("pose, text", [
    ([0] * 7, ": its quaternion is zero"), ([0] * 6, r": expected shape \(7,\)"),
    ([np.inf, 0, 0, 1, 0, 0, 0], ": not finite"), ([0, 0, 0, np.nan, 0, 0, 0], ": not finite"),
    ([0, 0, 0] + [1e308] * 4, ": not finite"), (["x"] * 7, ": expected numbers"),
    ([1e21, 0, 0, 1, 0, 0, 0], " and .*: ")])
def test_bad_poses(pose, text):
    pair = dijoco.ImplicitPair(SUPER, CONE)
    name = {" and .*: ": "a"}.get(text, "a.pose")
    with pytest.raises(ValueError, match="^" + name + text):
        dijoco.implicit(dict(SUPER, pose=pose), CONE)
    with pytest.raises(ValueError, match="^pose_a" + text):
        pair.evaluate(pose, POSE_B)
    if text != " and .*: ":
        with pytest.raises(ValueError, match="^pose_b" + text):
            pair.evaluate(POSE_A, pose)
    assert pair.evaluate(POSE_A, POSE_B)["converged"]
