#!/bin/sh
# The package as a wheel that needs nothing installed: dist/dijoco-*-manylinux_*.whl.
# Usage: scripts/wheel.sh [--test]
#
# The libraries are built for three kinds of processor (x86-64 and its levels v3, with AVX2, and v4,
# with AVX-512), of which the package loads the best that the machine has; elsewhere for any of its
# kind. auditwheel puts what they need (OpenBLAS, LAPACK, SuiteSparse, qhull, cJSON, the Fortran run
# time) beside them, with their licences; MuJoCo stays its own package. With --test the wheel is
# installed and run where there are no such libraries.
set -eu
cd "$(dirname "$0")/.."
sh scripts/setup.sh
sh scripts/setup.sh python3-venv
mujoco=${MUJOCO_DIR:-$PWD/build/deps/mujoco}
[ -n "${MUJOCO_DIR:-}" ] || python3 scripts/fetch.py mujoco
env=$(sh scripts/python_env.sh wheel)
machine=$(uname -m)
work=$PWD/build/wheel
case $machine in
  x86_64) levels="x86-64 x86-64-v3 x86-64-v4" ;;
  *) levels=portable ;;
esac
first=${levels%% *}
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
for level in $levels; do
  march=""
  [ "$level" = portable ] || march=-march=$level
  targets="dijoco dijoco_plugin"
  [ "$level" != "$first" ] || targets="$targets dijoco_command"
  # shellcheck disable=SC2086
  cmake --preset release -B "$work/$level" -G "Unix Makefiles" -DMUJOCO_DIR="$mujoco" \
    -DDIJOCO_NATIVE=OFF -DDIJOCO_TESTS=OFF -DCMAKE_C_FLAGS="$march" ${DIJOCO_CMAKE_ARGS:-} \
    >"$work.log" 2>&1 || { cat "$work.log" >&2; exit 1; }
  # shellcheck disable=SC2086
  cmake --build "$work/$level" -j "$jobs" --target $targets >"$work.log" 2>&1 || {
    cat "$work.log" >&2
    exit 1
  }
done

# What the package holds: lib/ with the first level's libraries, lib/LEVEL/ with those of the others,
# bin/dijoco, licenses/.
stage=$work/stage
rm -rf "$stage" "$work/plain"
mkdir -p "$stage/bin" "$stage/licenses" dist
for level in $levels; do
  to=$stage/lib
  [ "$level" = "$first" ] || to=$stage/lib/$level
  mkdir -p "$to"
  cp "$work/$level/lib/libdijoco_plugin.so" "$to"
  cp -L "$work/$level"/lib/libdijoco.so.*.*[0-9] "$to"
  rm -f "$to"/libdijoco.so.*.*.*
done
cp "$work/$first/bin/dijoco" "$stage/bin"
for package in libopenblas0-serial liblapack3 liblapacke libsuitesparseconfig5 libamd2 libcolamd2 \
  libbtf1 libklu1 libqhull-r8.0 libcjson1 libgfortran5 libquadmath0 libgcc-s1; do
  for file in "/usr/share/doc/$package/copyright"; do
    [ ! -f "$file" ] || cp -L "$file" "$stage/licenses/$package"
  done
done
DIJOCO_STAGE=$stage "$env/bin/python" -m pip --quiet wheel --no-index --no-deps \
  --no-build-isolation -w "$work/plain" ./python
PATH=$env/bin:$PATH LD_LIBRARY_PATH="$stage/lib" "$env/bin/auditwheel" -v repair -w dist \
  --exclude "libmujoco.so*" --exclude "libdijoco.so*" "$work"/plain/*.whl >"$work.log" 2>&1 || {
  cat "$work.log" >&2
  exit 1
}
wheel=$(ls -t dist/dijoco-*.whl | head -n 1)
echo "wheel: $wheel, $(wc -c <"$wheel") bytes"
[ "${1:-}" != --test ] || sh tests/python/bare.sh "$wheel"
