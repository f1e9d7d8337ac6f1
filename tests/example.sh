#!/bin/sh
# The README's C program compiles against the public headers and the built library, and runs.
set -eu
if [ "$DIJOCO_FLAVOUR" != release ]; then exit 77; fi
scene="$TMPDIR/example.json"
cat > "$scene" <<'JSON'
{
  "dijoco_model": 1,
  "name": "box",
  "bodies": [
    {"name": "world"},
    {"name": "box", "pos": [0, 0, 0.1], "mass": 1, "inertia": [0.01, 0.01, 0.01]}
  ],
  "joints": [{"name": "box", "body": "box", "type": "free", "qpos0": [0, 0, 0.1, 1, 0, 0, 0]}],
  "geoms": [
    {"name": "floor", "body": "world", "type": "plane", "size": [1, 1, 0.1]},
    {"name": "box", "body": "box", "type": "box", "size": [0.1, 0.1, 0.1]}
  ]
}
JSON
"$DIJOCO_CC" -std=c11 -Wall -Wextra -Werror -I"$DIJOCO_SOURCE/core/include" \
  "$DIJOCO_SOURCE/examples/transition.c" -L"$DIJOCO_BUILD/lib" -ldijoco \
  -Wl,-rpath,"$DIJOCO_BUILD/lib" -o "$TMPDIR/example"
"$TMPDIR/example" "$scene"
