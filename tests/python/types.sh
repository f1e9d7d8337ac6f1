#!/bin/sh
# mypy finds no error in the package (strict, by python/pyproject.toml), and in a program of its users,
# python/tests/typed.py, those that the program says.
set -eu
env=$(sh "$DIJOCO_SOURCE/scripts/python_env.sh" types)
exec "$env/bin/python" "$DIJOCO_SOURCE/tests/python/type_errors.py" "$DIJOCO_SOURCE/python" \
  "$TMPDIR/mypy"
