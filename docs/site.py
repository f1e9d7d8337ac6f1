#!/usr/bin/env python3
"""Makes of the tree what Sphinx reads: `site.py FOLDER` copies README.md, the guides, the manual and
the pages of models to FOLDER, where they lie to each other as in the tree, with the pictures and
files that they link, and adds the reference of the Python package and the table of contents.

A link to a folder becomes one to its README.md, or text where it has none. A link that leads nowhere
is an error.
"""
import glob
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GUIDES = ["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"]
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^):\s#]+)(#[^)\s]*)?\)")
ONLY_C = ["docs/reference.md"]   # Doxygen's first page
C_REFERENCE = "c/index.html"


def pages():
    found = ["README.md"] + GUIDES
    for pattern in ("docs/*.md", "models/**/README.md"):
        found += [os.path.relpath(path, ROOT) for path in sorted(
            glob.glob(os.path.join(ROOT, pattern), recursive=True))]
    return [page for page in found if page not in ONLY_C]


def place(folder, path):
    """Copies a file of the tree to its place."""
    target = os.path.join(folder, path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.copyfile(os.path.join(ROOT, path), target)


def site_text(folder, page, text, known):
    """A page with its links as the site has them."""
    def link(match):
        mark, shown, path, anchor = match.groups()
        path = os.path.normpath(os.path.join(os.path.dirname(page), path))
        if os.path.isdir(os.path.join(ROOT, path)):
            path = os.path.join(path, "README.md")
            if path not in known:
                return shown
        if path in ONLY_C:
            return "<a href=\"%s\">%s</a>" % (
                os.path.relpath(C_REFERENCE, os.path.dirname(page) or "."), shown)
        if path not in known:
            place(folder, path)
        return "%s[%s](%s%s)" % (mark, shown,
                                 os.path.relpath(path, os.path.dirname(page) or "."), anchor or "")

    blocks = re.split(r"(?ms)(^```.*?^```)", text)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in blocks)


def contents(caption, entries):
    return "\n```{toctree}\n:caption: %s\n:hidden:\n\n%s\n```\n" % (
        caption, "\n".join(entry.removesuffix(".md") for entry in entries))


def manual_order(known):
    """Pages in the order in which docs/README.md names them, a list for each of its tables."""
    with open(os.path.join(ROOT, "docs", "README.md"), encoding="utf-8") as f:
        tables = re.findall(r"(?m)^\| (\w[^|]*?) \|.*\n\|---.*\n((?:\|.*\n)+)", f.read())
    for caption, rows in tables:
        links = [os.path.normpath(os.path.join("docs", match.group(3)))
                 for match in LINK.finditer(rows)]
        yield caption, [path for path in links if path in known and path != "README.md"]


def main():
    folder = sys.argv[1]
    shutil.rmtree(folder, ignore_errors=True)
    known = pages()
    for page in known:
        with open(os.path.join(ROOT, page), encoding="utf-8") as f:
            text = site_text(folder, page, f.read(), known)
        if page == "README.md":
            text += contents("Manual", ["docs/README.md"])
            for caption, entries in manual_order(known):
                text += contents(caption[0].upper() + caption[1:], entries)
            text += contents("Models", [p for p in known if p.startswith("models/")])
            text += contents("References", ["docs/python_reference.md"])
            text += "\n<a href=\"%s\">Reference of the C interface</a>\n" % C_REFERENCE
        target = os.path.join(folder, page)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as f:
            f.write(text)
    with open(os.path.join(folder, "docs", "python_reference.md"), "w", encoding="utf-8") as f:
        subprocess.run([sys.executable, "-B", os.path.join(ROOT, "docs", "python_reference.py"),
                        os.path.join(ROOT, "python", "dijoco")], stdout=f, check=True)


if __name__ == "__main__":
    main()
