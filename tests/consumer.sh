#!/bin/sh
# A library for others: install into a prefix with spaces, move it, and build the examples on it
# through CMake's find_package, through pkg-config and with the static library; all headers in C++.
# Then run them and look at what they print.
set -eu
if [ "$DIJOCO_FLAVOUR" != release ]; then exit 77; fi

work="$TMPDIR/consumer here"
rm -rf "$work"
mkdir -p "$work"
fail() {
  echo "consumer: $1" >&2
  exit 1
}
quiet() { "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "failed: $*"; }; }

# Installation writes below DESTDIR and prefix only, and the prefix may be moved afterwards.
stage="$work/stage"
DESTDIR="$stage" quiet cmake --install "$DIJOCO_BUILD" --prefix "/opt/some where"
[ "$(ls "$stage")" = opt ] || fail "DESTDIR holds more than the prefix"
prefix="$work/moved to"
mv "$stage/opt/some where" "$prefix"
if grep -rIlF -e "$DIJOCO_SOURCE" -e "/opt/some where" "$prefix/lib/cmake" "$prefix/lib/pkgconfig"
then fail "these name the source tree or the first prefix"; fi

# What runs now finds its libraries in the prefix, not in the build tree.
libraries() { LD_LIBRARY_PATH="" ldd "$1"; }
"$prefix/bin/dijoco" --version | grep -q '^dijoco [0-9]' || fail "bin/dijoco does not run"
libraries "$prefix/bin/dijoco" >"$work/log"
if grep -qe "not found" -e "$DIJOCO_BUILD/lib" -e "$DIJOCO_BUILD/deps" "$work/log"
then fail "bin/dijoco uses the build tree"; fi

examples="$prefix/share/dijoco/examples"
models="$prefix/share/dijoco/models"

# Every example's output.
look() { # program's folder
  (cd "$examples" && "$1/step") | grep -q "^world on box: 9.81" || fail "$1/step"
  (cd "$examples" && "$1/lqr") | grep -qx settled || fail "$1/lqr"
  "$1/transition" "$examples/box.json" | grep -q "^time 0.5, 1 contacts" || fail "$1/transition"
  (cd "$examples" && "$1/throw") | awk '
    /^d loss/ {
      n++
      g = $6 + 0; d = $8 + 0; if ((g - d) ^ 2 > (1e-4 * g) ^ 2 + 1e-10) bad = 1
      if (g != 0) some = 1
    }
    END { exit !(n == 6 && some && !bad) }' || fail "$1/throw: gradient and difference differ"
}

# find_package
quiet cmake -S "$examples" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$DIJOCO_CC" \
  -DCMAKE_C_FLAGS="-Wall -Wextra -Werror"
quiet cmake --build "$work/cmake" -j 2
look "$work/cmake"
if [ -x "$work/cmake/quadrotor_path" ]; then # there is NLopt
  (cd "$examples" && "$work/cmake/quadrotor_path") |
    grep -q "^status: converged, constraints hold" || fail quadrotor_path
fi
# docs/library.md's lines
mkdir "$work/page"
{
  printf 'cmake_minimum_required(VERSION 3.21)\nproject(p LANGUAGES C)\n'
  printf 'add_executable(program "%s/step.c")\n' "$examples"
  sed -n '/^```cmake$/,/^```$/p' "$DIJOCO_SOURCE/docs/library.md" | sed '1d;$d'
} >"$work/page/CMakeLists.txt"
quiet cmake -S "$work/page" -B "$work/page/build" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_C_COMPILER="$DIJOCO_CC" -DCMAKE_EXE_LINKER_FLAGS=-lm
quiet cmake --build "$work/page/build"
(cd "$examples" && "$work/page/build/program") | grep -q "^world on box: 9.81" ||
  fail docs/library.md
libraries "$work/cmake/step" | grep -q "libdijoco.so.[0-9].* => $prefix/lib" || fail "wrong library"
if libraries "$work/cmake/step_static" | grep -q libdijoco; then
  fail "step_static is not static"
fi
(cd "$examples" && "$work/cmake/step_static") | grep -q "^world on box: 9.81" || fail step_static
if [ -e "$prefix/lib/libdijoco_plugin.so" ]; then
  "$work/cmake/mjcf" "$models/wall_friction/scene.xml" >"$work/log" 2>&1 || fail mjcf
  grep -q "^qpos.0.: MuJoCo" "$work/log" || fail mjcf
  if grep dijoco: "$work/log" >&2; then fail "mjcf: the plugin complains"; fi
  "$work/cmake/plugin" >"$work/log" 2>&1 || fail plugin
  [ "$(grep -c "^height 0.8600 m\|^force  19.62" "$work/log")" = 2 ] || fail plugin

  # A program that leaves MuJoCo to the plugin, and a linker that drops what it can.
  mkdir "$work/import"
  cat >"$work/import/main.c" <<END
#include <dijoco/mujoco.h>
#include <stdio.h>
int main(int argc, char** argv) {
  djModel* model;
  djError err;
  if (argc == 2 && dj_loadMJCF(&model, NULL, NULL, argv[1], &err) == DJ_OK) return 0;
  puts(err.text);
  return 1;
}
END
  cat >"$work/import/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.21)
project(p LANGUAGES C)
find_package(dijoco REQUIRED COMPONENTS plugin)
add_executable(main main.c)
target_link_libraries(main PRIVATE dijoco::dijoco_plugin)
END
  quiet cmake -S "$work/import" -B "$work/import/build" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_COMPILER="$DIJOCO_CC" -DCMAKE_EXE_LINKER_FLAGS=-Wl,--as-needed
  quiet cmake --build "$work/import/build"
  quiet "$work/import/build/main" "$models/wall_friction/scene.xml"
  if [ -s "$work/log" ]; then fail "the plugin complains: $(cat "$work/log")"; fi
fi

# A version that is not there, and a component that is not, are refused.
refused() {
  mkdir -p "$work/refused"
  printf 'cmake_minimum_required(VERSION 3.21)\nproject(p LANGUAGES C)\nfind_package(%s)\n' \
    "$1" >"$work/refused/CMakeLists.txt"
  if cmake -S "$work/refused" -B "$work/refused/build" -DCMAKE_PREFIX_PATH="$prefix" \
    >"$work/log" 2>&1; then fail "find_package($1) is not refused"; fi
  rm -rf "$work/refused"
}
refused "dijoco 99.0 REQUIRED"
refused "dijoco REQUIRED COMPONENTS nonsense"

# pkg-config. Its output is for a shell: paths with spaces are escaped.
if command -v pkg-config >/dev/null 2>&1; then
  export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
  flags=$(pkg-config --cflags --libs dijoco)
  mkdir "$work/pkg"
  for example in step throw transition lqr; do
    eval "quiet \"\$DIJOCO_CC\" -std=c11 -o \"\$work/pkg/\$example\" \"\$examples/\$example.c\" \
      $flags -lm -Wl,-rpath,\"\$prefix/lib\""
  done
  look "$work/pkg"
  # README's program
  sed -n '/^```c$/,/^```$/p' "$DIJOCO_SOURCE/README.md" | sed '1d;$d' >"$work/readme.c"
  eval "quiet \"\$DIJOCO_CC\" -std=c11 -Wall -Wextra -Werror -o \"\$work/pkg/readme\" \
    \"\$work/readme.c\" $flags -Wl,-rpath,\"\$prefix/lib\""
  (cd "$examples" && "$work/pkg/readme") | grep -q "^z 0.1000 m, d z/d vz 0.0000" || fail README.md
  # static: the archive first, then what it needs
  flags=$(pkg-config --static --cflags --libs dijoco)
  eval "quiet \"\$DIJOCO_CC\" -std=c11 -o \"\$work/pkg/static\" \"\$examples/step.c\" \
    \"\$prefix/lib/libdijoco.a\" -Wl,--as-needed $flags"
  if libraries "$work/pkg/static" | grep -q libdijoco; then fail "pkg-config: not static"; fi
  (cd "$examples" && "$work/pkg/static") | grep -q "^world on box: 9.81" || fail "pkg/static"
else
  echo "consumer: no pkg-config, that part is left out"
fi

# C++: every header by itself, then a program.
for cxx in c++ g++ clang++ ""; do
  if [ -n "$cxx" ] && command -v $cxx >/dev/null 2>&1; then break; fi
done
if [ -n "$cxx" ]; then
  for header in "$prefix"/include/dijoco/*.h; do
    standard=c++11
    set --
    if [ "$(basename "$header")" = mujoco.h ]; then
      standard=c++17 # MuJoCo's own need
      include="$prefix/lib/dijoco/mujoco/include"
      [ -d "$include" ] || continue
      set -- -isystem "$include"
    fi
    printf '#include <dijoco/%s>\n#include <dijoco/%s>\n' "$(basename "$header")" \
      "$(basename "$header")" >"$work/header.cpp"
    quiet $cxx -std=$standard -Wall -Wextra -pedantic -Werror -fsyntax-only \
      -I"$prefix/include" "$@" "$work/header.cpp"
  done
  cat >"$work/program.cpp" <<'CPP'
#include <dijoco/dijoco.h>
#include <iostream>
#include <string>
int main(int argc, char** argv) {
  djModel* model = nullptr;
  djError error;
  if (argc < 2 || dj_loadModel(&model, argv[1], &error) < 0) return 2;
  std::cout << dj_version() << " " << model->nv << std::endl;
  dj_deleteModel(model);
}
CPP
  quiet $cxx -std=c++11 -I"$prefix/include" "$work/program.cpp" -o "$work/program" \
    -L"$prefix/lib" -ldijoco -Wl,-rpath,"$prefix/lib"
  "$work/program" "$examples/box.json" | grep -q " 6$" || fail "the C++ program"
else
  echo "consumer: no C++ compiler, that part is left out"
fi
rm -rf "$work"
