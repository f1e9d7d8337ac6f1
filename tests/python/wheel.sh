#!/bin/sh
# The wheel: built, installed into a new environment, found by MuJoCo through its entry point, and
# independent of the tree that it was built from.
set -eu
env=$(sh "$DIJOCO_SOURCE/scripts/python_env.sh" mujoco-4.0.0)
wheels=$DIJOCO_SOURCE/build/deps/python/wheels
work=$TMPDIR/python_wheel
rm -rf "$work"
mkdir -p "$work"
pip() { "$env/bin/python" -m pip --quiet --no-cache-dir --disable-pip-version-check "$@"; }

DIJOCO_LIBRARY_DIR="$DIJOCO_BUILD/lib" pip wheel --no-index --no-deps --no-build-isolation \
  -w "$work" "$DIJOCO_SOURCE/python"
"$env/bin/python" -m venv --without-pip "$work/env"
pip --python "$work/env/bin/python" install --no-index --find-links "$wheels" --no-deps \
  --no-compile numpy mujoco==4.0.0 mujoco-core==4.0.0
pip --python "$work/env/bin/python" install --no-index --find-links "$wheels" --no-compile \
  --no-deps "$work"/dijoco-*.whl
cp "$DIJOCO_SOURCE/tests/python/smoke.py" "$work"
cd "$work"
env -u PYTHONPATH -u DIJOCO_LIBRARY_DIR -u LD_LIBRARY_PATH env/bin/python smoke.py
cd ..
rm -rf "$work"
