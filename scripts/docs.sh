#!/bin/sh
# Reference of the public headers, by Doxygen, into BUILD/docs (default: build). Warnings are
# errors. Installs Doxygen where it is missing, as scripts/setup.sh does.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
mkdir -p "$build/docs"
command -v doxygen >/dev/null 2>&1 || sh scripts/setup.sh doxygen
version=$(sed -n 's/^#define DJ_VERSION_[A-Z]* //p' core/include/dijoco/types.h | paste -sd .)
{
  cat docs/Doxyfile
  echo "PROJECT_NUMBER = $version"
  echo "OUTPUT_DIRECTORY = \"$build/docs\""
} | doxygen -
echo "$build/docs/html/index.html"
