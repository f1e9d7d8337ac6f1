#!/usr/bin/env python3
"""Times of IPC's barrier (ipctk) on the hull pairs of `dijoco bench`, beside ours.

For every pair: value, gradient and Hessian of the barrier with dhat equal to our barrier's range,
with and without the search for collisions, which ours contains. IPC's derivatives are by vertices
(3 n), ours by two twists (12); a Python call costs about a microsecond, which is included.

Needs `pip install ipctk scipy`; without them it says so and ends with status 0.
Usage: bench_ipc.py [--json] [DIJOCO]        (default: build/bin/dijoco)
"""
import json
import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
REPEATS = 5


def median(values):
    return sorted(values)[len(values) // 2]


def run_bench(program):
    """Our results by name, and the pairs that were timed."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "pairs.json")
        out = subprocess.run([program, "bench", "--filter", "/hull_", "--pairs", path, "--json"],
                             check=True, stdout=subprocess.PIPE)
        with open(path, encoding="utf-8") as file:
            return json.loads(out.stdout)["results"], json.load(file)


class HullPair:
    """Two hulls as one collision mesh; the vertices are moved from pose to pose."""

    def __init__(self, ipctk, numpy, hull, rest):
        faces = []
        for k, points in enumerate(rest):
            triangles = hull(points).simplices
            faces.append(triangles + k * len(rest[0]))
        self.ipctk = ipctk
        vertices = numpy.vstack(rest)
        triangles = numpy.vstack(faces).astype("int32")
        self.mesh = ipctk.CollisionMesh(vertices, ipctk.edges(triangles), triangles)

    def evaluate(self, barrier, vertices, dhat):
        """Seconds of the search and of the evaluation, and the barrier's value."""
        collisions = self.ipctk.NormalCollisions()
        t0 = time.perf_counter()
        collisions.build(self.mesh, vertices, dhat)
        t1 = time.perf_counter()
        value = barrier(collisions, self.mesh, vertices)
        barrier.gradient(collisions, self.mesh, vertices)
        barrier.hessian(collisions, self.mesh, vertices)
        return t1 - t0, time.perf_counter() - t1, value


def time_pairs(entry, ipctk, numpy, hull):
    """Medians in microseconds: all of it, and without the search."""
    dhat = entry["range"]
    barrier = ipctk.BarrierPotential(dhat, 1.0)
    poses = [[numpy.array(side, dtype=float) for side in pose] for pose in entry["pairs"]]
    placed = [numpy.asfortranarray(numpy.vstack(pose)) for pose in poses]
    pair = HullPair(ipctk, numpy, hull, poses[0])
    whole, part = [], []
    for repeat in range(REPEATS + 1):
        for vertices in placed:
            search, evaluation, value = pair.evaluate(barrier, vertices, dhat)
            if not value > 0:
                raise RuntimeError("%s: the barrier does not act" % entry["name"])
            if repeat > 0:
                whole.append(search + evaluation)
                part.append(evaluation)
    return 1e6 * median(whole), 1e6 * median(part)


def main():
    arguments = [a for a in sys.argv[1:] if a != "--json"]
    program = arguments[0] if arguments else os.path.join(ROOT, "build", "bin", "dijoco")
    try:
        import ipctk
        import numpy
        from scipy.spatial import ConvexHull
    except ImportError as error:
        print("skipped: %s (pip install ipctk scipy)" % error)
        return 0
    if hasattr(ipctk, "set_num_threads"):
        ipctk.set_num_threads(1)
    ours, pairs = run_bench(program)
    results = []
    for entry in pairs:
        whole, part = time_pairs(entry, ipctk, numpy, ConvexHull)
        for name, peer in (("IPC: search, value, gradient, Hessian", whole),
                           ("IPC: value, gradient, Hessian", part)):
            for result in ours:
                if result["name"].split("/")[1] != entry["name"]:
                    continue
                results.append({"name": result["name"], "unit": "us", "ours": result["ours"],
                                "peer_name": name, "peer": peer, "ratio": result["ours"] / peer,
                                "note": "ipctk %s, %d pairs" % (ipctk.__version__,
                                                               len(entry["pairs"]))})
    if "--json" in sys.argv[1:]:
        print(json.dumps({"results": results}, indent=1))
        return 0
    print("%-22s %10s %10s %8s  %s" % ("", "ours, us", "peer", "ratio", "peer"))
    for r in results:
        print("%-22s %10.3f %10.3f %8.4f  %s" % (r["name"], r["ours"], r["peer"], r["ratio"],
                                                 r["peer_name"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
