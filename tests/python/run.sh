#!/bin/sh
# The tests of python/tests in an environment of scripts/python_env.sh, against this build.
# Usage: run.sh ENVIRONMENT [pytest arguments]; without arguments all tests, with torch those called
# test_torch*.py and test_jax*.py, with gym, sweep and notebook test_gym.py and so on, with MuJoCo's
# earlier release those that speak of MuJoCo.
set -eu
name=$1
shift
if [ "$name" = torch ] && [ ! -f "$DIJOCO_SOURCE/build/deps/python/torch/.made" ]; then
  echo "There is no PyTorch here: make check TORCH=1 fetches it."
  exit 77
fi
env=$(sh "$DIJOCO_SOURCE/scripts/python_env.sh" "$name")
export PYTHONPATH="$DIJOCO_SOURCE/python" DIJOCO_LIBRARY_DIR="$DIJOCO_BUILD/lib"
if [ -z "${MUJOCO_GL:-}" ]; then # `import mujoco` fails where the library that this names is not
  MUJOCO_GL=osmesa
  [ "$name" != torch ] || MUJOCO_GL=off # OSMesa and Triton have an LLVM each, which do not agree
  [ $MUJOCO_GL = off ] || "$env/bin/python" -c 'import ctypes; ctypes.CDLL("libOSMesa.so.8")' 2>/dev/null || MUJOCO_GL=off
  export MUJOCO_GL
fi
cd "$DIJOCO_SOURCE/python/tests"
# Tests that miss a package skip themselves; these environments are there to have it.
needed=mj
[ "$name" != torch ] || needed="torch, jax"
[ "$name" != gym ] || needed="gymnasium.envs.mujoco"
[ "$name" != notebook ] || needed="nbclient, ipykernel, matplotlib"
[ "$name" != sweep ] || needed="distributed, mpi4py, pyarrow"
"$env/bin/python" -c "import $needed" || {
  echo "run.sh: $name: cannot import $needed" >&2
  exit 1
}
if [ $# = 0 ]; then
  case $name in
    torch) set -- test_torch*.py test_jax*.py ;;
    gym) set -- test_gym.py ;;
    notebook) set -- test_notebook.py ;;
    sweep) set -- test_sweep.py ;;
    mujoco-4.0.0) set -- $(grep -lE 'mujoco|import mj' test_*.py | grep -v test_memory.py) ;;
  esac
fi
exec "$env/bin/python" -m pytest -q -p no:cacheprovider -rs "${@:-.}"
