#!/usr/bin/env python3
"""Runs validation programs at full length, one after the other, and prints one table.

What is run: the lines of validation/ctest.txt without --quick. What each claims: the table "What
was checked" of README.md. Arguments: names of programs; none: all. The table, with date, processor,
commit and compiler, goes to build/validate/table.md, outputs beside it.
"""
import datetime
import os
import re
import resource
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def listed_runs():
    """Command lines at full length, in the order of validation/ctest.txt, each once."""
    lines = [line.split() for line in read("validation", "ctest.txt").splitlines()
             if line.strip() and not line.startswith("#")]
    runs = []
    for words in lines:
        run = [word for word in words if word not in ("full", "--quick")]
        if run not in runs:
            runs.append(run)
    return runs


def claims():
    """Claim of each program in README's table."""
    section = read("README.md").split("## What was checked")[1]
    found = {}
    for names, claim in re.findall(r"^\| (`[^|]*`) \| ([^|]*) \|", section, re.M):
        for name in re.findall(r"`(\w+)`", names):
            found[name] = claim.strip()
    return found


def disagreements():
    """What the programs, README's table and validation/ctest.txt do not agree on."""
    programs = {name[:-2] for name in os.listdir(os.path.join(ROOT, "validation"))
                if name.endswith(".c")}
    found = []
    for place, names in (("README.md", set(claims())),
                         ("validation/ctest.txt", {run[0] for run in listed_runs()})):
        found += ["%s is not in %s" % (name, place) for name in sorted(programs - names)]
        found += ["%s in %s: there is no such program" % (name, place)
                  for name in sorted(names - programs)]
    return found


def output_of(*command):
    try:
        return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.DEVNULL, check=False).stdout.strip()
    except OSError:
        return ""


def machine():
    """Date, commit, processor and compiler, as one line."""
    cpu = re.search(r"model name\s*: (.*)", open("/proc/cpuinfo", encoding="utf-8").read()
                    if os.path.exists("/proc/cpuinfo") else "")
    cache = read("build", "CMakeCache.txt")
    compiler = re.search(r"^CMAKE_C_COMPILER:\w+=(.*)", cache, re.M).group(1)
    native = re.search(r"^DIJOCO_NATIVE:\w+=(.*)", cache, re.M).group(1)
    commit = output_of("git", "rev-parse", "--short", "HEAD") or "no commit"
    if output_of("git", "status", "--porcelain"):
        commit += " with changes"
    return "%s, commit %s, %s, %s%s" % (
        datetime.date.today(), commit, cpu.group(1) if cpu else "unknown processor",
        output_of(compiler, "--version").split("\n")[0],
        "" if native == "ON" else ", portable")


def run(words, folder):
    """Runs one line. Returns (verdict, figures, processor time in seconds)."""
    program = os.path.join(ROOT, "build", "bin", "validation_" + words[0])
    environment = dict(os.environ, OPENBLAS_NUM_THREADS="1")
    environment.setdefault("DIJOCO_GYMNASIUM", os.path.join(ROOT, "build", "deps", "gymnasium"))
    log = os.path.join(folder, "_".join(words).replace("-", "") + ".txt")
    start = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    try:
        with open(log, "w", encoding="utf-8") as file:
            status = subprocess.run([program] + words[1:], cwd=ROOT, stdout=file, check=False,
                                    stderr=subprocess.STDOUT, env=environment).returncode
    except OSError as error:
        return str(error), "", 0.0
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - start
    with open(log, encoding="utf-8") as file:
        text = file.read()
    met = re.findall(r"^(\d+) of (\d+) targets met", text, re.M)
    figures = "; ".join(re.findall(r"^figure: (.*)", text, re.M))
    if status == 0 and met and met[-1][0] == met[-1][1] != "0":
        return "%s of %s" % met[-1], figures, seconds
    if status == 77:
        return "NOT CHECKED", figures, seconds
    return "MISS: " + ("%s of %s" % met[-1] if met else "status %d" % status), figures, seconds


def main():
    wrong = disagreements()
    for line in wrong:
        print("validate: " + line, file=sys.stderr)
    only, known = set(sys.argv[1:]), claims()
    for name in sorted(only - set(known)):
        wrong.append(name)
        print("validate: there is no program %s" % name, file=sys.stderr)
    if wrong:
        return 2
    folder = os.path.join(ROOT, "build", "validate")
    os.makedirs(folder, exist_ok=True)
    failed, rows = 0, []

    def add(row):
        rows.append(row)
        print(row, flush=True)

    add("%s\n" % machine())
    add("| program | claim | measured | targets met | CPU s |\n|---|---|---|---|---|")
    for words in listed_runs():
        if only and words[0] not in only:
            continue
        verdict, figures, seconds = run(words, folder)
        failed += not verdict[0].isdigit()
        add("| `%s` | %s | %s | %s | %.0f |"
            % (" ".join(words), known[words[0]], figures, verdict, seconds))
    with open(os.path.join(folder, "table.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(rows) + "\n")
    print("\nvalidate: %s" % ("passed" if not failed else "%d FAILED" % failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
