"""What types.sh runs: `types.py FOLDER CACHE`, where FOLDER is that of the package's pyproject.toml."""
import os
import re
import sys

from mypy import api

FOLDER, CACHE = sys.argv[1:]
USER = os.path.join(FOLDER, "tests", "typed.py")


def mypy(*arguments):
    """The lines that it prints: (file, number, code) of each error."""
    out, error, status = api.run(["--config-file", os.path.join(FOLDER, "pyproject.toml"),
                                  "--cache-dir", CACHE, "--no-error-summary", *arguments])
    if error or status not in (0, 1):
        sys.exit("types: mypy: %s%s" % (out, error))
    found = re.findall(r"^(.*?):(\d+): error: .*\[([a-z-]+)\]$", out, re.M)
    return {(os.path.basename(file), int(number), code) for file, number, code in found}, out


os.chdir(FOLDER)
errors, text = mypy()
if errors:
    sys.exit("types: errors in the package\n" + text)
with open(USER, encoding="utf-8") as f:
    wanted = {("typed.py", i + 1, line.rpartition("# E: ")[2].strip())
              for i, line in enumerate(f) if "# E: " in line}
errors, text = mypy(USER)
if errors != wanted or len(wanted) < 5:
    sys.exit("types: typed.py: expected %s\n%s" % (sorted(wanted - errors), text))
print("types: the package has no errors, a program of its users has the %d it should" % len(wanted))
