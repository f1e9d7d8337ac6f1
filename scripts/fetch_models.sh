#!/bin/sh
# MJCF models for tests and timings, never committed: gymnasium's (MIT) and some of dm_control's
# (Apache-2.0), into build/deps.
set -eu
for name in gymnasium dm_control; do
  python3 "$(dirname "$0")/fetch.py" "$name"
done
