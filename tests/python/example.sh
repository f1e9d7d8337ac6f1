#!/bin/sh
# One of python/examples in an environment of scripts/python_env.sh, against this build.
# Usage: example.sh ENVIRONMENT EXAMPLE [arguments]
set -eu
name=$1 example=$2
shift 2
if [ "$name" = torch ] && [ ! -f "$DIJOCO_SOURCE/build/deps/python/torch/.made" ]; then
  echo "There is no PyTorch here: make check TORCH=1 fetches it."
  exit 77
fi
env=$(sh "$DIJOCO_SOURCE/scripts/python_env.sh" "$name")
export PYTHONPATH="$DIJOCO_SOURCE/python" DIJOCO_LIBRARY_DIR="$DIJOCO_BUILD/lib"
exec "$env/bin/python" "$DIJOCO_SOURCE/python/examples/$example" "$@"
