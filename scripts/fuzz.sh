#!/bin/sh
# Usage: TIME=SECONDS scripts/fuzz.sh [TARGET...]
# Runs libFuzzer's targets of tests/fuzz (all, or those named), under the address and
# undefined-behaviour sanitizers, for SECONDS in all (600). Prints the runs of each; fails when one
# crashed, leaked, hung or took too much memory, and keeps its input in build-fuzz/found. New inputs
# that reach new code are kept in build-fuzz/corpus, where the next run goes on.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build/deps
sh scripts/build.sh fuzz dijoco_fuzz
if [ $# = 0 ]; then
  for target in build-fuzz/bin/fuzz/fuzz_*; do set -- "$@" "${target##*/fuzz_}"; done
fi
each=$((${TIME:-600} / $#))
[ $each -gt 0 ] || each=1
found=build-fuzz/found
mkdir -p "$found" build-fuzz/tmp
status=0
export TMPDIR="$PWD/build-fuzz/tmp" OPENBLAS_NUM_THREADS=1 UBSAN_OPTIONS=print_stacktrace=1
for target in "$@"; do
  own=build-fuzz/corpus/$target
  log=build-fuzz/$target.log
  mkdir -p "$own"
  set -- "-max_total_time=$each" -timeout=20 -rss_limit_mb=2048 -max_len=8192 \
    -print_final_stats=1 -close_fd_mask=3 "-artifact_prefix=$found/$target-"
  if [ -f "tests/fuzz/$target.dict" ]; then set -- "$@" "-dict=tests/fuzz/$target.dict"; fi
  result=ok
  "build-fuzz/bin/fuzz/fuzz_$target" "$@" "$own" "tests/fuzz/corpus/$target" >"$log" 2>&1 || {
    result="FAILED: $log"
    status=1
  }
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  printf '%-10s %10s runs in %s s  %s\n' "$target" "${runs:-?}" "$each" "$result"
done
if [ $status != 0 ]; then
  echo "fuzz: FAILED; inputs are in $found" >&2
  exit 1
fi
echo "fuzz: passed"
