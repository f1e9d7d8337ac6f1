"""What the tests of implicit surfaces share: a shape of each family, poses near touch."""
import numpy as np

FACETS = [[1, 0, 0], [-2, .3, 0], [0, 1, .1], [0, -1, 0], [.2, 0, 1], [0, .1, -1], [1, 1, 1]]
SHAPES = {
    "superellipsoid": {"size": [.2, .3, .25], "n": 6},
    "smooth_polytope": {"A": FACETS, "b": [.2, .5, .3, .25, .2, .3, .4], "L": .2, "beta": 12},
    "truncated_cone": {"Rb": .25, "Rt": .15, "a": .2, "b": .15, "beta": 15},
    "superelliptic_cylinder": {"R": .2, "h": .3, "n": 5.5},
    "smooth_capsule": {"r": .15, "h": .2, "beta": 10}}
SHAPES = {name: dict(numbers, shape=name) for name, numbers in SHAPES.items()}
POSE_A = [.1, -.2, .3, .9, .1, -.3, .2]
POSE_B = [.5, .1, .35, .3, .8, .2, -.4]
VECTORS = ("x", "normal", "point_a", "point_b")
VALUES = ("alpha", "x", "normal", "gap", "point_a", "point_b")


def numbers(result):
    """The 14 values in a row."""
    return np.concatenate([np.atleast_1d(result[name]) for name in VALUES])


def random_poses(count, seed):
    """Pairs of poses (count, 7), quaternions not normalised."""
    random = np.random.default_rng(seed)
    a, b = random.normal(size=(2, count, 7))
    a[:, :3] *= .1
    b[:, :3] = a[:, :3] + .6 * b[:, :3] / np.linalg.norm(b[:, :3], axis=1, keepdims=True)
    return a, b


def difference(function, h):
    """Of a function of one number at 0, extrapolated."""
    return (8 * (function(h) - function(-h)) - function(2 * h) + function(-2 * h)) / (12 * h)
