#!/usr/bin/env python3
"""Timings of this tree against those of another commit, in one run: both take turns.

usage: scripts/bench.sh --against COMMIT [--rounds N] [bench's own options, e.g. --filter stack]

The other commit is built in build/against/. Of every line the least of its rounds counts. The
spread of a line is that of the other commit against itself: its slowest round over its fastest.
Exit status 1: the geometric mean of the ratios is above 1.03, or a line is slower by more than 5%
beyond its spread.
"""
import argparse
import json
import math
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], check=True, capture_output=True,
                          text=True).stdout.strip()


def build(commit):
    """The command of that commit."""
    tree = os.path.join(ROOT, "build", "against", commit)
    if not os.path.exists(os.path.join(tree, "CMakeLists.txt")):
        git("worktree", "prune")
        git("worktree", "add", "--force", "--detach", tree, commit)
    os.makedirs(os.path.join(tree, "build"), exist_ok=True)
    deps = os.path.join(tree, "build", "deps")
    if not os.path.lexists(deps):
        os.symlink(os.path.join(ROOT, "build", "deps"), deps)
    subprocess.run(["sh", os.path.join(tree, "scripts", "build.sh"), "release"], check=True,
                   stdout=subprocess.DEVNULL)
    return os.path.join(tree, "build", "bin", "dijoco")


def measure(command, options):
    """Microseconds by name."""
    out = subprocess.run([command, "bench", "--json", *options], check=True, capture_output=True,
                         text=True).stdout
    return {line["name"]: line["ours"] for line in json.loads(out)["results"]}


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench.sh", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", metavar="COMMIT", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    own, options = parser.parse_known_args()
    commit = git("rev-parse", "--short", own.against + "^{commit}")
    commands = {"then": build(commit), "now": os.path.join(ROOT, "build", "bin", "dijoco")}
    rounds = {"then": [], "now": []}
    for k in range(own.rounds):
        for who in ("then", "now") if k % 2 == 0 else ("now", "then"):
            print("round %d of %d: %s" % (k + 1, own.rounds, who), file=sys.stderr)
            rounds[who].append(measure(commands[who], options))
    names = [n for n in rounds["now"][0] if all(n in r for r in rounds["then"] + rounds["now"])]
    print("%-40s %12s %12s %8s %8s" % ("microseconds", commit, "this tree", "ratio", "spread"))
    logs, slow = [], []
    for name in names:
        then, now = ([r[name] for r in rounds[who]] for who in ("then", "now"))
        ratio, spread = min(now) / min(then), max(then) / min(then)
        logs.append(math.log(ratio))
        worse = ratio > 1.05 * spread
        slow += [name] if worse else []
        print("%-40s %12.3f %12.3f %8.3f %8.3f%s" % (name, min(then), min(now), ratio, spread,
                                                  "  slower" if worse else ""))
    if not logs:
        sys.exit("bench: no line has been timed by both")
    mean = math.exp(sum(logs) / len(logs))
    print("geometric mean of %d ratios: %.3f; lines slower by 5%% beyond their spread: %d" % (
        len(logs), mean, len(slow)))
    sys.exit(1 if mean > 1.03 or slow else 0)


if __name__ == "__main__":
    main()
