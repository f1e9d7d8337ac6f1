#!/usr/bin/env python3
"""Public structs are laid out as tests/abi/structs.txt has them, by every compiler that is here, or
else SOVERSION has been raised; the library has that SOVERSION. First proves, on changed copies of
the headers, that each check can fail."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = os.environ["DIJOCO_SOURCE"]
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import abi  # noqa: E402
import headers  # noqa: E402

TYPES, MODEL = "core/include/dijoco/types.h", "core/include/dijoco/model.h"
PLUGIN = "mujoco_plugin/include/dijoco/mujoco.h"
CHANGES = [  # header, what stands there, what then does, what the message shows
    (TYPES, "  double viscosity;", "  float viscosity;",
     "djOption: '64 viscosity float' was '64 viscosity double'"),
    (TYPES, "  int max_iterations;", "  unsigned max_iterations;",
     "max_iterations unsigned"),  # same offsets
    (MODEL, "  X(int, body_root, nbody, 1)", "  X(long, body_root, nbody, 1)", "body_root long*"),
    (MODEL, "  int body1, body2;", "  int body2, body1;",
     "djExcludeDef: '0 body2 int' was '0 body1 int'"),
    (PLUGIN, "  int substeps;", "  int more;\n  int substeps;", "djmStepOption: '0 more int'"),
]


def copied(folder, change):
    """A tree of public headers with this change."""
    for part in ("core/include", "mujoco_plugin/include"):
        shutil.copytree(os.path.join(ROOT, part), os.path.join(folder, part))
    header, old, new, _ = change
    path = os.path.join(folder, header)
    with open(path, encoding="utf-8") as f:
        text = f.read()
    if text.count(old) != 1:
        sys.exit("abi: self-test: %s has not one %r" % (header, old))
    with open(path, "w", encoding="utf-8") as f:
        f.write(text.replace(old, new))


def self_test(stored, compiler):
    for change in CHANGES:
        with tempfile.TemporaryDirectory() as folder:
            copied(folder, change)
            found = abi.complaint(stored, abi.layout(folder, compiler), stored[0])
        if change[3] not in found or "Raise SOVERSION" not in found or "make abi" not in found:
            yield "self-test: misses %r: %s" % (change[2], found)
    if "make abi" not in abi.complaint(stored, stored[1], stored[0] + "9"):
        yield "self-test: misses a list of another SOVERSION"


def built_soversion():
    library = os.path.join(os.environ["DIJOCO_BUILD"], "lib/libdijoco.so")
    text = subprocess.run(["readelf", "-d", library], check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    return re.search(r"SONAME.*\[libdijoco\.so\.([0-9.]+)\]", text).group(1)


def main():
    if not abi.applies():
        print("The list is of Linux on x86_64.")
        return 77
    stored, soversion = abi.read(os.path.join(ROOT, abi.LIST)), headers.soversion(ROOT)
    compilers = {os.environ.get("DIJOCO_CC", "cc"), *filter(shutil.which, ("gcc", "clang"))}
    errors = []
    for compiler in sorted(compilers):
        found = abi.complaint(stored, abi.layout(ROOT, compiler), soversion)
        errors += ["%s: %s" % (compiler, found)] if found else []
    if built_soversion() != soversion:
        errors.append("libdijoco.so is of SOVERSION %s, the headers are of %s"
                      % (built_soversion(), soversion))
    errors = errors or list(self_test(stored, min(compilers)))
    print("\n".join(errors) or "laid out as stored, by %s" % ", ".join(sorted(compilers)))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
