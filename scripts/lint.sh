#!/bin/sh
# Static analysis: cppcheck over the sources, clang's analyzer (scan-build) over core, plugin and
# command; the layering test; and the length of lines.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build/deps
sh scripts/build.sh release
sh scripts/setup.sh cppcheck clang scan-build
python3 -B tests/layers.py
long=$(git ls-files '*.c' '*.h' '*.py' '*.sh' scripts/mutate | xargs grep -nE '^.{101}' || true)
[ -z "$long" ] || {
  echo "lint: lines of more than 100 columns:" >&2
  echo "$long" >&2
  exit 1
}
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
mkdir -p build/cppcheck
# qhull's loop macros set what cppcheck takes for uninitialised in hull.c.
cppcheck -q -j "$jobs" --std=c11 --enable=warning,performance,portability --inline-suppr \
  --error-exitcode=1 --suppress=missingIncludeSystem \
  --suppress=uninitvar:core/src/shape/hull.c \
  --suppress=invalidPointerCast --cppcheck-build-dir=build/cppcheck \
  -I core/include -I core/src -I mujoco_plugin -D__GNUC__=12 core/src mujoco_plugin tools validation

# A build of its own, without optimisation, by a compiler that also analyzes. Whatever it finds is
# in build-lint/report.
compiler=$(sh scripts/clang.sh)
rm -rf build-lint
mkdir build-lint
scan() {
  scan-build --use-analyzer="$compiler" --use-cc="$compiler" --status-bugs -o build-lint/report "$@"
}
mujoco=$(sed -n 's/^MUJOCO_DIR:[A-Z]*=//p' build/CMakeCache.txt)
without=$(sed -n 's/^DIJOCO_WITHOUT_MUJOCO:[A-Z]*=//p' build/CMakeCache.txt)
scan cmake -S . -B build-lint -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 \
  -DDIJOCO_TESTS=OFF -DDIJOCO_NATIVE=OFF -DMUJOCO_DIR="$mujoco" -DDIJOCO_WITHOUT_MUJOCO="$without" \
  >build-lint/configure.log 2>&1 || {
  cat build-lint/configure.log >&2
  exit 1
}
targets=dijoco_command
[ "$without" = ON ] || targets="$targets dijoco_plugin"
# shellcheck disable=SC2086
scan cmake --build build-lint -j "$jobs" --target $targets >build-lint/build.log 2>&1 || {
  grep -A8 -E 'warning:|error:' build-lint/build.log >&2 || tail -n 20 build-lint/build.log >&2
  exit 1
}
echo "lint: passed"
