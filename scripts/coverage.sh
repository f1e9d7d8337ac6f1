#!/bin/sh
# Builds with gcov, runs the tests, prints line coverage per file.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build/deps
sh scripts/setup.sh
sh scripts/fetch_models.sh
sh scripts/build.sh coverage
find build-coverage -name '*.gcda' -exec rm -f {} +
status=0
ctest --test-dir build-coverage --output-on-failure \
  -j "$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)" || status=1
python3 -B scripts/coverage.py build-coverage
exit $status
