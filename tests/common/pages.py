"""The blocks of code in README.md and the manual. Each runs by itself, as its language says, or has
a reason on the line before it: <!-- not run: REASON -->.

    sh                       tests/mj_pages.py, by sh in a copy of the tree's folders
    c, cmake, xml, json      tests/mj_pages.py, completed where they are parts
    python                   python/tests: in the environment that has what they import
"""
import collections
import glob
import os
import re

LANGUAGES = ("sh", "c", "cmake", "xml", "json", "python")
Block = collections.namedtuple("Block", "page line language code reason")

_FENCE = re.compile(r"(?ms)(?:^<!-- not run: ([^\n]*?) -->\n)?^```([\w-]*)\n(.*?)^```$")


def names(root):
    """Paths of the pages below root."""
    found = glob.glob(os.path.join(root, "docs", "*.md"))
    return ["README.md"] + sorted(os.path.relpath(path, root) for path in found)


def of_text(page, text):
    return [Block(page, text.count("\n", 0, m.start(3)) + 1, m[2], m[3], m[1])
            for m in _FENCE.finditer(text)]


def blocks(root, language=None, runs=True):
    """Blocks of a language (None: all), those that run, or (runs=False) those that do not."""
    out = []
    for page in names(root):
        with open(os.path.join(root, page), encoding="utf-8") as f:
            out += of_text(page, f.read())
    return [b for b in out if (b.reason is None) == runs and language in (None, b.language)]


def problems(root):
    """What is wrong with blocks: a line each."""
    for block in blocks(root):
        if block.language not in LANGUAGES:
            yield "%s:%d: a block of %s is not run, and says no reason" % (
                block.page, block.line, block.language or "no language")
    for block in blocks(root, runs=False):
        if len(block.reason) < 10:
            yield "%s:%d: %r is no reason" % (block.page, block.line, block.reason)


# ---- Python ----------------------------------------------------------------------------------------

NEEDS = ("torch", "jax", "gymnasium", "distributed", "mpi4py", "pyarrow")


def needs(block):
    """Which packages besides numpy and MuJoCo's a block imports."""
    found = re.findall(r"(?m)^ *(?:import|from) ([\w.]+)", block.code)
    tops = {name.partition(".")[0] for name in found} | {
        name.partition(".")[2] for name in found if name.startswith("dijoco.")} | (
            {"distributed"} if "dask.distributed" in found else set())
    return sorted(tops & set(NEEDS) | ({"gymnasium"} if "gym" in tops else set()))


def python(root, *packages):
    """Blocks of Python that need one of these packages; without any, those that need none."""
    return [b for b in blocks(root, "python")
            if (set(needs(b)) & set(packages) if packages else not needs(b))]
