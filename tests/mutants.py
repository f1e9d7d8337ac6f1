#!/usr/bin/env python3
"""Checks the list of mutants that change nothing: each names a line of the code and a reason.

First proves, on a small tree, that each check can fail.
"""
import os
import sys
import tempfile

SOURCE = os.environ.get("DIJOCO_SOURCE") or os.path.dirname(os.path.dirname(
    os.path.abspath(__file__)))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "scripts"))
from mutation import equivalents  # noqa: E402

BAD = [("# Why.\nb.c\n-x = 1;\n+x = 2;\n", "no such file"),
       ("# Why.\na.c\n-x = 3;\n+x = 2;\n", "no such line"),
       ("# Why.\na.c\n-x = 1;\n+x  =  1;\n", "changes nothing"),
       ("# Why.\na.c\n-x = 1;\n+x = 2;\na.c\n-x = 1;\n+x = 2;\n", "twice"),
       ("# Why.\na.c\n-x = 1;\n+x = 2;\nb.c\n+x = 2;\n", "no such file"),
       ("a.c\n-x = 1;\n+x = 2;\n", "no reason")]


def self_test():
    with tempfile.TemporaryDirectory() as root:
        with open(os.path.join(root, "a.c"), "w") as f:
            f.write("void f(void) {\n  x = 1;\n}\n")

        def errors(text):
            return equivalents.errors_of(equivalents.entries(text), root)

        good = "# Why,\n# at length.\na.c\n-  x = 1;\n+  x = 2;\na.c\n-x = 1;\n+;\n"
        failures = ["rejects a good list: %s" % errors(good)] if errors(good) else []
        for text, expected in BAD:
            if not any(e.endswith(expected) for e in errors(text)):
                failures.append("misses: %s" % expected)
    return ["self-test: " + f for f in failures]


def main():
    list_ = equivalents.read()
    found = self_test() + ["equivalent.txt:" + e for e in equivalents.errors_of(list_, SOURCE)]
    if len(list_) < 50:
        found.append("equivalent.txt: %d entries: is it read?" % len(list_))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
