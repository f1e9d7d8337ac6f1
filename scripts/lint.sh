#!/bin/sh
# Static analysis: cppcheck, else clang-tidy, over the sources; and the layering test.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build/deps
sh scripts/build.sh release
python3 -B tests/layers.py
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
folders=""
for folder in core/src mujoco_plugin tools validation; do
  if [ -n "$(find $folder -name '*.c' 2>/dev/null)" ]; then folders="$folders $folder"; fi
done
if command -v cppcheck >/dev/null 2>&1; then
  mkdir -p build/cppcheck
  # qhull's loop macros set what cppcheck takes for uninitialised in hull.c.
  # shellcheck disable=SC2086
  cppcheck -q -j "$jobs" --std=c11 --enable=warning,performance,portability --inline-suppr \
    --error-exitcode=1 --suppress=missingIncludeSystem \
    --suppress=uninitvar:core/src/shape/hull.c \
    --suppress=invalidPointerCast --cppcheck-build-dir=build/cppcheck \
    -I core/include -I core/src -I mujoco_plugin -D__GNUC__=12 $folders
elif command -v clang-tidy >/dev/null 2>&1; then
  # shellcheck disable=SC2086
  find $folders -name '*.c' -print0 | xargs -0 -n 4 -P "$jobs" \
    clang-tidy -p build --quiet --warnings-as-errors='*' \
    --checks='-*,bugprone-*,clang-analyzer-*,-bugprone-easily-swappable-parameters,-bugprone-narrowing-conversions,-bugprone-implicit-widening-of-multiplication-result,-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling'
else
  echo "lint: install cppcheck or clang-tidy" >&2
  exit 1
fi
echo "lint: passed"
