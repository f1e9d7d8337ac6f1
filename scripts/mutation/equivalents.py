"""The list of mutants that change nothing: equivalent.txt."""
import os

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "equivalent.txt")


def key_of(file, old, new):
    """Without blanks, so that formatting may change."""
    return file, "".join(old.split()), "".join(new.split())


class Entry:
    def __init__(self, number, reason, file, old, new):
        self.number, self.reason, self.file, self.old, self.new = number, reason, file, old, new
        self.key = key_of(file, old, new)


def entries(text):
    """Entries of a list, in order. A reason holds until the next one; a file for its entry."""
    reason, file, old, found, in_reason = "", "", "", [], False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#"):
            reason = reason + line if in_reason else line
        elif line.startswith("-"):
            old = line[1:]
        elif line.startswith("+"):
            found.append(Entry(number, reason, file, old, line[1:]))
        elif line.strip():
            file, old = line.strip(), ""
        in_reason = line.startswith("#")
    return found


def read():
    with open(PATH, encoding="utf-8") as f:
        return entries(f.read())


def errors_of(list_, root):
    """What is wrong with entries: code that is not there, or is not changed."""
    errors, lines, seen = [], {}, set()
    for entry in list_:
        path = os.path.join(root, entry.file)
        if path not in lines:
            lines[path] = set()
            if os.path.isfile(path):
                with open(path, encoding="utf-8") as f:
                    lines[path] = {"".join(line.split()) for line in f}
        wrong = ("no such file" if not os.path.isfile(path) else
                 "no such line" if entry.key[1] not in lines[path] else
                 "changes nothing" if entry.key[1] == entry.key[2] else
                 "twice" if entry.key in seen else
                 "no reason" if not entry.reason.strip("# ") else "")
        seen.add(entry.key)
        if wrong:
            errors.append("%d: %s: %s" % (entry.number, entry.file, wrong))
    return errors
