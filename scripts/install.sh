#!/bin/sh
# Builds the release and installs it into $DESTDIR$PREFIX. Nothing else is written outside the tree.
set -eu
start=$PWD
cd "$(dirname "$0")/.."
prefix=${PREFIX:-/usr/local}
case $prefix in
  /*) ;;
  *) prefix=$start/$prefix ;;
esac
destdir=${DESTDIR:-}
case $destdir in
  "" | /*) ;;
  *) destdir=$start/$destdir ;;
esac
unset DESTDIR PREFIX
sh scripts/build.sh release
DESTDIR=$destdir cmake --install build --prefix "$prefix" >build/install.log || {
  tail -n 3 build/install.log >&2
  exit 1
}
echo "installed into $destdir$prefix"
