#!/bin/sh
# Timings of our code beside other libraries', in one run on one thread. Arguments: dijoco bench's;
# without any, blocks by hand and by BLAS, distance fields, supports of large hulls, a run with
# derivatives from differences, and tasks with their gradients come first, and what `dijoco bench`
# measures is recorded in docs/figures, from which README.md and docs have it.
# --against COMMIT: this tree beside that commit, taking turns (scripts/bench_against.py).
# IPC's barrier on the same hull pairs: scripts/bench_ipc.py.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build/deps
sh scripts/setup.sh
sh scripts/fetch_models.sh
sh scripts/build.sh release
export DIJOCO_GYMNASIUM="$PWD/build/deps/gymnasium" OPENBLAS_NUM_THREADS=1
case " $* " in
  *" --against "*) exec python3 scripts/bench_against.py "$@" ;;
esac
if [ $# -eq 0 ]; then
  build/bin/tests/bench_blocks
  build/bin/tests/bench_fields
  build/bin/tests/bench_proxies
  build/bin/tests/bench_supports
  build/bin/tests/bench_triangles
  build/bin/dijoco convert models/implicit/ten_bodies/scene.xml --out build/ten_bodies.json
  build/bin/tests/bench_differences build/ten_bodies.json thrown 5
  build/bin/dijoco bench models/finger/reach/task.json models/finger/rotate/task.json \
    models/finger/flip/task.json models/finger/assemble/task.json
  build/bin/dijoco bench --json >build/bench.json
  python3 -B scripts/figures.py bench build/bench.json
  python3 -B scripts/performance.py
  exec python3 -c 'import json
for r in json.load(open("build/bench.json"))["results"]:
  print("%-60s %12.4g %-4s %s" % (r["name"], r["ours"], r["unit"], "" if not isinstance(r.get("ratio"), (int, float))
        else "%s %.4g, ratio %.3g" % (r["peer_name"], r["peer"], r["ratio"])))'
fi
exec build/bin/dijoco bench "$@"
