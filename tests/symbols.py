#!/usr/bin/env python3
"""Checks the built library: the core's objects neither end the process nor print nor, outside
io/file.c, write files; they hold no mutable data (release build) but one lock, and L-BFGS-B none
either, which calls nothing of Fortran's; libdijoco.so exports dj* names only; libdijoco_plugin.so
too, and it is linked to no MuJoCo.

First proves, on small objects that it compiles, that each check can fail.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

TALKING = set("""exit _exit _Exit quick_exit abort __assert_fail printf vprintf puts putchar perror
                 __printf_chk __vprintf_chk stdout stderr""".split())
WRITING = set("""fwrite fputs fputc putc fprintf vfprintf __fprintf_chk __vfprintf_chk freopen
                 fdopen tmpfile mkstemp open open64 openat creat write remove rename renameat link
                 unlink mkdir""".split())
LOCKS = ["core/src/math/blas.c"]
MUTABLE = re.compile(r"\.(data(?!\.rel\.ro)|bss|tdata|tbss)|\*COM\*")


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def undefined(paths):
    """{path: names that it takes from others}, of all by one call."""
    names = {path: set() for path in paths}
    for line in output("nm", "-u", "-A", *paths).splitlines():
        path, name = re.match(r"(.*?):.* (\S+)$", line).groups()
        names[path].add(name)
    return names


def mutable_data(paths):
    """{path: names of the variables in writable sections} (constant pointers are in .data.rel.ro)."""
    names, path = {path: [] for path in paths}, None
    for line in output("objdump", "-t", *paths).splitlines():
        head = re.match(r"(.*): +file format ", line)
        match = re.match(r"[0-9a-f]+ (.{7}) (\S+)\s+[0-9a-f]+\s+(?:\.hidden )?(\S+)$", line)
        if head:
            path = head.group(1)
        elif match and "d" not in match.group(1) and MUTABLE.match(match.group(2)):
            names[path].append(match.group(3))
    return names


def check_objects(paths, writer, data_too):
    """(path, what is wrong) of objects, of which `writer` may write files."""
    taken, data = undefined(paths), mutable_data(paths) if data_too else {}
    for path in paths:
        names = taken[path]
        talking = names & TALKING | {n for n in names if n.startswith("_gfortran")}
        for n in sorted(talking | (set() if path == writer else names & WRITING)):
            yield path, "uses %s" % n
        for n in data.get(path, ()):
            yield path, "mutable variable %s" % n


def check_plugin(library):
    """It takes any MuJoCo that is loaded: needs none of it, and exports our functions only."""
    symbols = [line.split() for line in output("nm", "-D", library).splitlines()]
    errors = ["uses %s" % s[-1] for s in symbols if s[-2] == "U" and s[-1].lstrip("_")[:2] == "mj"]
    errors += ["exports %s" % s[-1] for s in symbols
               if s[-2] not in "Uw" and s[-1][:3] not in ("dj_", "djm")]
    if "djm_registerPlugins" not in [s[-1] for s in symbols]:
        errors.append("does not export djm_registerPlugins")
    needed = [line for line in output("readelf", "-d", library).splitlines() if "NEEDED" in line]
    errors += ["needs " + line.split()[-1] for line in needed if "mujoco" in line]
    if not any("libdijoco.so" in line for line in needed):
        errors.append("does not need libdijoco.so")
    return errors


def self_test(compiler):
    good = "#include <stdio.h>\nconst char* const t[] = {\"a\"};\n" \
           "int f(char* s, double x) { return snprintf(s, 9, \"%g%s\", x, t[0]); }\n"
    bad = {
        "uses exit": "#include <stdlib.h>\nvoid f(void) { exit(1); }\n",
        "uses abort": "#include <stdlib.h>\nvoid f(void) { abort(); }\n",
        "uses printf": "#include <stdio.h>\nvoid f(int i) { printf(\"%d\", i); }\n",
        "uses puts": "#include <stdio.h>\nvoid f(void) { printf(\"x\\n\"); }\n",
        "uses stderr": "#include <stdio.h>\nFILE* f(void) { return stderr; }\n",
        "uses _gfortran_st_write": "void _gfortran_st_write(void);\n"
                                   "void f(void) { _gfortran_st_write(); }\n",
        "uses rename": "#include <stdio.h>\nvoid f(void) { rename(\"a\", \"b\"); }\n",
        r"mutable variable (f\.)?n": "int f(void) { static int n; return n++; }\n",
        "mutable variable m": "int m = 3;\n",
        "mutable variable l": "_Thread_local int l;\n",
    }
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        def errors_of(text):
            source, target = os.path.join(folder, "x.c"), os.path.join(folder, "x.o")
            with open(source, "w") as f:
                f.write(text)
            output(compiler, "-O1", "-fPIC", "-c", source, "-o", target)
            return [error for _, error in check_objects([target], None, True)]

        if errors_of(good):
            failures.append("rejects a good object: %s" % errors_of(good))
        for expected, text in bad.items():
            if not any(re.match(expected, e) for e in errors_of(text)):
                failures.append("misses: %s" % expected)

        source, library = os.path.join(folder, "x.c"), os.path.join(folder, "libmujoco.so")
        with open(source, "w") as f:
            f.write("int mj_step(void);\n#ifdef USE\nint f(void) { return mj_step(); }\n"
                    "#else\nint mj_step(void) { return 0; }\n#endif\n")
        output(compiler, "-shared", "-fPIC", "-Wl,-soname,libmujoco.so", source, "-o", library)
        linked = os.path.join(folder, "x.so")
        output(compiler, "-shared", "-fPIC", "-DUSE", source, library, "-o", linked)
        found = check_plugin(linked)
        for expected in ("uses mj_step", "exports f", "needs [libmujoco.so]",
                         "does not export djm_registerPlugins", "does not need libdijoco.so"):
            if expected not in found:
                failures.append("misses: %s of a plugin" % expected)
    return ["self-test: " + f for f in failures]


def main():
    source, build = os.environ["DIJOCO_SOURCE"], os.environ["DIJOCO_BUILD"]
    release = os.environ.get("DIJOCO_FLAVOUR", "release") == "release"  # sanitizers add data
    errors = self_test(os.environ.get("DIJOCO_CC", "cc"))

    files = glob.glob(os.path.join(glob.escape(source), "core/src/**/*.c"), recursive=True)

    def object_of(relative):
        return os.path.join(build, "CMakeFiles/dijoco_objects.dir", relative + ".o")

    built = {object_of(path): path
             for path in sorted(os.path.relpath(path, source) for path in files)}
    writer = object_of("core/src/io/file.c")
    errors += ["%s: %s" % (built[path], e) for path, e in check_objects(built, writer, release)
               if not (built[path] in LOCKS and e == "mutable variable lock")]

    fortran = os.path.join(build, "lib/lbfgsb.o")
    errors += ["lbfgsb.o: " + e for _, e in check_objects([fortran], None, True)]
    visible = output("nm", "-g", "--defined-only", "--format=posix", fortran).split()[::4]
    if visible != ["dj_setulb"]:
        errors.append("lbfgsb.o: exports %s" % visible)
    library = os.path.join(build, "lib/libdijoco.a")
    members = output("ar", "t", library).split()
    if len(members) != len(files) + 1:  # and L-BFGS-B
        errors.append("libdijoco.a: %d members of %d sources" % (len(members), len(files)))
    errors += ["libdijoco.a: uses %s" % n for n in sorted(undefined([library])[library] & TALKING)]
    if release:
        exported = output("nm", "-D", "--defined-only", os.path.join(build, "lib/libdijoco.so"))
        errors += ["libdijoco.so: exports %s" % line.split()[-1]
                   for line in exported.splitlines() if not line.split()[-1].startswith("dj")]
    plugin = os.path.join(build, "lib/libdijoco_plugin.so")
    if os.path.exists(plugin) and release:
        errors += ["libdijoco_plugin.so: " + e for e in check_plugin(plugin)]
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
