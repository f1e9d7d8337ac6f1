#!/bin/sh
# A wheel of scripts/wheel.sh in a root with Python, numpy and MuJoCo's package alone: of the system's
# libraries only those of the C library, and what Python itself needs.
# Usage: bare.sh WHEEL. Needs root, for chroot.
set -eu
wheel=$(realpath "$1")
cd "$(dirname "$0")/../.."
env=$(sh scripts/python_env.sh mujoco-4.0.1)
wheels=$PWD/build/deps/python/wheels
root=$PWD/build/wheel/root
rm -rf "$root"
mkdir -p "$root/tmp" "$root/proc" "$root/dev" "$root/work"
python=$(realpath "$env/bin/python")
prefix=$("$python" -c 'import sys; print(sys.base_prefix)')

# Python and the libraries that it and its modules name.
copy() { mkdir -p "$root$(dirname "$1")" && cp -L "$1" "$root$1"; }
library=$("$python" -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
mkdir -p "$root$library" "$root$prefix/bin"
cp -r "$library/." "$root$library"
rm -rf "$root$library/site-packages" "$root$library/dist-packages" "$root$library/test"
cp "$python" "$root$prefix/bin/python3"
for file in "$python" "$library"/lib-dynload/*.so /bin/sh; do ldd "$file" 2>/dev/null || true; done |
  sed -n 's|.*[[:space:]]\(/[^ ]*\) (0x.*|\1|p' | sort -u | while read -r needed; do copy "$needed"; done
copy /bin/sh
for needed in libstdc++.so.6 libgcc_s.so.1 libz.so.1 libdl.so.2 libpthread.so.0 librt.so.1; do # numpy's and MuJoCo's
  copy "$(ldconfig -p | sed -n "s|.*$needed .*=> ||p" | head -n 1)"
done
"$env/bin/python" -m pip --quiet --no-cache-dir --disable-pip-version-check install --no-index \
  --find-links "$wheels" --no-compile --no-deps --target "$root/work/site" numpy \
  mujoco-core==4.0.1 "$wheel"
cp tests/python/smoke.py models/throw/scene.xml models/throw/task.json "$root/work"

mount --bind /proc "$root/proc"
trap 'umount "$root/proc"' EXIT
chroot=$(command -v chroot)
inside() {
  env -i PYTHONPATH=/work/site HOME=/work MUJOCO_GL=off LD_LIBRARY_PATH="" ${level:+DIJOCO_CPU=$level} \
    "$chroot" "$root" "$prefix/bin/python3" "$@"
}
for level in "" x86-64 x86-64-v3; do
  inside -c 'import os; os.chdir("/work"); import sys; sys.prefix = "/work"; exec(open("smoke.py").read())'
done
inside -c 'import os, sys; os.chdir("/work"); sys.argv = ["dijoco", "grad", "task.json", "--check", "--quiet"]
import dijoco.command; dijoco.command.main()'
echo "bare: the wheel runs where nothing else is installed"
