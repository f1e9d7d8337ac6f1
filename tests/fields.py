#!/usr/bin/env python3
"""Every field of a public struct has a comment; of real numbers it names the unit, of arrays of
numbers the shape. First proves, on a changed header, that each rule can fail."""
import os
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = os.environ["DIJOCO_SOURCE"]
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import headers  # noqa: E402

# SI, "1", or words: "unit vector", "quaternions", "rotations", "units of the loss", "bits".
UNIT = re.compile(r"(?<![\w'-])(?:m|s|kg|rad|N|J|Pa|1)(?![\w'])|\bunits?\b|\bquaternions?\b")
SHAPE = re.compile(r"^\([^)]+\)")  # rows of tables have it beside their names


def problems(root):
    for name, fields in headers.structs(root).items():
        for field in fields:
            where = "%s:%d: %s.%s: " % (field.header, field.line, name, field.name)
            if not field.comment:
                yield where + "no comment"
                continue
            if re.match(r"(const )?double\b", field.type) and not UNIT.search(field.comment):
                yield where + "no unit: " + field.comment
            array = re.fullmatch(r"(?:const )?(?:double|int)\*", field.type) and not field.row
            if array and not SHAPE.search(field.comment):
                yield where + "no shape: " + field.comment


TYPES, MODEL = "core/include/dijoco/types.h", "core/include/dijoco/model.h"
CHANGES = [  # header, what stands there, what then does, what the message shows
    (TYPES, "  double density;           // kg/m^3, of the medium", "  double density;",
     "djOption.density: no comment"),
    (TYPES, "  int max_iterations;       // of", "  int max_iterations;\n  // of",
     "djOption.max_iterations: no comment"),
    (TYPES, "// kg/m^3, of the medium", "// of the medium's mass", "djOption.density: no unit"),
    (MODEL, "/* kg */", "", "djModel.body_mass: no comment"),
    (MODEL, "/* kg */", "/* mass */", "djModel.body_mass: no unit"),
    (MODEL, "// (nvert x 3) m", "// m", "djMeshDef.vert: no shape"),
]


def self_test():
    for header, old, new, expected in CHANGES:
        with tempfile.TemporaryDirectory() as folder:
            for part in ("core/include", "mujoco_plugin/include"):
                shutil.copytree(os.path.join(ROOT, part), os.path.join(folder, part))
            path = os.path.join(folder, header)
            with open(path, encoding="utf-8") as f:
                text = f.read()
            with open(path, "w", encoding="utf-8") as f:
                f.write(text.replace(old, new, 1))
            found = list(problems(folder))
        if not any(expected in text for text in found):
            yield "self-test: misses '%s': %s" % (expected, found)


def main():
    errors = list(problems(ROOT)) or list(self_test())
    print("\n".join(errors) or "every field has a comment, with unit and shape")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
