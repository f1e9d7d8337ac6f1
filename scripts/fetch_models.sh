#!/bin/sh
# What tests and timings use besides, never committed: MJCF models of gymnasium (MIT) and some of
# dm_control's (Apache-2.0), and CoACD (MIT), into build/deps.
set -eu
for name in gymnasium dm_control coacd; do
  python3 "$(dirname "$0")/fetch.py" "$name"
done
