#!/bin/sh
# Makes the virtual environment NAME in build/deps/python unless it is there; prints its folder.
# Usage: scripts/python_env.sh mujoco-4.0.0|mujoco-4.0.1|gym|notebook|sweep|torch|docs|types|wheel
#
# The wheels are pinned by sha256 in python/requirements and kept in build/deps/python/wheels,
# except PyTorch's: that is the package index's build for CUDA, 2.5 GB with what it needs. (The
# CPU's, 200 MB, is on an index of PyTorch's own, and no checksum of it is pinned.)
# DIJOCO_OFFLINE=1: what is missing is an error that names it. DIJOCO_PYTHON: another python3. Exit
# status 77: there are no wheels for this Python or machine.
set -eu
cd "$(dirname "$0")/.."
python=${DIJOCO_PYTHON:-python3}
deps=$PWD/build/deps/python
wheels=$deps/wheels
name=${1:-}
newest=14
case $name in
  mujoco-4.0.0 | mujoco-4.0.1) lists="base $name" ;;
  gym) lists="base mujoco-4.0.1 gym" ;;
  notebook) lists="base mujoco-4.0.0 notebook" ;;
  sweep) lists="base mujoco-4.0.1 sweep" ;;
  torch) lists="base mujoco-4.0.0 torch" newest=13 ;;
  docs) lists=docs ;;
  types) lists="base types" ;;
  wheel) lists="base wheel" ;;
  *)
    echo "usage: python_env.sh mujoco-4.0.0|mujoco-4.0.1|gym|notebook|sweep|torch|docs|types|wheel" >&2
    exit 2
    ;;
esac
env=$deps/$name

fail() {
  echo "python_env: $name: $*" >&2
  exit 1
}

command -v "$python" >/dev/null 2>&1 || fail "there is no $python"
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
machine=$(uname -s)-$(uname -m)
case $name-$machine in
  *-Linux-x86_64) known=yes ;;
  torch-*) known=no ;;
  *-Linux-aarch64) known=yes ;;
  *) known=no ;;
esac
if [ "${version%.*}" != 3 ] || [ "${version#*.}" -lt 11 ] || [ "${version#*.}" -gt $newest ] ||
  [ $known = no ]; then
  echo "python_env: $name: no pinned wheels for Python $version on $machine (Python 3.11 to" \
    "3.$newest; DIJOCO_PYTHON names another)" >&2
  exit 77
fi

mkdir -p "$wheels" build/deps/tmp
if command -v flock >/dev/null 2>&1; then # tests run at the same time
  exec 9>"$deps/lock"
  flock 9
fi
files=""
for list in $lists; do files="$files -r python/requirements/$list.txt"; done
stamp="Python $version $({
  for list in $lists; do cat "python/requirements/$list.txt"; done
  [ "$name" != torch ] || cat python/requirements/torch-cuda.txt
} | cksum)"
if [ "$(cat "$env/.made" 2>/dev/null)" = "$stamp" ] && "$env/bin/python" -c '' 2>/dev/null; then
  echo "$env"
  exit 0
fi

echo "python_env: $name" >&2
offline=${DIJOCO_OFFLINE:-0}
[ "$python" != python3 ] || sh scripts/setup.sh python3-venv >&2
export TMPDIR="$PWD/build/deps/tmp" # all temporary files stay in the tree, too
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_QUIET=1
log=$deps/$name.log
rm -rf "$env"
"$python" -m venv "$env" >"$log" 2>&1 || fail "$(cat "$log")"
pip() { "$env/bin/python" -m pip "$@"; }
install() {
  # shellcheck disable=SC2086
  pip install --no-deps --require-hashes --only-binary=:all: "$@" $files >"$log" 2>&1
}

# Wheels that are here already need no network.
if ! install --no-index --find-links "$wheels"; then
  if [ "$offline" = 1 ]; then
    missing=$(sed -n 's/.*No matching distribution found for //p' "$log" | head -n 1)
    fail "${missing:-$(tail -n 2 "$log")} is not in build/deps/python/wheels, and DIJOCO_OFFLINE=1"
  fi
  # shellcheck disable=SC2086
  pip download --no-deps --require-hashes --only-binary=:all: -d "$wheels" $files >&2 ||
    fail "could not download the wheels of$(echo "$files" | sed 's/ -r / /g')"
  install --no-index --find-links "$wheels" || fail "$(cat "$log")"
fi

if [ "$name" = torch ]; then
  [ "$offline" != 1 ] || fail "torch is not in build/deps/python, and DIJOCO_OFFLINE=1"
  # Not kept in build/deps/python/wheels, where they would take as much room again.
  pip install --no-deps --require-hashes --only-binary=:all: -r python/requirements/torch-cuda.txt \
    >&2 || fail "could not download torch"
  "$env/bin/python" -c 'import torch, jax' >"$log" 2>&1 || fail "$(cat "$log")"
  wanted=4.0.0
elif [ "$name" = gym ] || [ "$name" = sweep ]; then
  wanted=4.0.1
elif [ "$name" = notebook ]; then
  wanted=4.0.0
else
  wanted=${name#mujoco-}
fi
works="import mujoco; found = mujoco.mj_versionString(); assert found == '$wanted', found"
[ "$name" != docs ] || works="import sphinx, myst_parser, furo"
[ "$name" != types ] || works="import mypy.api"
[ "$name" != wheel ] || works="import auditwheel, elftools"
"$env/bin/python" -c "$works" >"$log" 2>&1 || fail "$(cat "$log")"
echo "$stamp" >"$env/.made"
rm -f "$log"
echo "$env"
