#!/usr/bin/env python3
"""Builds the core by several compilers and settings, and compares what each makes of the scenes of
tests/references with the stored results: one table of the largest relative differences."""
import os
import re
import shlex
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILDS = [  # name, compiler, settings
    ("gcc -O3", "gcc", []),
    ("gcc -O2", "gcc", ["-DCMAKE_C_FLAGS_RELEASE=-O2"]),
    ("portable", "gcc", ["-DDIJOCO_NATIVE=OFF"]),
    ("no fma", "gcc", ["-DDIJOCO_FP_CONTRACT=off"]),
] + [(name, name, []) for name in ["clang"] + ["clang-%d" % k for k in range(14, 22)]]


def version(compiler):
    run = subprocess.run([compiler, "--version"], stdout=subprocess.PIPE, text=True, check=True)
    return run.stdout.split("\n")[0]


def installed_builds():
    """Those whose compiler is there; a compiler of two names counts once."""
    seen, builds = set(), []
    for name, compiler, settings in BUILDS:
        if not shutil.which(compiler):
            continue
        key = (version(compiler), tuple(settings))
        if key not in seen:
            seen.add(key)
            builds.append((name, compiler, settings))
    return builds


def build(name, compiler, settings):
    """Returns the program, or None with the build's output on standard error."""
    folder = os.path.join(ROOT, "build", "references", re.sub(r"\W+", "", name))
    os.makedirs(folder, exist_ok=True)
    more = shlex.split(os.environ.get("DIJOCO_CMAKE_ARGS", ""))
    for command in (["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_C_COMPILER=" + compiler,
                     "-DCMAKE_BUILD_TYPE=Release", "-DDIJOCO_WITHOUT_MUJOCO=ON"] + more + settings,
                    ["cmake", "--build", folder, "--target", "references", "-j",
                     str(os.cpu_count() or 2)]):
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             check=False)
        if run.returncode:
            print("references: %s: %s" % (name, run.stdout[-3000:]), file=sys.stderr)
            return None
    return os.path.join(folder, "bin", "tests", "references")


def compare(program):
    """Status, and {vector: (difference, tolerance)}."""
    run = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         env=dict(os.environ, OPENBLAS_NUM_THREADS="1"), check=False)
    rows = re.findall(r"^(\w.*?) +\d+ +(\d\S*|inf|nan) +(\d\S*)", run.stdout, re.M)
    if run.returncode and not rows:
        print(run.stdout, file=sys.stderr)
    return run.returncode, {name.strip(): (float(d), float(t)) for name, d, t in rows}


def main():
    builds, failed, columns = installed_builds(), [], []
    if len({compiler for _, compiler, _ in builds}) < 2:
        print("references: gcc and clang are needed", file=sys.stderr)
        return 1
    for name, compiler, settings in builds:
        print("%-9s %s" % (name, version(compiler)), flush=True)
        program = build(name, compiler, settings)
        status, rows = compare(program) if program else (1, {})
        columns.append((name, rows))
        if status or not rows:
            failed.append(name)
    print("\n%-25s" % "largest difference" + "".join("%10s" % name for name, _ in columns)
          + " tolerance")
    for vector, (_, tolerance) in max((rows for _, rows in columns), key=len).items():
        print("%-25s" % vector + "".join("%10.0e" % rows.get(vector, (float("nan"),))[0]
                                         for _, rows in columns) + "%10.0e" % tolerance)
    print("\nreferences: %s" % ("FAILED: " + ", ".join(failed) if failed else "passed"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
