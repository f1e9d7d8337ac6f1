#!/usr/bin/env python3
"""Checks that no source files of one part (the core, the command, the MuJoCo side) need each other,
directly or by others in between, and that none of the core needs one of a layer above or beside its
own (layers.py): read off the symbols of their object files.

First proves, on small objects that it compiles, that a circle is found, and what goes up.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

from layers import HEIGHT, REGISTERED

PARTS = ("core/src", "tools", "mujoco_plugin")


def symbols(paths):
    """{path: (names that an object defines, and that it takes from others)}, of all by one call."""
    found = {path: (set(), set()) for path in paths}
    text = subprocess.run(["nm", "-A", *paths], check=True, stdout=subprocess.PIPE, text=True).stdout
    for line in text.splitlines():
        path, kind, name = re.match(r"(.*?):.* (\S) (\S+)$", line).groups()
        if kind == "U":
            found[path][1].add(name)
        elif kind in "TDRBVW":
            found[path][0].add(name)
    return found


def graph_of(objects):
    """{source: {source that it needs: names}} of {source: path of its object}."""
    found = symbols(objects.values()) if objects else {}
    table = {source: found[path] for source, path in objects.items()}
    home = {name: source for source, (defined, _) in table.items() for name in defined}
    graph = {source: {} for source in table}
    for source, (_, needed) in table.items():
        for name in needed:
            other = home.get(name, source)
            if other != source:
                graph[source].setdefault(other, []).append(name)
    return graph


def reached(graph, start):
    found, todo = set(), [start]
    while todo:
        for other in graph[todo.pop()]:
            if other not in found:
                found.add(other)
                todo.append(other)
    return found


def circles(graph):
    """Lines that name what holds each file of a circle in it."""
    reach = {source: reached(graph, source) for source in graph}
    for source in sorted(graph):
        for other, names in sorted(graph[source].items()):
            if source in reach[other]:
                yield "%s needs %s, which needs it: %s" % (source, other, ", ".join(sorted(names)))


def climbs(graph):
    """Lines that name what files of the core need of layers that are not below theirs."""
    layer = {source: source.split("/")[2] for source in graph}
    for source in sorted(graph):
        for other, names in sorted(graph[source].items()):
            above = HEIGHT[layer[other]] >= HEIGHT[layer[source]]
            if layer[other] != layer[source] and above and other not in REGISTERED:
                yield "%s needs %s, which is no layer below: %s" % (
                    source, other, ", ".join(sorted(names)))


def self_test(compiler):
    texts = {"a": "int b(void);\nint a(void) { return b(); }\n",
             "b": "int c(void);\nint b(void) { return c(); }\n",
             "c": "int c(void) { return 1; }\n"}
    back = "int a(void);\nint c(void) { return a(); }\n"

    def found(changed):
        with tempfile.TemporaryDirectory() as folder:
            objects = {}
            for name, text in {**texts, **changed}.items():
                source = os.path.join(folder, name + ".c")
                objects[name] = os.path.join(folder, name + ".o")
                with open(source, "w") as f:
                    f.write(text)
                subprocess.run([compiler, "-c", source, "-o", objects[name]], check=True)
            return list(circles(graph_of(objects)))

    errors = ["self-test: finds a circle where there is none"] if found({}) else []
    if len(found({"c": back})) != 3:
        errors.append("self-test: misses a circle of three")
    registered = next(iter(REGISTERED))
    up = {"core/src/model/a.c": {"core/src/contact/b.c": ["b"], "core/src/math/d.c": ["d"],
                                 registered: ["table"]},
          "core/src/contact/b.c": {"core/src/solve/c.c": ["c"], "core/src/contact/e.c": ["e"]},
          "core/src/solve/c.c": {}, "core/src/math/d.c": {}, "core/src/contact/e.c": {},
          registered: {}}
    if len(list(climbs(up))) != 2:
        errors.append("self-test: finds other than what goes up and what goes to a sibling")
    return errors


def objects_of(build, part):
    objects = {}
    pattern = os.path.join(glob.escape(build), "CMakeFiles/*.dir", part, "**/*.o")
    for path in sorted(glob.glob(pattern, recursive=True)):
        source = path[path.index(".dir/") + len(".dir/"):-len(".o")]
        if os.path.exists(os.path.join(os.environ["DIJOCO_SOURCE"], source)):
            objects.setdefault(source, path)
    return objects


def main():
    errors = self_test(os.environ.get("DIJOCO_CC", "cc"))
    build = os.environ["DIJOCO_BUILD"]
    for part in PARTS:
        objects = objects_of(build, part)
        if not objects and part != "mujoco_plugin":
            errors.append("%s: no objects found" % part)
        graph = graph_of(objects)
        errors += circles(graph)
        if part == "core/src":
            errors += climbs(graph)
            errors += ["%s: registers nothing" % name for name in REGISTERED if name not in graph]
    print("\n".join(errors) or "no circles")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
