#!/usr/bin/env python3
"""Derivatives of implicit surfaces' touch against differences of 60 digits, which are made of the
formulas of the families alone: gradients, too, are differences. For each pair of families alpha, x,
normal and gap along a random motion of both bodies and change of all numbers of both shapes.
DIJOCO_DIGITS_CASES: how many of each pair; by default one of each family with itself and the next.
"""
import decimal
import itertools
import os
import random
import sys
import unittest
from decimal import Decimal as D

from common import cli

decimal.getcontext().prec = 60
CASES = int(os.environ.get("DIJOCO_DIGITS_CASES", "0"))
TINY, STEP = D("1e-16"), D("1e-10")  # of gradients; of derivatives
FACETS = [[1, 0, 0], [-2, .3, 0], [0, 1, .1], [0, -1, 0], [.2, 0, 1], [0, .1, -1], [1, 1, 1]]


# ---- the paper's functions, of numbers and a point

def soft_max(c, beta):
    most = max(c)
    return most + sum((beta * (x - most)).exp() for x in c).ln() / beta


def polytope(s, y):
    m = (len(s) - 2) // 4
    A, b, L, beta = s[:3 * m], s[3 * m:4 * m], s[-2], s[-1]
    return soft_max([(sum(A[3 * i + k] * y[k] for k in range(3)) - b[i]) / L for i in range(m)],
                    beta)


def cone(s, y):
    Rb, Rt, a, b, beta = s
    R = Rb + (Rt - Rb) * (y[0] + a) / (a + b)
    return soft_max([(y[1] ** 2 + y[2] ** 2) / R ** 2 - 1, -y[0] / a - 1, y[0] / b - 1], beta)


def ellipsoid(s, y):
    n = s[3]
    return sum(((y[k] / s[k]) ** 2) ** n for k in range(3)) ** (1 / (2 * n)) - 1


def cylinder(s, y):
    R, h, n = s
    return (((y[1] ** 2 + y[2] ** 2) / R ** 2) ** n + ((y[0] / h) ** 2) ** n) ** (1 / (2 * n)) - 1


def capsule(s, y):
    r, h, beta = s
    w = r / beta * ((1 + (beta * (y[0] - h) / r).exp()).ln()
                    + (1 + (-beta * (y[0] + h) / r).exp()).ln())
    return (y[1] ** 2 + y[2] ** 2 + w ** 2).sqrt() / r - 1


PHI = {"smooth_polytope": polytope, "truncated_cone": cone, "superellipsoid": ellipsoid,
       "superelliptic_cylinder": cylinder, "smooth_capsule": capsule}
NAMES = {"truncated_cone": ["Rb", "Rt", "a", "b", "beta"],
         "superelliptic_cylinder": ["R", "h", "n"], "smooth_capsule": ["r", "h", "beta"]}


def draw(family, sharp, rng):
    """The shape as the command takes it, and its numbers."""
    def length():
        return rng.uniform(.5, 1)

    if family == "smooth_polytope":
        b = [length() for _ in FACETS]
        numbers = [x for row in FACETS for x in row] + b + [.7, 20 * sharp]
        return {"shape": family, "A": FACETS, "b": b, "L": .7, "beta": 20 * sharp}, numbers
    if family == "superellipsoid":
        size, n = [length() for _ in range(3)], 1 + 2.5 * sharp
        return {"shape": family, "size": size, "n": n}, size + [n]
    names = NAMES[family]
    numbers = [length() for _ in names[1:]] + [1 + 2.5 * sharp if names[-1] == "n" else 20 * sharp]
    return dict(zip(names, numbers), shape=family), numbers


# ---- vectors

def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def add(a, s, b):
    return [x + s * y for x, y in zip(a, b)]


def multiply(A, B):
    return [[dot(row, column) for column in zip(*B)] for row in A]


def rotation(q):
    q = [D(x) for x in q]
    w, x, y, z = (c / dot(q, q).sqrt() for c in q)
    return [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]


def turned(w, R):
    """A rotation by the vector w, to its third power, which is enough."""
    K = [[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]]
    K2 = multiply(K, K)
    K3 = multiply(K2, K)
    E = [[(i == j) + K[i][j] + K2[i][j] / 2 + K3[i][j] / 6 for j in range(3)] for i in range(3)]
    return multiply(E, R)


def solve(A, b):
    """Gauss's method with pivots."""
    A, n = [list(row) + [x] for row, x in zip(A, b)], len(b)
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(A[i][k]))
        A[k], A[p] = A[p], A[k]
        for i in range(k + 1, n):
            A[i] = add(A[i], -A[i][k] / A[k][k], A[k])
    x = [D(0)] * n
    for k in reversed(range(n)):
        x[k] = (A[k][n] - dot(A[k][k + 1:n], x[k + 1:])) / A[k][k]
    return x


class Pair:
    """Two shapes at (position, rotation) in the world."""

    def __init__(self, families, sizes, poses):
        self.phi = [PHI[family] for family in families]
        self.sizes, self.poses = sizes, poses

    def moved(self, direction, h):
        sizes = [add(s, h, d) for s, d in zip(self.sizes, direction[1])]
        poses = [(add(p, h, w[3:]), turned([h * x for x in w[:3]], R))
                 for (p, R), w in zip(self.poses, direction[0])]
        other = Pair([], sizes, poses)
        other.phi = self.phi
        return other

    def value(self, k, x):
        """phi of shape k at a point of the world."""
        p, R = self.poses[k]
        return self.phi[k](self.sizes[k], [dot(column, add(x, -1, p)) for column in zip(*R)])

    def gradient(self, k, x):
        axes = [[D(i == j) for j in range(3)] for i in range(3)]
        return [(self.value(k, add(x, TINY, e)) - self.value(k, add(x, -TINY, e))) / (2 * TINY)
                for e in axes]

    def residual(self, u):
        """Of the touch at (x, s, l1, l2), the shapes scaled by s about their origins:
        phi_i(p_i + (x - p_i)/s) = 0, l1 g1 + l2 g2 = 0, l1 g1.(x - p_1) + l2 g2.(x - p_2) = 1."""
        x, s, l = u[:3], u[3], u[4:]
        y = [add(p, 1 / s, add(x, -1, p)) for p, _ in self.poses]
        g = [self.gradient(k, y[k]) for k in range(2)]
        one = sum(l[k] * dot(g[k], add(x, -1, self.poses[k][0])) for k in range(2)) - 1
        return [self.value(k, y[k]) for k in range(2)] + add([l[0] * c for c in g[0]], l[1], g[1]) \
            + [one]

    def jacobian(self, u, h=D("1e-8")):
        columns = []
        for k in range(6):
            e = [h * (k == i) for i in range(6)]
            columns.append([(p - m) / (2 * h) for p, m in
                            zip(self.residual(add(u, 1, e)), self.residual(add(u, -1, e)))])
        return [list(row) for row in zip(*columns)]

    def solve(self, u, J):
        """From a start that is nearly the solution, with a matrix that is nearly right."""
        for _ in range(30):
            du = solve(J, self.residual(u))
            u = add(u, -1, du)
            if max(abs(d) for d in du) < D("1e-36"):
                return u
        raise ArithmeticError("no solution")

    def outputs(self, u):
        """alpha, x, normal, gap."""
        r = add(self.poses[1][0], -1, self.poses[0][0])
        p = self.poses[0][0]
        g = self.gradient(0, add(p, 1 / u[3], add(u[:3], -1, p)))
        length = dot(g, g).sqrt()
        return [[u[3]], u[:3], [c / length for c in g], [(1 - 1 / u[3]) * dot(r, r).sqrt()]]


class Digits(cli.Case):
    def case(self, families, sharp, rng):
        """Worst errors of alpha and of all, and the condition."""
        shapes, sizes, poses = [], [], []
        for k, family in enumerate(families):
            shape, numbers = draw(family, sharp, rng)
            pos = [k * rng.uniform(.8, 2), rng.uniform(-.8, .8), rng.uniform(-.8, .8)]
            quat = [rng.gauss(0, 1) for _ in range(4)]
            shapes.append(dict(shape, pose=pos + quat))
            sizes.append([D(x) for x in numbers])
            poses.append(([D(x) for x in pos], rotation(quat)))
        r = self.run_json("contact", self.write("q.json", {
            "model": "implicit_surface", "a": shapes[0], "b": shapes[1], "derivatives": True,
            "sizes": True}))
        pair = Pair(families, sizes, poses)
        # l of the residual's scaling by any solution of its linear part.
        x, s = [D(c) for c in r["x"]], D(r["alpha"])
        y = [add(p, 1 / s, add(x, -1, p)) for p, _ in poses]
        g = [pair.gradient(k, y[k]) for k in range(2)]
        ratio = dot(g[0], g[0]).sqrt() / dot(g[1], g[1]).sqrt()
        along = dot(g[0], add(x, -1, poses[0][0])) + ratio * dot(g[1], add(x, -1, poses[1][0]))
        u = x + [s, 1 / along, ratio / along]
        J = pair.jacobian(u)
        u = pair.solve(u, J)
        direction = [[[D(rng.gauss(0, 1)) for _ in range(6)] for _ in range(2)],
                     [[D(rng.uniform(.1, .5)) * abs(x) for x in s] for s in sizes]]
        ends = [other.outputs(other.solve(u, J))
                for other in (pair.moved(direction, h) for h in (STEP, -STEP))]
        errors = []
        for i, name in enumerate(("alpha", "x", "normal", "gap")):
            wanted = [(p - m) / (2 * STEP) for p, m in zip(ends[0][i], ends[1][i])]
            by = "point" if name == "x" else name
            rows = [r["d" + name], r["sizes_a"][by], r["sizes_b"][by]]
            if name in ("alpha", "gap"):
                rows = [[row] for row in rows]
            twist = direction[0][0] + direction[0][1]
            found = [sum(dot([D(c) for c in row[k]], d) for row, d in
                         zip(rows, (twist, *direction[1]))) for k in range(len(wanted))]
            size = max(abs(w) for w in wanted)
            errors.append(float(max(abs(f - w) for f, w in zip(found, wanted)) / size))
        return errors[0], max(errors), r["condition"]

    def test_all_pairs(self):
        """1e-8 of each output where the condition is below 1e8; alpha's everywhere."""
        rng, worst = random.Random(5), {}
        names = list(PHI)
        pairs = list(itertools.combinations_with_replacement(names, 2)) if CASES else \
            [*zip(names, names), *zip(names, names[1:] + names[:1])]
        for families in pairs:
            for k in range(max(CASES, 1)):
                alpha, every, condition = self.case(families, (.4, 1, 3)[(k + len(worst)) % 3], rng)
                name = " ".join(families)
                worst[name] = max(worst.get(name, 0), every if condition < 1e8 else alpha)
                self.assertLess(alpha, 1e-8, (families, condition))
                if condition < 1e8:
                    self.assertLess(every, 1e-8, (families, condition))
        print("relative errors: %.1e at most" % max(worst.values()), file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
