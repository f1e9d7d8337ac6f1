#!/bin/sh
# Installs and fetches what the tests need, then scripts/mutate with the arguments in MUTATE.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build/deps
sh scripts/setup.sh git
sh scripts/fetch_models.sh
[ -d build/deps/mujoco ] || [ -n "${MUJOCO_DIR:-}" ] || python3 scripts/fetch.py mujoco
# shellcheck disable=SC2086
exec python3 -B scripts/mutate ${MUTATE:-}
