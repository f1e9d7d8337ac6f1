#!/bin/sh
# Release build and its tests, clang's build of what is installed, everything without MuJoCo by both
# compilers, then the sanitizers' build and the tests that are not long there
# (tests/long_sanitized.txt). Arguments go to ctest.
# `scripts/check.sh --clang`: the quick tests by clang, alone; `--sanitize`: all under the sanitizers.
# Tests in Python run in environments made here; DIJOCO_TORCH=1: also in one with PyTorch and JAX.
set -u
cd "$(dirname "$0")/.." || exit 1
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
status=0
mkdir -p build/deps

# Status 77: there are no wheels for this machine's Python, and the tests say so.
python_envs() {
  for env in mujoco-4.0.0 mujoco-4.0.1 gym sweep notebook types; do
    sh scripts/python_env.sh $env >/dev/null || [ $? = 77 ] || return 1
  done
  sh scripts/setup.sh xvfb || echo "check: no Xvfb: the test of a window is skipped"
  sh scripts/setup.sh libosmesa6 || echo "check: no off-screen rendering: its tests are skipped"
  [ "${DIJOCO_TORCH:-0}" != 1 ] || sh scripts/python_env.sh torch >/dev/null ||
    echo "check: no PyTorch: its tests are skipped"
}

if [ "${1:-}" = --clang ]; then
  # Tests of modules only, and without those that check the same numbers for long.
  sh scripts/setup.sh clang && sh scripts/fetch_models.sh || exit 1
  sh scripts/build.sh clang dijoco dijoco_command dijoco_tests dijoco_fuzz references || exit 1
  exec ctest --test-dir build-clang --output-on-failure --no-tests=error -j "$jobs" \
    -R '^(test_|fuzz_|symbols$|references$)' -E '^(test_broken_input|test_threads)$'
fi

if [ "${1:-}" = --sanitize ]; then
  sh scripts/setup.sh && sh scripts/fetch_models.sh && sh scripts/build.sh debug || exit 1
  exec ctest --test-dir build-debug --output-on-failure --no-tests=error -j "$jobs"
fi

# $1: the build's folder; the rest goes to ctest.
run_tests() {
  folder=$1
  shift
  ctest --test-dir "$folder" --output-on-failure --no-tests=error -j "$jobs" "$@" || status=1
}

echo "== release"
sh scripts/setup.sh && sh scripts/fetch_models.sh || exit 1
case ${DIJOCO_WITHOUT_MUJOCO:-OFF} in
  1 | ON | on | YES | yes | TRUE | true) ;;
  *) python_envs || exit 1 ;;
esac
sh scripts/setup.sh chromium || echo "check: no Chromium: no page is opened in one"
sh scripts/setup.sh libnlopt-dev || echo "check: no NLopt: the test of quadrotor_path is skipped"
sh scripts/setup.sh python3-cmaes || echo "check: no python3-cmaes: its part of a test is skipped"
sh scripts/build.sh release || exit 1
run_tests build "$@"

echo "== clang"
if sh scripts/setup.sh clang; then
  sh scripts/build.sh clang dijoco dijoco_command references || exit 1
  run_tests build-clang -R '^(symbols|references)$'
else
  echo "check: no clang: its build is skipped"
fi

# All of it is built, without optimisation; what runs is quick, and what knows of MuJoCo's absence.
for compiler in gcc clang; do
  echo "== without MuJoCo, $compiler"
  if [ $compiler = clang ] && ! sh scripts/setup.sh clang; then
    echo "check: no clang: its build is skipped"
    continue
  fi
  sh scripts/build.sh core-$compiler || exit 1
  run_tests build-core-$compiler -E '^test_tool_(player|coacd)$' \
    -R '^(test_tool_.*|(test|fuzz)_task|cli_(contact|files|simulate)|consumer|symbols|references)$'
done

echo "== debug"
DIJOCO_CMAKE_ARGS="${DIJOCO_CMAKE_ARGS:-} -DDIJOCO_LONG_TESTS=OFF" \
  sh scripts/build.sh debug || exit 1
run_tests build-debug "$@"

if [ $status = 0 ]; then
  echo "check: passed"
else
  echo "check: FAILED" >&2
fi
exit $status
