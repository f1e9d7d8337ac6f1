"""Smoothed gaps: equality with the command and with the sensor, derivatives, errors."""
import json

import numpy as np
import pytest

import command
import dijoco

BOX = {"geom": "box", "size": [.1, .2, .3], "pose": [0, 0, 0, 1, 0, 0, 0]}
CONE = {"vertices": [[0, 0, .31], [.3, 0, .6], [-.1, .3, .7], [0, -.3, .8]]}
BALL = {"geom": "sphere", "size": [.1], "pose": [.3, .1, 0, 1, 0, 0, 0]}
NAMES = ("gap", "normal", "point_a", "point_b", "twist_gradient", "twist_normal", "twist_point_a",
         "twist_point_b", "smoothing", "iterations")


@pytest.mark.parametrize("a, b", [(BOX, CONE), (CONE, BALL), ({"geom": "plane"}, BOX),
                                  (BALL, BALL)])
@pytest.mark.parametrize("smoothing", [None, 0.01, 0])
def test_gap_is_the_commands(a, b, smoothing):
    query = {"model": "gap", "a": a, "b": b}
    if smoothing is not None:
        query["params"] = {"smoothing": smoothing}
    theirs = command.run("contact", "-", text=json.dumps(query))
    ours = dijoco.gap(a, b, smoothing)
    assert set(ours) == set(NAMES) | {"converged"} and ours["converged"]
    for name in NAMES:
        if theirs[name] is None:
            assert ours[name] is None
        else:
            np.testing.assert_array_equal(ours[name], np.array(theirs[name], float), name)


def test_derivative_against_differences():
    h, query = 1e-6, dict(BALL)
    out, sides = dijoco.gap(BOX, BALL), []
    for sign in (1, -1):
        query["pose"] = [.3, .1 + sign * h, 0, 1, 0, 0, 0]
        sides.append(dijoco.gap(BOX, query))
    for name in ("normal", "point_a", "point_b"):
        difference = (sides[0][name] - sides[1][name]) / (2 * h)
        np.testing.assert_allclose(out["twist_" + name][:, 10], difference, atol=1e-6)


def test_errors():
    with pytest.raises(dijoco.Error):
        dijoco.gap({"geom": "plane"}, {"geom": "plane"})
    for bad in (-1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="smoothing"):
            dijoco.gap(BOX, BALL, bad)


def test_of_a_model(box):
    data, gap = dijoco.Data(box), dijoco.Gap(box, "floor", "box")
    data.qpos[:] = [.1, .2, .5, .9, .1, .3, .2]
    before = data.get_state()
    value = gap(data, jac=True)
    assert value.jac.shape == (10, 6) and gap(data).jac is None
    np.testing.assert_array_equal(data.get_state(), before)
    np.testing.assert_allclose(value.normal, [0, 0, 1], atol=1e-9)
    np.testing.assert_allclose(value.point2 - value.point1, value.gap * value.normal, atol=1e-9)
    v, h, ends = np.random.default_rng(9).normal(size=6), 1e-6, []
    for s in (h, -h):
        other = data.copy()
        other.qpos = box.integrate_pos(data.qpos, v, s)
        end = gap(other)
        ends.append(np.r_[end.gap, end.normal, end.point1, end.point2])
    np.testing.assert_allclose(value.jac @ v, (ends[0] - ends[1]) / (2 * h), atol=1e-6)
    assert np.abs(value.jac @ v).max() > 0.1
    for other in (dijoco.Gap(box, 0, 1), dijoco.Gap(box, 0, "box", kind="body")):
        assert other(data).gap == value.gap
    assert dijoco.Gap(box, 0, 1, smoothing=0.01)(data).gap != value.gap


def test_errors_of_a_model(box, cartpole):
    with pytest.raises(ValueError, match="there is no geom 'none'"):
        dijoco.Gap(box, "floor", "none")
    with pytest.raises(ValueError, match="kind: 'site' is neither"):
        dijoco.Gap(box, 0, 1, kind="site")
    with pytest.raises(TypeError, match="geom: expected an integer"):
        dijoco.Gap(box, 0, 1.5)
    for bad in (dict(first=0, second=0), dict(first=0, second=9), dict(first=-1, second=1)):
        with pytest.raises(dijoco.Error):
            dijoco.Gap(box, **bad)
    for smoothing in (-1, np.nan, np.inf):
        with pytest.raises(ValueError, match="smoothing"):
            dijoco.Gap(box, 0, 1, smoothing=smoothing)
    gap = dijoco.Gap(box, 0, 1)
    with pytest.raises(TypeError, match="data: expected a dijoco.Data"):
        gap(box)
    with pytest.raises(dijoco.Error):
        gap(dijoco.Data(cartpole))
    data = dijoco.Data(box)
    data.qpos[0] = np.nan
    with pytest.raises(dijoco.Error):
        gap(data)
