#!/usr/bin/env python3
"""The README holds: files and folders that it names exist, so do make targets, verbs and validation
programs, and its commands on shipped files run."""
import os
import re
import shlex
import subprocess
import sys

SOURCE, BUILD, DIJOCO = (os.environ[k] for k in ("DIJOCO_SOURCE", "DIJOCO_BUILD", "DIJOCO_BIN"))
WORK = os.path.join(os.environ["TMPDIR"], "readme")
MADE = ("build/",)   # what the commands write


def exists(path):
    return os.path.exists(os.path.join(SOURCE, path))


def leads(link):
    """There is such a file, with such a heading."""
    path, _, anchor = link.partition("#")
    if not anchor or not exists(path):
        return exists(path)
    with open(os.path.join(SOURCE, path)) as f:
        heads = re.findall(r"^#+ (.*)$", f.read(), flags=re.M)
    return anchor in [re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads]


def names(text):
    """(what, whether it is there) of everything that the text names."""
    prose = re.sub(r"```.*?```", "", text, flags=re.S)
    # lines of blocks, and `code` in the prose, each on a line of its own
    code = "\n".join(re.findall(r"```\w*\n(.*?)```", text, flags=re.S) +
                     re.findall(r"`([^`]*)`", prose))
    for target in re.findall(r"\]\(([^)]+)\)", prose):
        yield "link " + target, leads(target)
    folders = "core|cmake|docs|examples|models|mujoco_plugin|scripts|tests|tools|validation"
    for path in re.findall(r"`((?:%s)(?:/[\w./]+)?)`" % folders, prose):
        yield "path " + path, exists(path)
    with open(os.path.join(SOURCE, "Makefile")) as f:
        targets = " ".join(re.findall(r"^([a-z][a-z -]*):", f.read(), flags=re.M)).split()
    for target in re.findall(r"^make ([a-z]+)", code, flags=re.M):
        yield "make " + target, target in targets
    verbs = re.findall(r"^  (\w+) ", subprocess.run(
        [DIJOCO, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout, flags=re.M)
    for verb in re.findall(r"^dijoco ([a-z]+)\b", code, flags=re.M):
        yield "dijoco " + verb, verb in verbs
    for row in re.findall(r"^\| (`[^|]*`) \| [^|]+ \| [^|]+ \|$", prose, flags=re.M):
        for name in re.findall(r"`(\w+)`", row):
            if not exists(name):
                yield "validation " + name, exists("validation/%s.c" % name)


def commands(text):
    for language, block in re.findall(r"```(\w*)\n(.*?)```", text, flags=re.S):
        if language:
            continue
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith("build/bin/dijoco "):
                yield shlex.split(line.split("#")[0])


def main():
    with open(os.path.join(SOURCE, "README.md")) as f:
        text = f.read()
    found = list(names(text))
    errors = ["README.md: %s: there is none" % what for what, there in found if not there]
    for kind in "link", "path", "make", "dijoco", "validation":
        if not any(what.startswith(kind + " ") for what, _ in found):
            errors.append("README.md: no %s found: the test looks for the wrong thing" % kind)
    if not all(there is False for _, there in names("[a](none.svg) [b](README.md#none) `docs/none`\n`make none`")):
        errors.append("names that are not there pass")

    run = list(commands(text))
    if not run:
        errors.append("README.md: no command found")
    if os.environ["DIJOCO_FLAVOUR"] == "release":
        os.makedirs(WORK, exist_ok=True)
        for command in run:
            moved = [DIJOCO] + [os.path.join(WORK, a) if a.startswith(MADE) else a
                                for a in command[1:]]
            done = subprocess.run(moved, cwd=SOURCE, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
            if done.returncode != 0:
                errors.append("%s: exit status %d\n%s" % (" ".join(command), done.returncode,
                                                          done.stdout))
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
