#!/bin/sh
# The manual as a site, build/docs/html, with the references of the Python package and, in its folder
# c, of the C headers: by Sphinx, in an environment of scripts/python_env.sh, and Doxygen, which is
# installed where it is missing. Warnings are errors. Argument: `site` or `c`, that part alone.
set -eu
cd "$(dirname "$0")/.."
out=build/docs
mkdir -p "$out"
part=${1:-all}

if [ "$part" != c ]; then
  env=$(sh scripts/python_env.sh docs)
  "$env/bin/python" -B docs/site.py "$out/pages"
  rm -rf "$out/html"
  "$env/bin/python" -B -m sphinx -q -W --keep-going -b html -c docs -d "$out/doctrees" \
    "$out/pages" "$out/html"
  cp "$out/html/README.html" "$out/html/index.html"
fi
if [ "$part" != site ]; then
  command -v doxygen >/dev/null 2>&1 || sh scripts/setup.sh doxygen
  version=$(sed -n 's/^#define DJ_VERSION_[A-Z]* //p' core/include/dijoco/types.h | paste -sd .)
  mkdir -p "$out/html"
  {
    cat docs/Doxyfile
    echo "PROJECT_NUMBER = $version"
    echo "OUTPUT_DIRECTORY = \"$out/html\""
    echo "HTML_OUTPUT = c"
  } | doxygen -
fi
echo "$out/html/index.html"
