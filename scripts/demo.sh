#!/bin/sh
# A short scene with contact in both engines, side by side; then a gradient through it, checked
# against differences.
set -eu
cd "$(dirname "$0")/.."
sh scripts/build.sh release
dijoco=build/bin/dijoco
out=build/demo
run() {
  echo
  echo "\$ $*"
  "$@"
}
run "$dijoco" compare models/wall_friction/scene.xml --time 2 --out "$out"
echo
echo "Report: $PWD/$out/report.html"
run "$dijoco" grad models/wall_friction/task.json --check --out "$out/gradient.json"
echo
echo "Gradient and certificate: $PWD/$out/gradient.json"
