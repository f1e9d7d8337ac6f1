#!/bin/sh
# What a build without MuJoCo (DIJOCO_WITHOUT_MUJOCO=ON) makes of the command, of validation programs
# with their parts, and of tests of the command compiles without a warning. `make check` builds it.
set -eu
cd "$DIJOCO_SOURCE"

# Programs called mj_... need MuJoCo, with their folders.
sources() {
  ls tools/*.c tests/test_tool_*.c validation/*.c validation/*/*.c | grep -v '^validation/mj_'
}
compiles() {
  "${DIJOCO_CC:-cc}" -std=c11 -fsyntax-only -Wall -Wextra -Werror -D_DEFAULT_SOURCE \
    -DDIJOCO_VERSION='"0"' -DDIJOCO_SOURCE_DIR='"."' -DDIJOCO_BUILD_DIR='"."' \
    -Itools -Ivalidation -Itests -Icore/include -Icore/src "$1"
}

for folder in tools validation validation/common validation/gradient_honesty tests; do
  sources | grep -q "^$folder/[^/]*$" || { echo "core_only: nothing of $folder" >&2; exit 1; }
done
bad="$TMPDIR/core_only.c"
echo 'extern mjModel* m;' >"$bad"
if compiles "$bad" 2>/dev/null; then
  echo "core_only: what needs MuJoCo passes" >&2
  exit 1
fi
sources | while read -r file; do compiles "$file"; done
