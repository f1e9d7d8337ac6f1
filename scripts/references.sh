#!/bin/sh
# Usage: scripts/references.sh write|check
# write: store what this build makes of tests/references/scenes. Say in the commit why it changed.
# check: build the core by several compilers, into build/references, and compare each with what is
# stored. Settings: see Makefile.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build/deps
case ${1:-} in
  write)
    sh scripts/build.sh release
    OPENBLAS_NUM_THREADS=1 build/bin/tests/references --write
    git diff --stat -- tests/references 2>/dev/null || true
    ;;
  check)
    sh scripts/setup.sh clang
    exec python3 -B scripts/references.py
    ;;
  *)
    echo "usage: scripts/references.sh write|check" >&2
    exit 2
    ;;
esac
