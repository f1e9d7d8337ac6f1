#!/usr/bin/env python3
"""What `dijoco sweep` costs on 1, 2, 4 ranks of mpirun, and what a model of it says of 1,000 cores.

    scripts/bench_sweep.py [--task TASK.json] [--samples N] [--ranks 1,2,4] [--runs R] [--optimize]

Of k ranks with a thread each on a machine of C processors, N samples are to take

    T(k) = a + N s/min(k, C) + N w,    and    k a + N (s + w) seconds of processors,

a: start of a rank (reads the scene), s: for a sample, its lock and its line included, w: to write a
line of the table, which the last rank does alone. One rank measures a and s, by N and N/4 samples,
in seconds of the processor, which others on the machine hardly change; w is what reading and
writing as many lines takes. The rows check the model, and that all tables are the same to the bit.
Wall times of one rank far above the model's say that something else was running. Best of R runs.
"""
import argparse
import os
import resource
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DIJOCO = os.environ.get("DIJOCO_BIN", os.path.join(ROOT, "build/bin/dijoco"))
CORES = len(os.sched_getaffinity(0))
MANY = 1000            # cores of the prediction


def sweep(args, ranks, samples, out):
    """Wall and processor seconds of a sweep, and the folder that it leaves."""
    shutil.rmtree(out, ignore_errors=True)
    command = [DIJOCO, "sweep", args.task, "--random", str(samples), "--spread", "0.01", "--seed",
               "1", "--threads", "1", "--quiet", "--out", out] + args.optimize * ["--optimize"]
    if ranks > 1:
        command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n",
                   str(ranks)] + command
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        sys.exit("bench_sweep: %s\n%s" % (" ".join(command), done.stdout))
    return wall, (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


def best(args, ranks, samples, out):
    return tuple(map(min, zip(*(sweep(args, ranks, samples, out) for _ in range(args.runs)))))


def table(out):
    with open(os.path.join(out, "samples.csv"), "rb") as f:
        return f.read()


def folder_bytes(out):
    return sum(os.path.getsize(os.path.join(path, name))
               for path, _, names in os.walk(out) for name in names)


def line_seconds(text):
    """To read and write a line of a table."""
    lines, start, times = text.splitlines(True), time.perf_counter(), 0
    while time.perf_counter() - start < 0.2:
        b"".join(sorted(text.splitlines(True)))
        times += 1
    return (time.perf_counter() - start) / times / len(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", default=os.path.join(ROOT, "models/push_arm/task.json"))
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--optimize", action="store_true")
    parser.add_argument("--out", default=os.path.join(ROOT, "build/bench_sweep"))
    args = parser.parse_args()
    ranks = [int(k) for k in args.ranks.split(",")]
    if ranks[0] != 1:
        sys.exit("bench_sweep: begins with 1 rank")
    if not shutil.which("mpirun"):
        print("there is no mpirun: 1 rank")
        ranks = [1]
    n = args.samples
    _, few = best(args, 1, max(1, n // 4), args.out)
    wall, processor = best(args, 1, n, args.out)
    text, size = table(args.out), folder_bytes(args.out)
    w = line_seconds(text)
    s = max(0.0, (processor - few) / (n - max(1, n // 4)) - w)
    a = max(0.0, processor - n * (s + w))
    print("%s, %d samples%s; %d processors" % (os.path.relpath(args.task, ROOT), n,
                                               ", each optimised" * args.optimize, CORES))
    print("start %.3g s, a sample %.3g s, a line of the table %.2g s and %d bytes; folder %d "
          "bytes a sample" % (a, s, w, round(len(text) / n), round(size / n)))
    print("%6s %10s %10s %10s %14s %10s" % ("ranks", "wall s", "model s", "speedup",
                                            "processors' s", "model s"))
    same = True
    for k in ranks:
        now, used = (wall, processor) if k == 1 else best(args, k, n, args.out)
        model = a + n * s / min(k, CORES) + n * w
        same = same and table(args.out) == text
        print("%6d %10.3f %10.3f %10.2f %14.3f %10.3f" % (k, now, model, wall / now, used,
                                                        k * a + n * (s + w)))
    print("tables: %s" % ("the same to the bit" if same else "DIFFER"))
    much = 1000 * MANY
    serial, parallel = a + much * w, much * s / MANY
    print("model, %d samples on %d cores: %.3g s, of which %.3g s are start and table; speedup "
          "%.0f; %.3g MB on disk, %.3g MB/s while it runs" % (
              much, MANY, serial + parallel, serial, (a + much * (s + w)) / (serial + parallel),
              much * size / n / 1e6, MANY / max(s, 1e-9) * size / n / 1e6))
    shutil.rmtree(args.out, ignore_errors=True)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
