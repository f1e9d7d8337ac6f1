#!/usr/bin/env python3
"""Pictures of a report as one SVG file: `pictures.py report.html out.svg [every]`.

Takes the scene's pictures that `dijoco compare` or `dijoco optimize` put into its report, every
second or third of the times if asked, and sets them in rows: engines, or start and result. Needs
the tree's library (make build).
"""
import ctypes
import os
import pathlib
import re
import sys

GAP, HEAD = 6, 18


def save(path, text):
    """Writes a file as the library does: whole or not at all."""
    build = pathlib.Path(__file__).resolve().parents[1] / "build"
    library = ctypes.CDLL(os.environ.get("DIJOCO_BUILD", str(build)) + "/lib/libdijoco.so")
    data, file, error = text.encode(), ctypes.c_void_p(), ctypes.create_string_buffer(512)
    status = library.dj_openFile(ctypes.byref(file), os.fsencode(path), error)
    if status >= 0:
        library.dj_writeFile(file, data, ctypes.c_size_t(len(data)))
        status = library.dj_commitFile(file, error)
    if status < 0:
        sys.exit(error.value.decode(errors="replace"))


def read(report):
    """Definitions that pictures share, and [(width, height, row, time, picture)], all of them text."""
    with open(report, encoding="utf-8") as f:
        text = f.read()
    defs = "".join(re.findall(r"<defs>.*?</defs>", text, re.S))
    found = re.findall(r'<svg viewBox="0 0 (\d+) (\d+)" role="img" '
                       r'aria-label="(?:The scene in )?([\w ]+?),? at ([\d.]+) s">(.*?)</svg>',
                       text, re.S)
    if not found:
        sys.exit("%s: no pictures of a scene" % report)
    return defs, found


def place(x, y, width, height, title, picture):
    """A picture with its title above it."""
    return ('<text x="%d" y="%d">%s</text>\n<svg x="%d" y="%d" width="%d" height="%d" '
            'viewBox="0 0 %d %d"><rect width="100%%" height="100%%" fill="#fbfaf8"/>%s</svg>'
            % (x + 4, y + HEAD - 5, title, x, y + HEAD, width, height, width, height, picture))


def main():
    report, target = sys.argv[1:3]
    every = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    defs, found = read(report)
    width, height = int(found[0][0]), int(found[0][1])
    rows = list(dict.fromkeys(entry[2] for entry in found))
    times = list(dict.fromkeys(entry[3] for entry in found))
    times = times[::every] if (len(times) - 1) % every == 0 else times[::every] + times[-1:]
    out = []
    for _, _, row, time, picture in found:
        if time not in times:
            continue
        x = times.index(time) * (width + GAP)
        y = rows.index(row) * (height + HEAD + GAP)
        out.append(place(x, y, width, height, "%s, %s s" % (row, time), picture))
    size = (len(times) * (width + GAP) - GAP, len(rows) * (height + HEAD + GAP) - GAP)
    save(target, '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" '
                 'font-family="sans-serif" font-size="13" fill="#222">%s\n%s\n</svg>\n'
         % (size + (size[0], defs, "\n".join(out))))


if __name__ == "__main__":
    main()
