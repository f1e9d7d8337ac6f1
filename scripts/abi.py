#!/usr/bin/env python3
"""The binary interface: sizes of public structs, offsets and types of their fields, as C compilers
on Linux/x86_64 lay them out, and SOVERSION of the library that has them, in tests/abi/structs.txt.

    scripts/abi.py write    store what the headers give
    scripts/abi.py check    compare it with what is stored
"""
import itertools
import os
import platform
import re
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import headers  # noqa: E402  (leaves no bytecode)

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIST = "tests/abi/structs.txt"
HEAD = """\
# Layout of the public structs, which programs are compiled with: size; offset, name and type of
# each field. `make abi` writes this list; a change of it needs another SOVERSION.
"""
CHANGED = """Public structs have changed: a program compiled for libdijoco.so.%s would read and
write the wrong places. Raise SOVERSION (DJ_VERSION_MINOR in core/include/dijoco/types.h), then
rewrite the list: make abi"""
# No public struct holds one of MuJoCo's by value.
STUB = """#include <stdbool.h>
typedef struct mjModel_ mjModel;
typedef struct mjData_ mjData;
typedef double mjtNum;
typedef int mjtObj;
"""


def program(structs):
    """C that prints the layout."""
    lines = ["#include <dijoco/dijoco.h>", "#include <dijoco/mujoco.h>", "#include <stdio.h>",
             "int main(void) {"]
    for name, fields in structs.items():
        lines.append('  printf("%s %%zu\\n", sizeof(%s));' % (name, name))
        lines += ['  printf("  %%zu %s %s\\n", offsetof(%s, %s));' % (f.name, f.type, name, f.name)
                  for f in fields]
    return "\n".join(lines + ["}", ""])


def layout(root, compiler="cc"):
    """What a compiler makes of the headers below root: text."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "abi.c"), os.path.join(folder, "abi")
        os.mkdir(os.path.join(folder, "mujoco"))
        for path, text in ((source, program(headers.structs(root))),
                           (os.path.join(folder, "mujoco/mujoco.h"), STUB)):
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        include = [os.path.join(root, part, "include") for part in ("core", "mujoco_plugin")]
        subprocess.run([*shlex.split(compiler), "-std=c11", *("-I" + p for p in [*include, folder]),
                        source, "-o", out], check=True)
        return subprocess.run([out], check=True, stdout=subprocess.PIPE, text=True).stdout


def read(path):
    """(SOVERSION, layout) of a stored list; (None, "") where there is none."""
    if not os.path.exists(path):
        return None, ""
    with open(path, encoding="utf-8") as f:
        first, _, rest = "".join(line for line in f if line[0] != "#").partition("\n")
    return first.split()[1], rest


def structs_of(text):
    """{struct: its lines} of a layout."""
    blocks = re.split(r"^(?=\w)", text, flags=re.M)[1:]
    return {block.split()[0]: block.rstrip().split("\n") for block in blocks}


def changes(then, now):
    """A line for each struct that differs: where it does first."""
    then, now = structs_of(then), structs_of(now)
    for name in [*then, *(n for n in now if n not in then)]:
        if name not in now or name not in then:
            yield "%s is %s" % (name, "new" if name in now else "gone")
            continue
        pairs = itertools.zip_longest(then[name][1:], now[name][1:], fillvalue="nothing")
        for old, new in [p for p in pairs if p[0] != p[1]][:1]:
            yield "%s: '%s' was '%s'" % (name, new.strip(), old.strip())


def complaint(stored, now, soversion):
    """What is wrong with headers of this layout and SOVERSION beside a stored list; "": nothing."""
    old, then = stored
    if old == soversion and then != now:
        return "\n".join([*changes(then, now), CHANGED % soversion])
    if old != soversion:
        return "%s is of SOVERSION %s, the headers are of %s: make abi" % (LIST, old, soversion)
    return ""


def applies():
    """Whether this machine lays out structs as the list has them."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


def main(how):
    if how not in ("write", "check"):
        sys.exit("usage: scripts/abi.py write|check")
    if not applies():
        sys.exit("abi: the list is of Linux on x86_64")
    path, soversion = os.path.join(ROOT, LIST), headers.soversion(ROOT)
    stored, now = read(path), layout(ROOT, os.environ.get("CC", "cc"))
    wrong = complaint(stored, now, soversion)
    if how == "check" or (wrong and stored[0] == soversion):
        sys.exit(wrong or 0)
    with open(path, "w", encoding="utf-8") as f:
        f.write("%ssoversion %s\n%s" % (HEAD, soversion, now))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) == 2 else "")
