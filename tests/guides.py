#!/usr/bin/env python3
"""Checks the guides against the tree: every path, function, type and target that they name exists,
every folder with sources is named, and the picture of the layers is that of tests/layers.py. Links
of all pages lead somewhere, headings included; the manual (docs/README.md) names every page, pages
show every picture, and README.md is short.

Run without arguments: first proves on small bad texts that every rule can fail, then checks the
tree itself (DIJOCO_SOURCE, or the parent folder).
"""
import glob
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import layers  # noqa: E402

GUIDES = ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"]
MOST_LINES = 250
MOST_OF_CHANGES = 400   # which grow
MOST_OF_README = 12000  # bytes
SOURCE = (".c", ".h", ".py", ".sh", ".cmake")
# Where the name of a file may begin.
HOMES = ["", "core/src", "core/include", "core/include/dijoco", "mujoco_plugin/include"]
# Names of parameters and the like look like paths.
NO_PATH = re.compile(r"^(body|joint|geom|mesh|site|tendon|equality|actuator|pair|option|contact)/"
                     r"(N|KERNEL|MODEL|\w+_\*)/|^contact/(support|stiffness|guide)$|^build\b|"
                     r"^dijoco_\w+/[A-Z]+$|^[-<$]|://|^\w+/\d|^/")
PATH = re.compile(r"^[\w.*-]+(/[\w.*-]+)+/?$|^[\w-]+\.(?:c|h|py|sh|md|txt|json|xml|cmake)$")
# Functions at the start of a line, in a table's row, and Python's.
FUNCTION = re.compile(r"(?m)^#define (\w+)\(|^[A-Za-z][^\n;=()]*?[ *](\w+)\(|\(\*(\w+)\)\("
                      r"|^ *def (\w+)\(")


def read(root, name):
    with open(os.path.join(root, name), encoding="utf-8") as f:
        return f.read()


def folders(root, below):
    """Folders that have sources, themselves or deeper ones aside."""
    for path, inner, files in os.walk(os.path.join(root, below)):
        inner[:] = sorted(d for d in inner if not d.startswith((".", "build", "__pycache__")))
        if any(f.endswith(SOURCE) for f in files):
            yield os.path.relpath(path, root)


def tokens(text):
    """(line, token) of all `code` in a text, blocks of code aside."""
    text = re.sub(r"(?ms)^```.*?^```", lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    for match in re.finditer(r"`([^`\n]+)`", text):
        yield text.count("\n", 0, match.start()) + 1, match.group(1)


def exists(root, path):
    path = path.replace("NAME", "*")
    return any(glob.glob(os.path.join(root, home, path)) for home in HOMES)


class Names:
    """What sources and Makefile define: functions, all words, targets."""

    def __init__(self, root):
        self.functions, self.words = set(), set()
        for below in ("core", "mujoco_plugin", "tools", "tests", "validation", "python"):
            for path, _, files in os.walk(os.path.join(root, below)):
                for name in files:
                    if name.endswith((".c", ".h", ".py")) and name != os.path.basename(__file__):
                        self.add(read(path, name))
        self.targets = set(re.findall(r"(?m)^([\w-]+):", read(root, "Makefile")))

    def add(self, code):
        for groups in FUNCTION.findall(code):
            self.functions.update(groups)
        self.words.update(re.findall(r"\b(?:dj|DJ_)\w+", code))


def token_problem(root, names, token):
    function = re.fullmatch(r"(\w+)\(\)", token)
    if function:
        return None if function.group(1) in names.functions else "no such function"
    target = re.fullmatch(r"make (\w[\w-]*)( .*)?", token)
    if target:
        return None if target.group(1) in names.targets else "no such target of the Makefile"
    if re.fullmatch(r"(dj|DJ_)\w+", token) and "NAME" not in token:
        return None if token in names.words else "no such name in the sources"
    if PATH.match(token) and not NO_PATH.search(token) and not exists(root, token):
        return "no such path"
    return None


def anchors(text):
    """Headings of a page as links name them."""
    text = re.sub(r"(?ms)^```.*?^```", "", text)
    return [re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-")
            for head in re.findall(r"(?m)^#+ (.*)$", text)]


def link_problems(root, page, text):
    """(line, link, what is wrong) of the links and pictures of a page (a path below root)."""
    for match in re.finditer(r"\]\(([^):\s]+)\)", text):
        path, _, anchor = match.group(1).partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        wrong = None
        if not os.path.exists(os.path.join(root, path)):
            wrong = "no such path"
        elif anchor and anchor not in anchors(text if path == page else read(root, path)):
            wrong = "no such heading"
        if wrong:
            yield text.count("\n", 0, match.start()) + 1, match.group(1), wrong


def picture(text):
    """{layer: height} of the lines `height   names, separated by |`."""
    found = {}
    for height, names in re.findall(r"(?m)^ *(\d)   ([a-z][a-z |]*)$", text):
        found.update({name.strip(): int(height) for name in names.split("|")})
    return found


def check_guides(root, guides, names, heights):
    errors = []
    for name, text in guides.items():
        found = [(line, token, token_problem(root, names, token))
                 for line, token in tokens(text)]
        found += link_problems(root, name, text)
        errors += ["%s:%d: %s: %s" % (name, *entry) for entry in found if entry[2]]
        most = MOST_OF_CHANGES if name == "CHANGELOG.md" else MOST_LINES
        if text.count("\n") > most:
            errors.append("%s: more than %d lines" % (name, most))
    map_text = guides.get("ARCHITECTURE.md", "")
    named = {token for _, token in tokens(map_text)}
    for folder in folders(root, "."):
        if folder != "." and folder not in named and "." not in folder:
            errors.append("ARCHITECTURE.md: %s is not named" % folder)
    if picture(map_text) != heights:
        errors.append("ARCHITECTURE.md: the layers are %s" % heights)
    return errors


def pages_of(root):
    """{path: text} of what has no check of its own: README, the manual, pages of models."""
    found = ["README.md"]
    for path in glob.glob(os.path.join(root, "docs", "*.md")) + glob.glob(
            os.path.join(root, "models", "**", "README.md"), recursive=True):
        found.append(os.path.relpath(path, root))
    return {path: read(root, path) for path in sorted(found)}


def check_pages(root, pages):
    errors = ["%s:%d: %s: %s" % (page, *problem) for page, text in pages.items()
              for problem in link_problems(root, page, text)]
    if len(pages.get("README.md", "").encode()) > MOST_OF_README:
        errors.append("README.md: more than %d bytes" % MOST_OF_README)
    manual = pages.get("docs/README.md", "")
    errors += ["docs/README.md: does not name %s" % page for page in pages
               if os.path.dirname(page) == "docs" and os.path.basename(page) != "README.md"
               and "](%s)" % os.path.basename(page) not in manual]
    shown = {os.path.basename(link) for text in pages.values()
             for link in re.findall(r"\]\(([^)\s]+)\)", text)}
    errors += ["no page shows docs/%s" % name for name in sorted(os.listdir(os.path.join(
        root, "docs"))) if name.endswith((".svg", ".png")) and name not in shown]
    return errors


def self_test(root, names):
    """Each rule must reject its bad example."""
    def errors_of(text, heights=layers.HEIGHT):
        return check_guides(root, {"ARCHITECTURE.md": text}, names, heights)

    good = read(root, "ARCHITECTURE.md")
    pages = pages_of(root)

    def pages_with(page, text):
        return check_pages(root, dict(pages, **{page: pages[page] + text}))

    def pages_without(text):
        return check_pages(root, {page: old.replace(text, "") for page, old in pages.items()})

    bad = [
        (errors_of(good + "\n`dj_stepp()`\n"), "dj_stepp(): no such function"),
        (errors_of(good + "\n`qsort()`\n"), "qsort(): no such function"),
        (errors_of(good + "\n`dj_nothing`\n"), "dj_nothing: no such name"),
        (errors_of(good + "\n`DJ_NOTHING`\n"), "DJ_NOTHING: no such name"),
        (errors_of(good + "\n`integrate/stepp.c`\n"), "integrate/stepp.c: no such path"),
        (errors_of(good + "\n`tests/nothing`\n"), "tests/nothing: no such path"),
        (errors_of(good + "\n`NOTHING.md`\n"), "NOTHING.md: no such path"),
        (errors_of(good + "\n`tests/zzz_*.c`\n"), "tests/zzz_*.c: no such path"),
        (errors_of(good + "\n[x](docs/nothing.md)\n"), "docs/nothing.md: no such path"),
        (errors_of(good + "\n`make nothing`\n"), "make nothing: no such target"),
        (errors_of(good + "\n" * MOST_LINES), "more than"),
        (errors_of(good.replace("core/src/solve", "core/src")), "core/src/solve is not named"),
        (errors_of(good.replace(" 0   base", " 1   base")), "the layers are"),
        (errors_of(good, dict(layers.HEIGHT, more=8)), "the layers are"),
        (pages_with("README.md", "\n[x](docs/nothing.md)\n"), "docs/nothing.md: no such path"),
        (pages_with("README.md", "\n[x](docs/step.md#nothing)\n"),
         "step.md#nothing: no such heading"),
        (pages_with("docs/step.md", "\n[x](#nothing)\n"), "#nothing: no such heading"),
        (pages_with("README.md", "x" * MOST_OF_README), "more than"),
        (pages_without("](step.md)"), "does not name docs/step.md"),
        (pages_without("throw.svg"), "no page shows docs/throw.svg"),
    ]
    return ["self-test: misses %r" % expected for found, expected in bad
            if not any(expected in error for error in found)]


def main():
    root = os.environ.get("DIJOCO_SOURCE", os.path.dirname(os.path.dirname(
        os.path.abspath(__file__))))
    names = Names(root)
    errors = self_test(root, names)
    guides = {name: read(root, name) for name in GUIDES if os.path.exists(os.path.join(root, name))}
    errors += ["%s: is missing" % name for name in GUIDES if name not in guides]
    errors += check_guides(root, guides, names, layers.HEIGHT)
    errors += check_pages(root, pages_of(root))
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
