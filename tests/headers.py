#!/usr/bin/env python3
"""Every internal header is included by a test (tests/*.c, and what they share in tests/common and
tests/kernels): its module is tested by itself. First proves, on a small tree, that it can fail."""
import glob
import os
import re
import sys
import tempfile

FOLDERS = ("core/src", "mujoco_plugin", "tools")
TESTS = ("*.c", "common/*", "kernels/*")


def headers(root):
    """{as included: path} of internal headers; public ones have an include/ in their path."""
    found = {}
    for folder in FOLDERS:
        for path in glob.glob(os.path.join(glob.escape(root), folder, "**/*.h"), recursive=True):
            name = os.path.relpath(path, os.path.join(root, folder))
            if not name.startswith("include" + os.sep):
                found[name] = os.path.relpath(path, root)
    return found


def included(root):
    names = set()
    for pattern in TESTS:
        for path in glob.glob(os.path.join(glob.escape(root), "tests", pattern)):
            with open(path, encoding="utf-8") as f:
                names |= set(re.findall(r'^#include "([^"]+)"', f.read(), re.M))
    return names


def problems(root):
    found, names = headers(root), included(root)
    for name, path in sorted(found.items()):
        if name not in names:
            yield "%s: no test includes it" % path


def self_test():
    files = {"core/src/math/a.h": "", "tools/c.h": "",
             "mujoco_plugin/include/dijoco/p.h": "", "mujoco_plugin/engine/e.h": "",
             "tests/test_a.c": '#include "math/a.h"\n#include "engine/e.h"\n',
             "tests/common/x.h": '#include "c.h"\n'}
    changes = [({}, None), ({"tests/common/x.h": ""}, "tools/c.h: no test"),
               ({"core/src/math/b.h": ""}, "core/src/math/b.h: no test"),
               ({"core/src/math/b.h": "", "tests/test_b.c": '#include "math/b.h"\n'}, None)]
    for change, expected in changes:
        with tempfile.TemporaryDirectory() as root:
            for name, text in dict(files, **change).items():
                path = os.path.join(root, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as f:
                    f.write(text)
            found = list(problems(root))
        if len(found) != (expected is not None) or not all(expected in text for text in found):
            yield "self-test: expected %s, not %s" % (expected, found)


def main():
    errors = list(self_test()) + list(problems(os.environ["DIJOCO_SOURCE"]))
    print("\n".join(errors) or "every header is included by a test")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
