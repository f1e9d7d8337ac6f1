"""The structs of the public headers: their fields, with type, size of arrays and comment."""
import collections
import glob
import os
import re

Field = collections.namedtuple("Field", "header line struct name type row comment")
Field.__doc__ = """A field of a public struct: `type` as C has it ("double[3]", "const char*"),
`row`: it is one of a table X(type, name, rows, columns), `comment` on its line and those that go on
with it, "" where there is none."""

STRUCT = re.compile(r"^typedef struct (\w+) \{\n(.*?)^\} (\w+);", re.M | re.S)
TABLE = re.compile(r"^#define (\w+)\(X\)((?:[^\n]*\\\n)+[^\n]*)", re.M)
ROW = re.compile(r"X\((\w+), (\w+), [^()]*\)\s*(?:/\*\s*(.*?)\s*\*/)?", re.S)
USE = re.compile(r"^#define X\(type, name, rows, columns\) type\* name;\n  (\w+)\(X\)\n#undef X\n",
                 re.M)
DECLARATION = re.compile(r"^  ((?:const |struct |unsigned |long )*\w+)((?:\*| const\*)*)\s+(.*?);"
                         r" *(//.*)?$")
VARIABLE = re.compile(r"(\**)(\w+)((?:\[\w+\])*)")


def paths(root):
    """Public headers, the MuJoCo side's last."""
    return [path for folder in ("core/include", "mujoco_plugin/include")
            for path in sorted(glob.glob(os.path.join(glob.escape(root), folder, "dijoco/*.h")))]


def version(root):
    """Numbers of the version (major, minor, patch)."""
    with open(os.path.join(root, "core/include/dijoco/types.h"), encoding="utf-8") as f:
        return [int(n) for n in re.findall(r"#define DJ_VERSION_[A-Z]+ (\d+)", f.read())]


def soversion(root):
    """What CMakeLists.txt makes of it: SOVERSION of libdijoco.so."""
    return ".".join(str(n) for n in version(root)[:2])


def _declared(line, number, header, struct):
    """Fields of a line of a struct."""
    match = DECLARATION.match(line)
    if not match:
        raise ValueError("%s:%d: no declaration: %s" % (header, number, line))
    base, stars, variables, comment = match.groups()
    comment = (comment or "").lstrip("/ ")
    for i, variable in enumerate(variables.split(", ")):
        parts = VARIABLE.fullmatch(variable)
        if not parts or (stars and i):
            raise ValueError("%s:%d: no variable: %s" % (header, number, variable))
        yield Field(header, number, struct, parts[2], base + stars + parts[1] + parts[3], False,
                    comment)


def _of_struct(body, first, header, struct, tables):
    fields, lines = [], body.split("\n")
    line_fields = 0   # of the last line with a declaration
    i = 0
    while i < len(lines):
        line, number = lines[i], first + i
        use = USE.match("\n".join(lines[i:i + 3]) + "\n")
        if use:
            fields += [field._replace(struct=struct) for field in tables[use[1]]]
            i += 3
            line_fields = 0
            continue
        i += 1
        if re.match(r"\s{3,}//", line) and line_fields:   # the comment goes on
            more = line.strip().lstrip("/ ")
            fields[-line_fields:] = [f._replace(comment=(f.comment + " " + more).strip())
                                     for f in fields[-line_fields:]]
        elif not line.strip() or line.lstrip().startswith("//"):
            line_fields = 0
        else:
            new = list(_declared(line, number, header, struct))
            fields += new
            line_fields = len(new)
    return fields


def structs(root):
    """{name: [Field]} of all public structs whose fields programs see, in the order of headers."""
    found = {}
    for path in paths(root):
        header = os.path.relpath(path, root)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        tables = {}
        for table in TABLE.finditer(text):
            rows = list(ROW.finditer(table[2]))
            if len(rows) != table[2].count("X("):
                raise ValueError("%s: %s: a row that is none" % (header, table[1]))
            start = table.start(2)
            tables[table[1]] = [
                Field(header, text.count("\n", 0, start + row.start()) + 1, "", row[2],
                      row[1] + "*", True, row[3] or "") for row in rows]
        opened = len(re.findall(r"^typedef (?:struct|union)[^;]*\{", text, re.M))
        for match in STRUCT.finditer(text):
            opened -= 1
            if match[1] != match[3]:
                raise ValueError("%s: struct %s is called %s" % (header, match[1], match[3]))
            found[match[3]] = _of_struct(match[2].rstrip("\n"),
                                         text.count("\n", 0, match.start(2)) + 1, header, match[3],
                                         tables)
        if opened:
            raise ValueError("%s: %d structs that are not read" % (header, opened))
    return found
