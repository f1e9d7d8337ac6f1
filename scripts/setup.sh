#!/bin/sh
# Installs what the build needs and this machine lacks, by apt. Silent when nothing is missing.
# DIJOCO_OFFLINE=1: missing things are an error that names them. Arguments: commands that are needed
# besides, called as their packages are (clang: any that scripts/clang.sh knows); python3-venv;
# libosmesa6 (off-screen rendering); xvfb (a display without a screen); libclang-rt (clang's sanitizers and libFuzzer); libnlopt-dev
# (an example's optimizer); python3-cmaes (CMA-ES of models/finger/baselines.py).
set -eu
cd "$(dirname "$0")/.."
scratch=build/deps/tmp
mkdir -p "$scratch"

missing=""
need() { missing="$missing $1"; }
has_command() { command -v "$1" >/dev/null 2>&1; }
# Does this header exist and this library link?
has_library() {
  printf '#include <stddef.h>\n#include <stdio.h>\n#include <stdarg.h>\n#include <stdint.h>\n' \
    >"$scratch/probe.c"
  printf '#include <setjmp.h>\n#include <%s>\nint main(void) { return 0; }\n' "$1" \
    >>"$scratch/probe.c"
  cc -o "$scratch/probe" "$scratch/probe.c" "-l$2" >/dev/null 2>&1
}

has_command cmake || need cmake
has_command make || has_command ninja || need make
has_command python3 || need python3
{ has_command python3 && python3 -m pip --version >/dev/null 2>&1; } || need python3-pip
if has_command cc && has_library stdlib.h m; then
  has_library lapacke.h lapacke || need liblapacke-dev
  has_library cblas.h openblas || need libopenblas-serial-dev
  { has_library suitesparse/amd.h amd && has_library suitesparse/klu.h klu; } ||
    need libsuitesparse-dev
  has_library cjson/cJSON.h cjson || need libcjson-dev
  has_library cmocka.h cmocka || need libcmocka-dev
  has_library libqhull_r/libqhull_r.h qhull_r || need libqhull-dev
  has_library stddef.h :liblbfgsb.a || need liblbfgsb-dev
else
  missing="$missing gcc libc6-dev liblapacke-dev libopenblas-serial-dev libcjson-dev"
  missing="$missing libcmocka-dev libsuitesparse-dev libqhull-dev liblbfgsb-dev"
fi
for name in "$@"; do
  case $name in
    python3-venv) python3 -c 'import ensurepip, venv' 2>/dev/null || need python3-venv ;;
    libosmesa6)
      python3 -c 'import ctypes; ctypes.CDLL("libOSMesa.so.8")' 2>/dev/null || need libosmesa6
      ;;
    libnlopt-dev) has_library nlopt.h nlopt || need libnlopt-dev ;;
    python3-cmaes) [ -e /usr/lib/python3/dist-packages/cmaes ] || need python3-cmaes ;;
    libclang-rt)
      clang=$(sh scripts/clang.sh || echo clang)
      echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' \
        >"$scratch/probe.c"
      "$clang" -fsanitize=fuzzer,address "$scratch/probe.c" -o "$scratch/probe" >/dev/null 2>&1 || {
        major=$("$clang" -dumpversion 2>/dev/null | cut -d. -f1)
        need "libclang-rt-${major:+$major-}dev"
      }
      ;;
    xvfb) has_command Xvfb || need xvfb ;;
    scan-build) has_command scan-build || need clang-tools ;;
    clang) sh scripts/clang.sh >/dev/null || need clang ;;
    *) has_command "$name" || need "$name" ;;
  esac
done
[ -n "$missing" ] || exit 0

if [ "${DIJOCO_OFFLINE:-0}" = 1 ]; then
  echo "setup: DIJOCO_OFFLINE=1, and these packages are missing:$missing" >&2
  exit 1
fi
if ! has_command apt-get; then
  echo "setup: please install the equivalents of these Debian packages:$missing" >&2
  exit 1
fi
sudo=""
if [ "$(id -u)" != 0 ]; then
  if ! has_command sudo; then
    echo "setup: neither root nor sudo; please install:$missing" >&2
    exit 1
  fi
  sudo=sudo
fi
echo "setup: installing$missing"
# shellcheck disable=SC2086
install() {
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
}
{ $sudo apt-get update -q && install; } || {
  echo "setup: could not install:$missing" >&2
  exit 1
}
