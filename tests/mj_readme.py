#!/usr/bin/env python3
"""README and the manual hold: files and folders that they name exist, so do make targets, verbs
and programs. (Links: tests/guides.py; their code: tests/mj_pages.py.)"""
import glob
import os
import re
import subprocess
import sys

SOURCE, DIJOCO = os.environ["DIJOCO_SOURCE"], os.environ["DIJOCO_BIN"]
VERBS = re.findall(r"^  (\w+) ", subprocess.run(
    [DIJOCO, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout, flags=re.M)


def exists(path):
    return os.path.exists(os.path.join(SOURCE, path))


def names(text):
    """(what, whether it is there) of everything that the text names."""
    prose = re.sub(r"```.*?```", "", text, flags=re.S)
    # lines of blocks, and `code` in the prose, each on a line of its own
    code = "\n".join(re.findall(r"```\w*\n(.*?)```", text, flags=re.S) +
                     re.findall(r"`([^`]*)`", prose))
    folders = "core|cmake|docs|examples|models|mujoco_plugin|scripts|tests|tools|validation"
    for path in re.findall(r"`((?:%s)(?:/[\w./]+)?)`" % folders, prose):
        yield "path " + path, exists(path)
    with open(os.path.join(SOURCE, "Makefile")) as f:
        targets = " ".join(re.findall(r"^([a-z][a-z -]*):", f.read(), flags=re.M)).split()
    for target in re.findall(r"^make ([a-z]+)", code, flags=re.M):
        yield "make " + target, target in targets
    for verb in re.findall(r"^(?:build/bin/)?dijoco ([a-z]+)\b", code, flags=re.M):
        yield "dijoco " + verb, verb in VERBS
    for name in re.findall(r"^(?:build/bin/)?validation_(\w+)", code, flags=re.M):
        if name != "NAME":
            yield "validation " + name, exists("validation/%s.c" % name)


def main():
    pages = {}
    for path in ["README.md"] + sorted(glob.glob(os.path.join(SOURCE, "docs", "*.md"))):
        with open(os.path.join(SOURCE, path), encoding="utf-8") as f:
            pages[os.path.relpath(os.path.join(SOURCE, path), SOURCE)] = f.read()
    errors, found = [], []
    for page, text in pages.items():
        there = list(names(text))
        errors += ["%s: %s: there is none" % (page, what) for what, is_there in there
                   if not is_there]
        found += there
    for kind in "path", "make", "dijoco", "validation":
        if not any(what.startswith(kind + " ") for what, _ in found):
            errors.append("no %s found: the test looks for the wrong thing" % kind)
    if not all(there is False for _, there in names(
            "`docs/none` `validation_none`\n```\nmake none\ndijoco none\n```\n")):
        errors.append("names that are not there pass")
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
