# Compiler settings, as interface targets:
#   dj_flags       every target: language, warnings, optimisation, sanitizers
#   dj_core_flags  the core on top of that
#   dj_link_flags  what linking needs (sanitizer and coverage run times)
option(DIJOCO_NATIVE "Use every instruction of this machine (OFF: portable binaries)" ON)
option(DIJOCO_WERROR "Treat warnings as errors" OFF)
option(DIJOCO_TESTS "Build the tests" ON)
set(DIJOCO_FLAVOUR "release" CACHE STRING 
    "release, debug (sanitizers), tsan (thread sanitizer), valgrind, fuzz (libFuzzer) or coverage")
# Fused multiply-adds, which make steps about 10% faster. The same expression may then round
# differently in two places, so code must not rely on a x a being zero to the last bit. A build's
# results are the same from run to run either way.
set(DIJOCO_FP_CONTRACT "fast" CACHE STRING "off or fast: -ffp-contract")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_FLAGS_RELEASE "-O3")
set(CMAKE_C_FLAGS_DEBUG "-O1 -g")

add_library(dj_link_flags INTERFACE)
add_library(dj_flags INTERFACE)
add_library(dj_core_flags INTERFACE)

# _DEFAULT_SOURCE: POSIX 2008 and M_PI under strict -std=c11.
target_compile_definitions(dj_flags INTERFACE _DEFAULT_SOURCE)
# No -ffast-math: NaN, infinity and the order of operations keep their meaning.
target_compile_options(dj_flags INTERFACE
  -ffp-contract=${DIJOCO_FP_CONTRACT} -fno-math-errno -fno-trapping-math
  -Wno-psabi -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla
  -Wcast-qual -Wconversion -Wno-sign-conversion)
if(DIJOCO_WERROR)
  target_compile_options(dj_flags INTERFACE -Werror)
endif()
target_compile_definitions(dj_core_flags INTERFACE $<$<CONFIG:Release>:NDEBUG>)

if(CMAKE_C_COMPILER_ID STREQUAL "GNU") # it guesses wrong, depending on the machine's instructions
  target_compile_options(dj_flags INTERFACE -Wno-maybe-uninitialized)
endif()

if(DIJOCO_NATIVE)
  include(CheckCCompilerFlag)
  check_c_compiler_flag(-march=native DJ_HAVE_MARCH_NATIVE)
  if(DJ_HAVE_MARCH_NATIVE)
    target_compile_options(dj_flags INTERFACE -march=native)
  endif()
endif()

set(DJ_SANITIZED OFF)
if(DIJOCO_FLAVOUR STREQUAL "debug")
  set(sanitize -fsanitize=address,undefined)
elseif(DIJOCO_FLAVOUR STREQUAL "tsan")
  set(sanitize -fsanitize=thread)
elseif(DIJOCO_FLAVOUR STREQUAL "fuzz") # targets are linked with fuzzer besides
  set(sanitize -fsanitize=fuzzer-no-link,address,undefined)
endif()
if(DEFINED sanitize)
  set(DJ_SANITIZED ON)
  list(APPEND sanitize -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(dj_flags INTERFACE ${sanitize})
  target_link_options(dj_link_flags INTERFACE ${sanitize})
  # This header of MuJoCo wants functions for its stack that only a sanitized MuJoCo has.
  target_compile_definitions(dj_flags INTERFACE MUJOCO_INCLUDE_MJSAN_H_)
elseif(DIJOCO_FLAVOUR STREQUAL "valgrind")
  set(DJ_TEST_LAUNCHER valgrind -q --error-exitcode=99 --leak-check=full --track-origins=yes
      --show-leak-kinds=definite,indirect,possible --errors-for-leak-kinds=definite,indirect,possible
      "--suppressions=${CMAKE_SOURCE_DIR}/tests/valgrind.supp")
elseif(DIJOCO_FLAVOUR STREQUAL "coverage")
  target_compile_options(dj_flags INTERFACE --coverage -O0)
  target_link_options(dj_link_flags INTERFACE --coverage)
endif()
