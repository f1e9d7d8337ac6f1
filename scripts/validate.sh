#!/bin/sh
# Changes of tests/edits done and counted (scripts/edit_counts); then every
# validation program at full length, in one table: stdout, and build/validate/table.md. What was
# measured is recorded in docs/figures, from which README.md and docs/validation.md have it.
# Arguments: programs to run (default: all, after the site of `make docs`). Exit status 1: a target
# was missed, or not checked.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build/deps
sh scripts/setup.sh
sh scripts/fetch_models.sh
sh scripts/build.sh release
[ $# != 0 ] || sh scripts/docs.sh || [ $? = 77 ] # no pinned wheels for this Python
edits=0
[ $# != 0 ] || scripts/edit_counts || edits=1
python3 -B scripts/validate.py "$@" || exit 1
exit "$edits"
