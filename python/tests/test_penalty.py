"""Penalty contact: equality with the command, derivatives, fields of meshes, errors."""
import json

import numpy as np
import pytest

import command
import dijoco

PARAMS = {"kn": 1000, "kt": 20, "kd": 30, "mu": .5, "scale": 1.5}
A = {"points": [[.1, .2, .28], [-.1, .05, -.2], [2, 1, 1]], "origin": [.5, .1, -.2],
     "twist": [.3, .2, -.1, .1, -.2, -.3]}
POSE = {"pose": [.02, .05, .1, .9, .2, .1, .3], "twist": [.1, .2, .3, .05, -.1, .2]}
GEOMS = [("plane", []), ("sphere", [.4]), ("capsule", [.3, .2]), ("ellipsoid", [.4, .5, .6]),
         ("cylinder", [.4, .3]), ("box", [.3, .4, .3])]
LAM = [.3, -.2, .5, .1, .7, 1, -.4, .2, .6, .9, -.8, .2]
# A prism on an L, which is not convex.
CORNERS = np.array([[0, 0], [1, 0], [1, .4], [.4, .5], [.4, 1], [0, 1]]) - .3
VERT = np.vstack([np.hstack([CORNERS, np.full((6, 1), z)]) for z in (-.3, .3)])
COVER = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]])
SIDES = [(i, j, k) for i in range(6) for j, k in
         [((i + 1) % 6, 6 + (i + 1) % 6), (6 + (i + 1) % 6, 6 + i)]]
TRIANGLES = np.vstack([COVER[:, ::-1], 6 + COVER, SIDES])
MESH = dict(POSE, geom="mesh", vert=VERT.tolist(), triangles=TRIANGLES.tolist())


def same(ours, theirs):
    points = theirs["points"]
    assert set(ours) == set(theirs)
    assert set(ours["points"]) == set(points[0])
    assert ours["points"]["state"] == [p["state"] for p in points]
    for key in ("distance", "normal", "force"):
        np.testing.assert_array_equal(ours["points"][key], [p[key] for p in points])
    for key in ("wrench_a", "wrench_b", "pose_jacobian", "twist_jacobian"):
        np.testing.assert_array_equal(ours[key], theirs[key])
    assert set(ours["gradient"]) == set(theirs["gradient"])
    for key, value in theirs["gradient"].items():
        np.testing.assert_array_equal(ours["gradient"][key], value)
    assert ours.get("grid_error") == theirs.get("grid_error")


@pytest.mark.parametrize("b", [dict(POSE, geom=geom, size=size) for geom, size in GEOMS] + [MESH])
def test_penalty_is_the_commands(b):
    query = {"model": "penalty", "params": PARAMS, "a": A, "b": b, "lambda": LAM}
    theirs = command.run("contact", "-", text=json.dumps(query))
    assert theirs.pop("status") == "ok"
    ours = dijoco.penalty(A, b, PARAMS, lam=LAM)
    same(ours, theirs)
    assert "free" in ours["points"]["state"] and np.abs(ours["wrench_a"]).max() > 0


def test_field_is_the_mesh():
    field = dijoco.Field(VERT, TRIANGLES)
    assert 0 < field.error < .03 and "12 vertices" in repr(field)
    ours = dijoco.penalty(A, dict(POSE, geom=field), PARAMS, lam=LAM)
    theirs = dijoco.penalty(A, MESH, PARAMS, lam=LAM)
    assert ours["grid_error"] == theirs["grid_error"] == field.error
    np.testing.assert_array_equal(ours["pose_jacobian"], theirs["pose_jacobian"])
    np.testing.assert_array_equal(ours["gradient"]["vert"], theirs["gradient"]["vert"])


def test_derivatives():
    rng = np.random.default_rng(3)
    points, field = np.array(A["points"]), dijoco.Field(VERT, TRIANGLES)
    for b in [dict(POSE, geom="box", size=[.3, .4, .3]), dict(POSE, geom=field)]:
        out = dijoco.penalty(A, b, PARAMS, lam=LAM)
        move, h = rng.normal(size=points.shape), 1e-6

        def value(s, move=move, b=b):
            at = dijoco.penalty(dict(A, points=points + s * move), b, PARAMS)
            return np.dot(LAM, np.append(at["wrench_a"], at["wrench_b"]))

        difference = (value(h) - value(-h)) / (2 * h)
        assert (out["gradient"]["points"] * move).sum() == pytest.approx(difference, rel=1e-6)
        twist = rng.normal(size=6)

        def wrench(s, twist=twist, b=b):
            at = dijoco.penalty(dict(A, twist=A["twist"] + s * twist), b, PARAMS)
            return np.append(at["wrench_a"], at["wrench_b"])

        difference = (wrench(h) - wrench(-h)) / (2 * h)
        np.testing.assert_allclose(out["twist_jacobian"][:, :6] @ twist, difference, rtol=1e-6,
                                   atol=1e-5)
    assert out["gradient"]["vert"].shape == (12, 3) and np.abs(out["gradient"]["vert"]).max() > 1


BOX = {"geom": "box", "size": [1, 1, 1]}


@pytest.mark.parametrize("change, error, text", [
    ({"params": {"kt": 1}}, ValueError, "params.kn: missing"),
    ({"params": {"kn": 0}}, ValueError, "params.kn: 0 is not positive"),
    ({"params": {"kn": 1, "mu": -1}}, ValueError, "params.mu: -1 is not allowed"),
    ({"params": {"kn": 1, "kx": 1}}, ValueError, "params: unknown key 'kx'"),
    ({"params": 3}, TypeError, "params: expected a dict"),
    ({"a": {}}, ValueError, "a.points: missing"),
    ({"a": {"points": [1, 2, 3]}}, ValueError, "a.points: expected shape"),
    ({"a": {"points": [[1, 2, np.nan]]}}, ValueError, "a.points: not finite"),
    ({"a": {"points": [[1, 2, 3]], "twist": [1]}}, ValueError, "a.twist: expected shape"),
    ({"b": {}}, ValueError, "b.geom: missing"),
    ({"b": {"geom": "cube"}}, ValueError, "b.geom: unknown geom"),
    ({"b": {"geom": "box", "size": [1, 1]}}, ValueError, "b.size: expected 3 positive numbers"),
    ({"b": dict(BOX, vert=[[0, 0, 0]])}, ValueError, "b.vert: not of a mesh"),
    ({"b": dict(BOX, pose=[0] * 7)}, ValueError, "b.pose: its quaternion is zero"),
    ({"b": {"geom": "mesh", "vert": VERT}}, ValueError, "b.triangles: missing"),
    ({"b": {"geom": "mesh", "size": [1], "vert": VERT, "triangles": TRIANGLES}}, ValueError,
     "b.size: a mesh has none"),
    ({"b": {"geom": "mesh", "vert": VERT, "triangles": [[0, 1, 99]]}}, ValueError,
     "triangles: not all are indices"),
    ({"b": {"geom": "mesh", "vert": VERT, "triangles": TRIANGLES[1:]}}, ValueError, "edge"),
    ({"lam": [1]}, ValueError, "penalty.lam: expected shape"),
])
def test_errors(change, error, text):
    query = {"a": A, "b": BOX, "params": {"kn": 1}, "lam": None}
    query.update(change)
    with pytest.raises(error, match=text):
        dijoco.penalty(**query)
