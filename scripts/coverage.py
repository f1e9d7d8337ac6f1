#!/usr/bin/env python3
"""Prints line coverage per source file from gcov's data below a build folder: `coverage.py DIR`."""
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ("core/", "mujoco_plugin/", "tools/")


def main():
    lines = {}  # file -> line -> executions, over all programs
    for path, _, names in os.walk(os.path.abspath(sys.argv[1])):
        for name in names:
            if not name.endswith(".gcda"):
                continue
            text = subprocess.run(["gcov", "--json-format", "--stdout", name], cwd=path,
                                  check=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True).stdout
            report = json.loads(text)
            for entry in report["files"]:
                source = os.path.join(report["current_working_directory"], entry["file"])
                source = os.path.relpath(source, ROOT)
                if not source.startswith(FOLDERS):
                    continue
                counts = lines.setdefault(source, {})
                for line in entry["lines"]:
                    number = line["line_number"]
                    counts[number] = counts.get(number, 0) + line["count"]
    run_sum = all_sum = 0
    for source in sorted(lines):
        run = sum(1 for count in lines[source].values() if count)
        run_sum, all_sum = run_sum + run, all_sum + len(lines[source])
        print("%-50s %5d of %5d lines  %5.1f%%"
              % (source, run, len(lines[source]), 100.0 * run / max(1, len(lines[source]))))
    print("%-50s %5d of %5d lines  %5.1f%%"
          % ("total", run_sum, all_sum, 100.0 * run_sum / max(1, all_sum)))


if __name__ == "__main__":
    main()
