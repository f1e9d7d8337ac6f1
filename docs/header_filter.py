#!/usr/bin/env python3
"""Doxygen's view of a header: `header_filter.py FILE` prints it with documentation comments.

The headers use plain // comments with fixed habits:
  - the first block of the file is about the file;
  - a block right above a declaration is about it and about the declarations that follow, up to the
    next blank line or comment;
  - a comment after a declaration, with the lines below that hold nothing else and are indented
    further, is about what stands on that line; a member without one is left to its name;
  - a block followed by a blank line is a remark for readers of the source.
DJ_MODEL_ARRAYS is expanded. Lines keep their numbers.
"""
import re
import sys

HTML = {"*": "&lowast;"}


def escaped(text):
    """Text with what Doxygen takes for commands, links or HTML escaped, outside of `code`."""
    parts = text.split("`")
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"[\\@<>#&%*]", lambda m: HTML.get(m[0], "\\" + m[0]), parts[i])
    return "`".join(parts)


def line_of_block(text):
    return text if text.startswith("  ") else escaped(text)   # indented: code


def split(line):
    """(code, comment or None) of a line."""
    quoted = False
    for i in range(len(line) - 1):
        if line[i] == '"':
            quoted = not quoted
        elif not quoted and line.startswith("//", i):
            return line[:i].rstrip(), line[i + 2:].removeprefix(" ").rstrip()
    return line.rstrip(), None


def model_arrays(lines):
    """The members that DJ_MODEL_ARRAYS(X) declares, on one line."""
    members = []
    for line in lines:
        match = re.match(r"\s+X\((\w+), (\w+), (\w+), ([^)]+)\)\s*(?:/\* (.*?) \*/)?", line)
        if match:
            kind, name, rows, columns, text = match.groups()
            size = rows if columns == "1" else "%s x %s" % (rows, columns)
            members.append("/** (%s) %s */ %s* %s;" % (size, escaped(text or ""), kind, name))
    return " ".join(members)


def each_declarator(code, comment):
    """A member line with several declarators and a comment that holds for each of them."""
    match = re.match(r"( +(?:const )?\w+) (\**\w+(?:\[\w+\])*(?:, \**\w+(?:\[\w+\])*)+);$", code)
    if not match:
        return code + comment
    return "".join(match[1] + " " + name + ";" + comment for name in match[2].split(", "))


def view(lines):
    parts = [split(line) for line in lines]
    out = []
    above = ""         # the comment that stands for the declarations of this paragraph
    fresh = False      # ... and has just been printed
    inside = False     # of a declaration of several lines
    i = 0

    def only_comment(k):
        return k < len(parts) and parts[k][0] == "" and parts[k][1] is not None

    while i < len(parts):
        code, comment = parts[i]
        if only_comment(i):                                    # a block
            start = i
            while only_comment(i):
                i += 1
            block = [parts[k][1] for k in range(start, i)]
            if start == 0:                                     # takes the blank line below it, too
                out += ["/** @file", "@brief " + escaped(block[0])]
                out += [line_of_block(text) for text in block[1:]]
                out[-1] += " */"
                i += 1
            elif i < len(parts) and parts[i][0]:
                out += ["/// " + line_of_block(text) for text in block]
                above, fresh = " ".join(escaped(text) for text in block), True
            else:
                out += ["// " + text for text in block]
            continue
        i += 1
        if code == "":
            above = ""
            out.append("")
            continue
        if code == "  DJ_MODEL_ARRAYS(X)":
            code = model_arrays(lines)
        if code.startswith("#") or code.endswith("\\"):
            again = "/** " + above + " */ " if above and not fresh and "#define DJ" in code else ""
            out.append("" if re.match(r"#(define|undef) X\b", code) else again + code)
            fresh = False
            continue
        before = after = ""
        if above and not fresh and not inside and not code.lstrip().startswith("}"):
            before = "/** " + above + " */ "
        fresh = False
        if comment is not None:
            indent = len(code) - len(code.lstrip())
            more = []
            while only_comment(i) and lines[i].index("//") > indent:
                more.append(parts[i][1])
                i += 1
            after = "  /**< " + escaped(" ".join([comment] + more)) + " */" + "\n" * len(more)
        elif code.startswith("  ") and code.endswith(";") and not inside:
            after = " /**< &nbsp; */"                          # a member whose name says it
        out.append(before + each_declarator(code, after.rstrip("\n")) + "\n" * after.count("\n"))
        if code.endswith("{"):
            above = ""
        inside = not code.endswith((";", ",", "{", "}")) or \
            (code.endswith(",") and ("(" in code or inside) and ")" not in code.split("(")[-1])
    return "\n".join(out)


if __name__ == "__main__":
    with open(sys.argv[1]) as header:
        print(view(header.read().split("\n")), end="")
