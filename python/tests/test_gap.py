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


@pytest.mark.parametrize("a, b", [(BOX, CONE), (CONE, BALL), ({"geom": "plane"}, BOX), (BALL, BALL)])
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
