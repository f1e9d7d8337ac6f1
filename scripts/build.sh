#!/bin/sh
# Usage: scripts/build.sh PRESET [targets]; PRESET: release, debug, coverage, clang, core-gcc,
# core-clang, tsan, valgrind, fuzz (CMakePresets.json).
# Installs and fetches what is missing, configures by preset, builds. Settings: see Makefile.
set -eu
start=$PWD
cd "$(dirname "$0")/.."
preset=$1
shift
case $preset in
  release) dir=build ;;
  *) dir=build-$preset ;;
esac

if [ -n "${MUJOCO_DIR:-}" ]; then # as seen from where make was called
  mujoco=$(cd "$start" && cd "$MUJOCO_DIR" && pwd) || {
    echo "build: MUJOCO_DIR=$MUJOCO_DIR is not a folder" >&2
    exit 1
  }
else
  mujoco=$PWD/build/deps/mujoco
fi
case ${DIJOCO_WITHOUT_MUJOCO:-OFF} in
  1 | ON | on | YES | yes | TRUE | true) without=ON mujoco="" ;;
  *) without=OFF ;;
esac
case $preset in
  core-*) without=ON mujoco="" ;;
esac

mkdir -p "$dir" build/deps
# One build at a time in a tree.
if command -v flock >/dev/null 2>&1; then
  exec 9>build/deps/lock
  flock 9
fi
sh scripts/setup.sh
compiler=""
case $preset in
  core-gcc) compiler=$(command -v gcc || command -v cc) ;;
  clang | core-clang | fuzz)
    sh scripts/setup.sh clang
    [ "$preset" != fuzz ] || sh scripts/setup.sh libclang-rt
    compiler=$(sh scripts/clang.sh)
    ;;
esac
if [ $without = OFF ] && [ -z "${MUJOCO_DIR:-}" ]; then
  python3 scripts/fetch.py mujoco || {
    echo "build: no MuJoCo. DIJOCO_WITHOUT_MUJOCO=ON builds the core only." >&2
    exit 1
  }
fi

# A cache of a tree that has been moved, of another compiler, or of a generator that has gone, is of
# no use.
cached() { sed -n "s|^$1:[A-Z]*=||p" "$dir/CMakeCache.txt"; }
if [ -f "$dir/CMakeCache.txt" ]; then
  tool=$(cached CMAKE_MAKE_PROGRAM)
  if [ "$(cached CMAKE_HOME_DIRECTORY)" != "$PWD" ] || ! [ -x "$tool" ] ||
    { [ -n "$compiler" ] && [ "$(cached CMAKE_C_COMPILER)" != "$compiler" ]; }; then
    rm -rf "$dir/CMakeCache.txt" "$dir/CMakeFiles"
  fi
fi
generator="Unix Makefiles"
if [ -f "$dir/CMakeCache.txt" ]; then
  generator=$(cached CMAKE_GENERATOR)
elif command -v ninja >/dev/null 2>&1; then
  generator=Ninja
fi

# The build's own make must not take this make's flags.
unset MAKEFLAGS MFLAGS MAKELEVEL || true
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
log=$dir/configure.log
# shellcheck disable=SC2086
if ! cmake --preset "$preset" -G "$generator" -DMUJOCO_DIR="$mujoco" \
  -DDIJOCO_WITHOUT_MUJOCO=$without ${compiler:+-DCMAKE_C_COMPILER="$compiler"} \
  ${DIJOCO_CMAKE_ARGS:-} >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
grep -A4 'Warning' "$log" >&2 || true
if [ $# -gt 0 ]; then set -- --target "$@"; fi
cmake --build "$dir" -j "$jobs" "$@" 9>&-
