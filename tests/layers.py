#!/usr/bin/env python3
"""Checks what the sources include and call: the layers of core/src, and what each folder may do.

Run without arguments: first proves on small bad trees that every rule can fail, then checks the
tree itself (DIJOCO_SOURCE, or the parent folder).
"""
import os
import re
import sys
import tempfile

# Height of each layer. A layer includes itself and lower ones; those of equal height are siblings.
HEIGHT = {"base": 0, "math": 1, "shape": 2, "model": 3, "contact": 4, "solve": 4, "optimize": 4,
          "inertia": 5, "force": 5, "integrate": 6, "scene": 7, "gradient": 8, "io": 9, "batch": 9}
# What lower layers may take from a file of a higher one by name alone, and why.
REGISTERED = {"core/src/contact/setting_table.c": "kernels register their settings there"}
# Rooms of a layer that has subfolders, and their heights. Headers of the layer's own folder may be
# included by its rooms, those of a room by itself, by higher ones and by files of the own folder.
ROOMS = {"contact": {"shapes": 0, "friction": 0, "plane": 1, "implicit": 1, "penalty": 1, "triangles": 1, "pairs": 1, "query": 1}}
TALKING = "printf vprintf puts putchar perror exit _exit _Exit quick_exit abort assert".split()
WRITING = """fwrite fputs fputc putc fprintf vfprintf write mkdir""".split()
# Opening for writing and changing names: in one place, where nothing is lost (dijoco/file.h).
PLACING = """freopen fdopen tmpfile mkstemp mkostemp open openat creat truncate ftruncate remove
             rename renameat renameat2 link linkat symlink unlink unlinkat""".split()
LOCKS = ["core/src/math/blas.c"]  # may hold a lock, and nothing else that changes
WRITERS = {"core/src/io/file.c": PLACING, "tools/output.c": ["unlink"],
           "tools/sweep_folder.c": ["open"]}   # what is appended to while others read
PYTHON_PLACING = r"""(?<![\w.])open\s*\([^()\n]*,\s*(?:mode\s*=\s*)?["'][^"'\n]*[wax+]
  |\bos\.(?:open|fdopen|rename|renames|replace|remove|unlink|link|symlink|truncate|mkfifo)\s*\(
  |\.(?:write_text|write_bytes|unlink|touch|tofile|savetxt)\s*\(|\.open\s*\(\s*["'][wax]
  |\bnp\.save\w*\s*\(|\b(?:tempfile|shutil)\b"""
LOCK = re.compile(r"static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def blank(match):
    """Replaces a comment or literal by spaces, line ends kept."""
    return re.sub(r"[^\n]", " ", match.group())


def without_comments(text):
    token = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    return re.sub(token, lambda m: m.group() if m.group()[0] in "\"'" else blank(m), text,
                  flags=re.S)


def without_literals(code):
    return re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, code)


def called(names, code):
    return re.finditer(r"(?<![\w.>])(%s)\s*\(" % "|".join(names), code)


def mutable_statics(code):
    """Static variables that are not constant (a pointer must itself be const)."""
    code = re.sub(r"__attribute__\s*\(\(.*?\)\)", blank, code, flags=re.S)
    for match in re.finditer(r"(?<!\[)\bstatic\b([^;={(]*)([;={(])(\s*\*)?", code):
        declaration, end, star = match.groups()
        if end == "(" and not star:
            continue  # a function
        if end == "(":  # pointer to function: static T (*name)(...), (*const table[])(...)
            constant = re.match(r"\s*const\b", code[match.end():])
        else:
            constant = re.search(r"\bconst\b", declaration.rsplit("*", 1)[-1])
        if not constant:
            yield match


def check_room(layer, room, other):
    """Returns what is wrong with an include, inside a layer, of a header below `other`."""
    heights = ROOMS.get(layer, {})
    if not room or not other or room == other:
        return None
    if heights.get(other, 0) >= heights.get(room, 0):
        return "%s/%s may not include %s/%s" % (layer, room, layer, other)
    return None


def check_include(folder, below, kind, name, root):
    """Returns what is wrong with an #include in this folder ('core/src', 'tools', ...), or None."""
    here = os.path.join(root, folder, below)
    layer, _, room = below.partition("/")
    own = kind == '"' and "/" not in name and os.path.exists(os.path.join(here, name))
    homes = ["core/include"] + ([] if folder.startswith("core/") else ["mujoco_plugin/include"])
    public = name.startswith("dijoco/") and any(
        os.path.exists(os.path.join(root, home, name)) for home in homes)
    if ".." in name.split("/"):
        return "paths with .. are not allowed"
    if folder.startswith("core/"):
        if name.split("/")[0] == "mujoco" or os.path.basename(name) == "mujoco.h":
            return "the core does not know MuJoCo"
        if public or (own and folder == "core/src"):
            return None
        if name.startswith("dijoco/"):
            return "there is no such public header"
        if kind == "<":
            return None  # the system's
        if folder == "core/include":
            return "public headers include <dijoco/...> and system headers only"
        other = name.split("/")[0]
        if other not in HEIGHT or "/" not in name:
            return 'write "layer/header.h"'
        if other == layer:
            return check_room(layer, room, "/".join(name.split("/")[1:-1]))
        if HEIGHT[other] >= HEIGHT.get(layer, 0):
            return "%s may not include %s" % (layer, other)
        return None
    # Outside the core: public headers, those of the own folder, the MuJoCo side's top level.
    if kind == "<" and not name.startswith("dijoco/"):
        return None if name.split("/")[0] not in HEIGHT else "internal header of the core"
    if public or own or os.path.exists(os.path.join(root, folder.split("/")[0], name)):
        return None
    if "/" not in name and os.path.exists(os.path.join(root, "mujoco_plugin", name)):
        return None
    if folder.split("/")[0] == "validation" and name == "picture.h":   # of tables of robots
        return None
    return "neither a public header nor one of this folder"


def sources(root, folder):
    for path, _, files in os.walk(os.path.join(root, folder)):
        for name in sorted(files):
            if name.endswith((".c", ".h")):
                yield os.path.join(path, name)


def check_tree(root):
    errors = []
    for folder in ("core/src", "core/include", "tools", "mujoco_plugin", "validation"):
        for path in sources(root, folder):
            relative = os.path.relpath(path, root)
            below = os.path.dirname(os.path.relpath(path, os.path.join(root, folder)))
            with open(path, encoding="utf-8") as f:
                text = f.read()

            def error(match, message):
                line = text.count("\n", 0, match.start()) + 1
                errors.append("%s:%d: %s" % (relative, line, message))

            commentless = without_comments(text)
            code = without_literals(commentless)
            for match in INCLUDE.finditer(commentless):
                message = check_include(folder, below, match.group(1), match.group(2), root)
                if message:
                    error(match, "#include %s: %s" % (match.group(2), message))
            if folder != "validation":
                for match in placing(relative, commentless, code):
                    error(match, "%s outside the writer of files" % match.group(1))
            if folder != "core/src":
                continue
            layer, _, room = below.partition("/")
            if layer not in HEIGHT or room not in ["", *ROOMS.get(layer, {})]:
                errors.append("%s: not in the folder of a layer" % relative)
            for match in called(TALKING, code):
                error(match, "%s in the core" % match.group(1))
            # Also in comments, so that a plain search of the sources finds none.
            for match in re.finditer(r"\b(stdout|stderr)\b", text):
                error(match, "%s in the core" % match.group(1))
            for match in mutable_statics(code):
                if not (relative in LOCKS and LOCK.match(code, match.start())):
                    error(match, "mutable static")
            if layer != "io":
                for match in called(WRITING, code):
                    error(match, "%s outside io" % match.group(1))
    return errors + check_python(root)


def placing(relative, commentless, code):
    """Calls that open a file for writing or change names, where that is not the file's task."""
    allowed = WRITERS.get(relative, [])
    forbidden = [name for name in PLACING if name not in allowed]
    yield from called(forbidden, code) if forbidden else ()
    for match in re.finditer(r'\b(fopen)\s*\([^;]*?,\s*("[^"]*"|[^")]*)\s*\)', commentless):
        if match.group(2) not in ('"r"', '"rb"'):
            yield match


def check_python(root):
    """The package writes by dijoco.file, and scripts for users by it or by the library."""
    errors = []
    names = [os.path.join(root, "scripts", name) for name in ("pictures.py", "contact_picture.py")]
    package = os.path.join(root, "python/dijoco")
    if os.path.isdir(package):
        names += [os.path.join(package, name) for name in sorted(os.listdir(package))]
    for path in names:
        if not path.endswith(".py") or not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as f:
            code = re.sub(r"#[^\n]*", blank, f.read())
        for match in re.finditer(PYTHON_PLACING, code, re.X):
            errors.append("%s:%d: %s outside the writer of files" % (
                os.path.relpath(path, root), code.count("\n", 0, match.start()) + 1,
                match.group().strip()))
    return errors


def self_test():
    """Every rule must reject its bad example and accept the good one."""
    good = {
        "core/include/dijoco/types.h": "#include <stddef.h>\n",
        "core/src/base/a.h": "",
        "core/src/math/m.h": '#include "base/a.h"\n',
        "core/src/math/blas.c": "static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n",
        "core/src/model/m.c": '#include <dijoco/types.h>\n#include "math/m.h"\n#include <math.h>\n'
                              "// static int x; exit(1);\n"
                              "static const int a[2] = {1, 2};\n"
                              'static const char* const b = "p(";\n'
                              "static int f(double x[static 2]) { return x[0] > a[0]; }\n"
                              "static double (*const table[])(double) = {0};\n"
                              'void g(char* s) { snprintf(s, 2, "exit(%d)", 1); t.abort(); }\n',
        "core/src/contact/face.h": "",
        "core/src/contact/table.c": '#include "contact/pairs/p.h"\n#include "contact/face.h"\n',
        "core/src/contact/pairs/p.h": '#include "contact/shapes/p.h"\n#include "contact/face.h"\n',
        "core/src/contact/shapes/p.h": '#include "contact/shapes/q.h"\n#include "model/m.h"\n',
        "core/src/contact/shapes/q.h": "",
        "core/src/integrate/i.c": '#include "contact/pairs/p.h"\n',
        "core/src/io/file.c": 'void w(const char* p) { int f = open(p, 1); write(f, "x", 1); '
                              'rename(p, "y"); }\n',
        "core/src/io/w.c": 'void w(FILE* f) { fputs("open(x)", f); /* rename(a, b) */ }\n',
        "tools/output.c": "void f(const char* p) { unlink(p); mkdir(p, 7); t.open(p); }\n",
        "python/dijoco/a.py": 'with open(p, encoding="w") as f, open(q, "rb") as g:\n'
                              '    # open(p, "w")\n'
                              '    x = f.open(p), y.rename, os.makedirs(p), file.write(b)\n',
        "scripts/fetch.py": 'open(p, "w")\n',
        "core/src/shape/r.c": 'void r(const char* p) { FILE* f = fopen(p, "rb"); fclose(f); }\n',
        "mujoco_plugin/import.h": "#include <mujoco/mujoco.h>\n",
        "tools/main.c": '#include "import.h"\n#include "verbs.h"\n#include <dijoco/types.h>\n'
                        "static int count;\nint main(void) { puts(\"\"); exit(0); }\n",
        "tools/verbs.h": "",
        "validation/common/c.h": "",
        "validation/v.c": '#include "common/c.h"\n',
    }
    bad = [
        ("core/src/base/x.c", '#include "math/m.h"\n', "base may not include math"),
        ("core/src/shape/x.c", '#include "model/y.h"\n', "shape may not include model"),
        ("core/src/contact/x.c", '#include "solve/y.h"\n', "contact may not include solve"),
        ("core/src/contact/shapes/x.c", '#include "contact/pairs/p.h"\n',
         "contact/shapes may not include contact/pairs"),
        ("core/src/contact/pairs/x.c", '#include "contact/query/p.h"\n',
         "contact/pairs may not include contact/query"),
        ("core/src/contact/plane/x.c", '#include "solve/y.h"\n', "contact may not include solve"),
        ("core/src/contact/other/x.c", "", "not in the folder of a layer"),
        ("core/src/math/plane/x.c", "", "not in the folder of a layer"),
        ("core/src/io/x.c", '  #  include "batch/y.h"\n', "io may not include batch"),
        ("core/src/gradient/x.c", '#include "io/y.h"\n', "gradient may not include io"),
        ("core/src/math/x.c", '#include "../base/a.h"\n', ".."),
        ("core/src/math/x.c", "#include <mujoco/mujoco.h>\n", "MuJoCo"),
        ("core/src/math/x.c", "#include <dijoco/nothing.h>\n", "no such public"),
        ("core/src/extra/x.c", "", "not in the folder of a layer"),
        ("core/include/dijoco/x.h", '#include "math/m.h"\n', "public headers include"),
        ("core/src/math/x.c", "static int n;\n", "mutable static"),
        ("core/src/math/blas.c", "static int n;\n", "mutable static"),
        ("core/src/math/x.c", "static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n",
         "mutable static"),
        ("core/src/math/x.c", "void f(void) { static double t[3] = {0}; }\n", "mutable static"),
        ("core/src/math/x.c", "static const char* p = 0;\n", "mutable static"),
        ("core/src/math/x.c", "static struct { int a; } s;\n", "mutable static"),
        ("core/src/math/x.c", "static void (*hook)(void);\n", "mutable static"),
        ("core/src/math/x.c", "static _Thread_local int n = 1;\n", "mutable static"),
        ("core/src/math/x.c", 'void f(void) { printf("x"); }\n', "printf in the core"),
        ("core/src/math/x.c", "void f(void) { exit (1); }\n", "exit in the core"),
        ("core/src/io/x.c", "void f(void) { abort(); }\n", "abort in the core"),
        ("core/src/io/x.c", 'void f(void) { fputs("x", stdout); }\n', "stdout in the core"),
        ("core/src/math/x.c", 'void f(FILE* o) { fwrite("x", 1, 1, o); }\n', "fwrite outside io"),
        ("core/src/math/x.c", 'void f(const char* p) { fopen(p, "w"); }\n', "fopen outside"),
        ("core/src/math/x.c", "void f(const char* p, const char* m) { fopen(p, m); }\n",
         "fopen outside"),
        ("core/src/io/x.c", 'void f(const char* p) { fopen(p, "ab"); }\n', "fopen outside"),
        ("core/src/io/x.c", "void f(const char* p) { open(p, 1); }\n", "open outside"),
        ("core/src/io/x.c", "void f(const char* p) { remove(p); }\n", "remove outside"),
        ("tools/x.c", 'void f(const char* p) { fopen(p, "w"); }\n', "fopen outside"),
        ("tools/x.c", "void f(const char* p) { rename(p, p); }\n", "rename outside"),
        ("tools/output.c", 'void f(const char* p) { fopen(p, "r+"); }\n', "fopen outside"),
        ("mujoco_plugin/x.c", 'void f(const char* p) { fopen(p, "w"); }\n', "fopen outside"),
        ("mujoco_plugin/x.c", "void f(char* p) { mkstemp(p); }\n", "mkstemp outside"),
        ("python/dijoco/x.py", 'with open(path, "wb") as f:\n    pass\n', 'open(path, "w'),
        ("python/dijoco/x.py", "f = open(path, mode='a')\n", "outside the writer"),
        ("python/dijoco/x.py", "os.replace(a, b)\n", "os.replace"),
        ("python/dijoco/x.py", "path.write_text(a)\n", ".write_text"),
        ("python/dijoco/x.py", "np.savez(path, a)\n", "np.savez"),
        ("python/dijoco/x.py", "import tempfile\n", "tempfile"),
        ("scripts/pictures.py", 'open(target, "w").write(text)\n', "outside the writer"),
        ("tools/x.c", '#include "math/m.h"\n', "neither a public"),
        ("tools/x.c", "#include <math/m.h>\n", "internal header"),
        ("mujoco_plugin/x.c", '#include "base/a.h"\n', "neither a public"),
        ("validation/x.c", '#include "model/y.h"\n', "neither a public"),
    ]

    def errors_with(extra):
        with tempfile.TemporaryDirectory() as root:
            for name, text in list(good.items()) + extra:
                path = os.path.join(root, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w") as f:
                    f.write(text)
            return check_tree(root)

    failures = []
    if errors_with([]):
        failures.append("rejects a good tree: %s" % errors_with([]))
    for name, text, expected in bad:
        found = errors_with([(name, text)])
        if not any(e.startswith(name) and expected in e for e in found):
            failures.append("misses %r in %s" % (text, name))
    return failures


def main():
    default = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    errors = ["self-test: " + f for f in self_test()]
    errors += check_tree(os.environ.get("DIJOCO_SOURCE", default))
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
