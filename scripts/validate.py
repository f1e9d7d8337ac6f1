#!/usr/bin/env python3
"""Runs validation programs at full length, one after the other, and prints one table.

What is run: the lines of validation/ctest.txt without --quick. What each claims: validation/claims.txt.
Arguments: names of programs; none: all. The table, with date, processor, commit and compiler, goes to
build/validate/table.md, outputs beside it. Each run's figures take the place of those that are recorded
(scripts/figures.py), so that a part of the programs renews its own.
"""
import os
import re
import resource
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import figures as record  # noqa: E402

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


def disagreements():
    """What the programs, validation/claims.txt and validation/ctest.txt do not agree on."""
    programs = {name[:-2] for name in os.listdir(os.path.join(ROOT, "validation"))
                if name.endswith(".c")}
    found = []
    for place, names in (("validation/claims.txt", set(record.claims(ROOT))),
                         ("validation/ctest.txt", {run[0] for run in listed_runs()})):
        found += ["%s is not in %s" % (name, place) for name in sorted(programs - names)]
        found += ["%s in %s: there is no such program" % (name, place)
                  for name in sorted(names - programs)]
    return found


def run(words, folder):
    """Runs one line. Returns (verdict, figures, processor time in seconds, output)."""
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
        return str(error), "", 0.0, ""
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - start
    with open(log, encoding="utf-8") as file:
        text = file.read()
    met = re.findall(r"^(\d+) of (\d+) targets met", text, re.M)
    figures = "; ".join(re.findall(r"^figure: (.*)", text, re.M))
    if status == 0 and met and met[-1][0] == met[-1][1] != "0":
        return "%s of %s" % met[-1], figures, seconds, text
    if status == 77:
        return "NOT CHECKED", figures, seconds, text
    missed = "%s of %s" % met[-1] if met else "status %d" % status
    return "MISS: " + missed, figures, seconds, text


def main():
    wrong = disagreements()
    for line in wrong:
        print("validate: " + line, file=sys.stderr)
    only, known = set(sys.argv[1:]), record.claims(ROOT)
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

    where = record.machine()
    add("%s\n" % record.told(where))
    add("| program | claim | measured | targets met | CPU s |\n|---|---|---|---|---|")
    for words in listed_runs():
        if only and words[0] not in only:
            continue
        verdict, figures, seconds, text = run(words, folder)
        if verdict.startswith("MISS: ") or verdict[0].isdigit():
            record.record_run(words, figures, verdict, seconds, where, text)
        failed += not verdict[0].isdigit()
        add("| `%s` | %s | %s | %s | %.0f |"
            % (" ".join(words), known[words[0]], figures, verdict, seconds))
    with open(os.path.join(folder, "table.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(rows) + "\n")
    for line in record.write(ROOT):
        print("validate: " + line, file=sys.stderr)
    print("\nvalidate: %s" % ("passed" if not failed else "%d FAILED" % failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
