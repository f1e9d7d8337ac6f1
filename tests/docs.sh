#!/bin/sh
# The reference builds without a warning and knows every public function; a declaration without a
# comment is a failure. Skipped where there is no Doxygen.
set -eu
command -v doxygen >/dev/null 2>&1 || exit 77
fail() {
  echo "docs: $1" >&2
  exit 1
}
work="$TMPDIR/docs tree"
rm -rf "$work"
mkdir -p "$work/core" "$work/mujoco_plugin"
cd "$DIJOCO_SOURCE"
cp -r docs examples scripts "$work"
cp -r core/include "$work/core"
cp -r mujoco_plugin/include "$work/mujoco_plugin"
cd "$work"

sh scripts/docs.sh >log 2>&1 || { cat log >&2; fail "warnings"; }
for name in $(sed -n 's/^DJ_API .*[ *]\(dj[a-z]*_[A-Za-z0-9]*\)(.*/\1/p' \
  core/include/dijoco/*.h mujoco_plugin/include/dijoco/*.h); do
  grep -rq ">$name<" build/docs/html || fail "$name is not there"
done
for example in examples/*.c; do
  grep -qF "@include $(basename "$example")" docs/reference.md || fail "$example is not shown"
done

# What must not pass.
sed -i 's|^// Version as text.*||' core/include/dijoco/types.h
if sh scripts/docs.sh >log 2>&1; then fail "a function without a comment passes"; fi
grep -q dj_version log || { cat log >&2; fail "the message does not name dj_version"; }
rm -rf "$work"
