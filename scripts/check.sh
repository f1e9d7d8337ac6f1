#!/bin/sh
# Release build and its tests, then the sanitizers' build and its tests. Arguments go to ctest.
set -u
cd "$(dirname "$0")/.."
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
status=0
mkdir -p build/deps
for preset in release debug; do
  case $preset in
    release) dir=build ;;
    debug) dir=build-debug ;;
  esac
  echo "== $preset"
  if [ $preset = release ]; then
    sh scripts/setup.sh && sh scripts/fetch_models.sh || exit 1
  fi
  sh scripts/build.sh $preset || exit 1
  ctest --test-dir "$dir" --output-on-failure --no-tests=error -j "$jobs" "$@" || status=1
done
if [ $status = 0 ]; then
  echo "check: passed"
else
  echo "check: FAILED" >&2
fi
exit $status
