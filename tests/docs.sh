#!/bin/sh
# The site builds without a warning: the C reference knows every public function, the Python one every
# public name; a declaration or function without a comment and a link that leads nowhere are failures.
# The part whose tool is not here (make docs installs both) is left out.
set -eu
fail() {
  echo "docs: $1" >&2
  exit 1
}
work="$TMPDIR/docs tree"
env="$DIJOCO_SOURCE/build/deps/python/docs"
c=no site=no
if command -v doxygen >/dev/null 2>&1; then c=yes; fi
if [ -f "$env/.made" ]; then site=yes; fi
[ "$c$site" != nono ] || exit 77
rm -rf "$work"
mkdir -p "$work/core" "$work/mujoco_plugin" "$work/build/deps" "$work/python"
cd "$DIJOCO_SOURCE"
cp -r ./*.md LICENSE docs examples models scripts validation "$work"
cp -r core/include "$work/core"
cp -r mujoco_plugin/include "$work/mujoco_plugin"
cp -r python/dijoco python/requirements "$work/python"
cd "$work"
made() { sh scripts/docs.sh "$1" >log 2>&1; }
refused() { # part, what the message names, what passes
  if made "$1"; then fail "$3 passes"; fi
  grep -qF "$2" log || { cat log >&2; fail "the message does not name $2"; }
}

if [ $c = yes ]; then
  made c || { cat log >&2; fail "warnings"; }
  for name in $(sed -n 's/^DJ_API .*[ *]\(dj[a-z]*_[A-Za-z0-9]*\)(.*/\1/p' \
    core/include/dijoco/*.h mujoco_plugin/include/dijoco/*.h); do
    grep -rq ">$name<" build/docs/html/c || fail "$name is not there"
  done
  for example in examples/*.c; do
    grep -qF "@include $(basename "$example")" docs/reference.md || fail "$example is not shown"
  done
  sed -i 's|^// Version as text.*||' core/include/dijoco/types.h
  refused c dj_version "a function without a comment"
fi

if [ $site = yes ]; then
  export DIJOCO_OFFLINE=1
  mkdir build/deps/python
  ln -s "$env" build/deps/python/docs
  made site || { cat log >&2; fail "warnings"; }
  for page in docs/*.md; do
    [ "$page" = docs/reference.md ] || [ -f "build/docs/html/${page%.md}.html" ] ||
      fail "$page is not there"
  done
  for name in dijoco.Model.load dijoco.Rollout.vjp dijoco.mujoco.transition dijoco.jax.step; do
    grep -q "id=\"$name\"" build/docs/html/docs/python_reference.html || fail "$name is not there"
  done
  cp docs/step.md kept
  echo '[x](contact.md#nothing)' >>docs/step.md
  refused site nothing "a link to no heading"
  cp kept docs/step.md
  echo '[x](nothing.md)' >>docs/step.md
  refused site nothing.md "a link to no page"
  cp kept docs/step.md
  printf 'def bare(x):\n    return x\n' >>python/dijoco/jax.py
  refused site dijoco.jax.bare "a function without a docstring"
fi
rm -rf "$work"
