#!/bin/sh
# A release of the commit that is checked out, in dist/: the source archive, its bill of materials
# (SPDX), a Debian package, and SHA256SUMS. Usage: scripts/dist.sh
#
# The archive is unpacked and built where there is no network, with what the bill names: the system's
# libraries, and MuJoCo's wheel in build/deps. What was built there says its version, runs a scene and
# is what the Debian package holds. The same commit gives the same archive.
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/^#define DJ_VERSION_[A-Z]* \([0-9]*\)$/\1/p' core/include/dijoco/types.h |
  paste -sd.)
commit=$(git rev-parse --verify HEAD) || { echo "dist: a git checkout is needed" >&2; exit 1; }
[ -z "$(git status --porcelain --untracked-files=no)" ] ||
  echo "dist: changes that are not committed are left out" >&2
grep -q "^## .*$(echo "$version" | cut -d. -f1-2)" CHANGELOG.md || {
  echo "dist: CHANGELOG.md has no heading of version $version" >&2
  exit 1
}
sh scripts/setup.sh
python3 scripts/fetch.py mujoco
python3 scripts/abi.py check
name=dijoco-$version
mkdir -p dist build/dist
git archive --format=tar --prefix="$name/" "$commit" | gzip -n9 >"dist/$name.tar.gz"
python3 scripts/sbom.py "dist/$name.spdx.json" "dist/$name.tar.gz"

work=$PWD/build/dist
rm -rf "${work:?}/$name" "$work/root"
tar -xzf "dist/$name.tar.gz" -C "$work"
mkdir -p "$work/$name/build/deps"
cp -a build/deps/mujoco "$work/$name/build/deps/"
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
# Without a network where this machine lets us have none.
alone=""
if unshare -rn true 2>/dev/null; then alone="unshare -rn"; fi
log=$work/log
quiet() { "$@" >"$log" 2>&1 || { tail -n 20 "$log" >&2; echo "dist: failed: $*" >&2; exit 1; }; }
unset MAKEFLAGS MFLAGS MAKELEVEL || true
(
  cd "$work/$name"
  quiet $alone env DIJOCO_OFFLINE=1 sh scripts/setup.sh
  quiet $alone cmake --preset release -G "Unix Makefiles" -DDIJOCO_NATIVE=OFF -DDIJOCO_TESTS=OFF \
    -DCMAKE_SKIP_INSTALL_ALL_DEPENDENCY=ON ${DIJOCO_CMAKE_ARGS:-}
  quiet $alone cmake --build build -j "$jobs" --target dijoco dijoco_static dijoco_plugin \
    dijoco_command
  python3 scripts/sbom.py --check build/lib/libdijoco.so build/lib/libdijoco_plugin.so \
    build/bin/dijoco
)
if command -v dpkg-shlibdeps >/dev/null 2>&1; then
  (cd "$work/$name/build" && quiet cpack -G DEB -B "$work/deb")
  deb=$(ls "$work"/deb/*.deb)
  mv "$deb" dist/
  deb=dist/$(basename "$deb")
  dpkg-deb -x "$deb" "$work/root"
else
  echo "dist: no dpkg-shlibdeps (package dpkg-dev): no Debian package" >&2
  quiet cmake --install "$work/$name/build" --prefix "$work/root/usr"
fi
program=$work/root/usr/bin/dijoco
[ "$("$program" --version | head -n 1 | cut -d' ' -f2)" = "$version" ] || {
  echo "dist: $program is not of version $version" >&2
  exit 1
}
quiet "$program" simulate "$work/root/usr/share/dijoco/models/bounce/scene.xml" --time 0.1
(cd dist && sha256sum "$name".tar.gz "$name".spdx.json ${deb:+"$(basename "$deb")"} >SHA256SUMS)
cat dist/SHA256SUMS
