#!/bin/sh
# Prints the clang to use: DIJOCO_CLANG, else clang, else the newest clang-N there is. Status 1:
# there is none.
for name in ${DIJOCO_CLANG:-clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14}; do
  if command -v "$name" 2>/dev/null; then exit 0; fi
done
exit 1
