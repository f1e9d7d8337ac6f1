#!/bin/sh
# Usage: scripts/watched.sh tsan|valgrind
# Builds the tests that tests/NAME.txt lists under the thread sanitizer, or portably for valgrind's
# memcheck, and runs them. A race, a use of uninitialised memory or a leak fails its test.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build/deps
if [ "$1" = valgrind ]; then sh scripts/setup.sh valgrind; fi
sh scripts/build.sh "$1" dijoco_tests dijoco_fuzz
ctest --test-dir "build-$1" --output-on-failure --no-tests=error \
  -j "$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)"
echo "$1: passed"
