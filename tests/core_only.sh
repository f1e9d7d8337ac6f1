#!/bin/sh
# The command compiles without MuJoCo too (DIJOCO_WITHOUT_MUJOCO=ON), without a warning.
set -eu
cd "$DIJOCO_SOURCE"
count=0
for file in tools/*.c; do
  ${CC:-cc} -std=c11 -O0 -Wall -Wextra -Werror -D_DEFAULT_SOURCE -DDIJOCO_VERSION='"0"' \
    -Itools -Icore/include -c "$file" -o /dev/null
  count=$((count + 1))
done
test $count -gt 20
