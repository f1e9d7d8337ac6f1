#!/bin/sh
# MJCF models for tests and timings, never committed: gymnasium's (MIT), into build/deps/gymnasium.
set -eu
exec python3 "$(dirname "$0")/fetch.py" gymnasium
