#!/usr/bin/env python3
"""Checks that the changes of tests/edits apply and touch as many files as CONTRIBUTING.md says.

First proves, on a patch of its own, that one which does not is found. scripts/edit_counts does the
changes, too.
"""
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import tempfile

SOURCE = os.environ.get("DIJOCO_SOURCE") or os.path.dirname(os.path.dirname(
    os.path.abspath(__file__)))
sys.dont_write_bytecode = True
SCRIPT = os.path.join(SOURCE, "scripts", "edit_counts")
loader = importlib.machinery.SourceFileLoader("edit_counts", SCRIPT)
edit_counts = importlib.util.module_from_spec(importlib.util.spec_from_loader("edit_counts", loader))
loader.exec_module(edit_counts)

PATCH = """title: a line
core: %d

diff --git a/core/a.c b/core/a.c
--- a/core/a.c
+++ b/core/a.c
@@ -1 +1 @@
-%s
+int b;
"""


def self_test():
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(os.path.join(root, "core"))
        with open(os.path.join(root, "core", "a.c"), "w", encoding="utf-8") as f:
            f.write("int a;\n")
        with open(os.path.join(root, "CONTRIBUTING.md"), "w", encoding="utf-8") as f:
            f.write("| a line | 1 | `tests/edits/x.patch` |\n")
        edit_counts.ROOT = edit_counts.EDITS = root
        failures = []
        for patch, expected in ((PATCH % (1, "int a;"), ""), (PATCH % (1, "int c;"), "not apply"),
                                (PATCH % (2, "int a;"), "touches 1 file")):
            with open(os.path.join(root, "x.patch"), "w", encoding="utf-8") as f:
                f.write(patch)
            found = "; ".join(edit_counts.Edit("x").problems())
            if expected not in found or bool(found) != bool(expected):
                failures.append("self-test: %r instead of %r" % (found, expected))
        os.rename(os.path.join(root, "x.patch"), os.path.join(root, "y.patch"))
        with open(os.path.join(root, "y.patch"), "w", encoding="utf-8") as f:
            f.write(PATCH % (1, "int a;"))
        if "does not say" not in "; ".join(edit_counts.Edit("y").problems()):
            failures.append("self-test: misses a promise that is not there")
    return failures


def main():
    failures = self_test()
    for line in failures:
        print(line)
    done = subprocess.run([sys.executable, SCRIPT, "--check"], check=False)
    return 1 if failures or done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
