# Registers the tests with ctest. A test is called after its file, without the extension.
#   tests/test_*.c        one cmocka program each, linked with tests/common/*.c; sees core/src
#   tests/kernels/*.c     contact kernels of the tests, in test_kernel_*, test_mj_kernel_*, and in a
#                         command of their own, bin/tests/dijoco_kernels
#   tests/*.sh, *.py      run by sh and python3
#   tests/references      stored results of scenes: the test references, apart from all others
#   tests/bench           times of what only the core sees, for scripts/bench.sh: no test
#   validation/ctest.txt  validation programs: one line each, "name [arguments]"; "full" before it:
#                         no test
#   tests/fuzz/*.c        targets of libFuzzer; as tests, fuzz_* run the inputs of tests/fuzz/corpus
#   tests/test_plugin_*.c loads libdijoco_plugin.so and MuJoCo at run time, linked to neither
#   python/tests          by pytest, as python_*, with each MuJoCo that scripts/python_env.sh knows
# Tests test_tool_*.c and test_mj_tool_*.c are linked with the parts of the command. Names with mj_
# (test_mj_*.c, mj_*.sh, mj_*.py, validation mj_*) or plugin_ need MuJoCo. Tests listed in
# tests/release_only.txt do not run under the sanitizers, nor, with DIJOCO_LONG_TESTS off, those of
# tests/long_sanitized.txt. The flavours tsan and valgrind build and run the tests of tests/tsan.txt
# and tests/valgrind.txt only.

# Names listed in tests/FILE, if there is such a file.
function(dj_read_names out file)
  set(names "")
  if(EXISTS "${CMAKE_SOURCE_DIR}/tests/${file}")
    file(STRINGS "${CMAKE_SOURCE_DIR}/tests/${file}" names REGEX "^[^#]")
    list(TRANSFORM names STRIP)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS tests/${file})
  endif()
  set(${out} "${names}" PARENT_SCOPE)
endfunction()

option(DIJOCO_LONG_TESTS "Under the sanitizers, also the tests that are long there" ON)
dj_read_names(dj_release_only release_only.txt)
if(NOT DIJOCO_LONG_TESTS)
  dj_read_names(dj_long long_sanitized.txt)
endif()
dj_read_names(dj_only ${DIJOCO_FLAVOUR}.txt)

add_custom_target(dijoco_tests) # the programs of all tests in C
add_custom_target(dijoco_fuzz)

set(DIJOCO_GYMNASIUM_DIR "${CMAKE_SOURCE_DIR}/build/deps/gymnasium" CACHE PATH
    "Folder with gymnasium's MJCF models (scripts/fetch_models.sh fetches it)")
set(DIJOCO_DM_CONTROL_DIR "${CMAKE_SOURCE_DIR}/build/deps/dm_control" CACHE PATH
    "Folder with dm_control's MJCF models (scripts/fetch_models.sh fetches it)")
set(DIJOCO_ROBOSUITE_DIR "${CMAKE_SOURCE_DIR}/build/deps/robosuite" CACHE PATH
    "Folder with robosuite's robots (scripts/fetch.py robosuite fetches it)")
set(DIJOCO_METAWORLD_DIR "${CMAKE_SOURCE_DIR}/build/deps/metaworld" CACHE PATH
    "Folder with metaworld's assets (scripts/fetch.py metaworld fetches it)")

# Whether this build has the test.
function(dj_wants_test out name)
  set(wanted ON)
  if(dj_only)
    if(NOT name IN_LIST dj_only)
      set(wanted OFF)
    endif()
  elseif(DJ_SANITIZED AND (name IN_LIST dj_release_only OR name IN_LIST dj_long))
    set(wanted OFF)
  endif()
  set(${out} ${wanted} PARENT_SCOPE)
endfunction()

function(dj_add_test name)
  dj_wants_test(wanted ${name})
  if(NOT wanted)
    return()
  endif()
  if(name MATCHES "^(test_|validation_|fuzz_)?(mj|plugin)_" AND NOT TARGET dijoco_mujoco)
    return()
  endif()
  add_test(NAME ${name} COMMAND ${DJ_TEST_LAUNCHER} ${ARGN}
           WORKING_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  set(environment
    "DIJOCO_SOURCE=${CMAKE_SOURCE_DIR}" "DIJOCO_BUILD=${CMAKE_BINARY_DIR}"
    "DIJOCO_BIN=${CMAKE_BINARY_DIR}/bin/dijoco" "DIJOCO_FLAVOUR=${DIJOCO_FLAVOUR}"
    "DIJOCO_CC=${CMAKE_C_COMPILER}" "PYTHONDONTWRITEBYTECODE=1"
    "TMPDIR=${CMAKE_BINARY_DIR}/tests" # nothing is left outside the tree
    "ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1" "UBSAN_OPTIONS=print_stacktrace=1"
    "TSAN_OPTIONS=halt_on_error=1:allocator_may_return_null=1"
    "LSAN_OPTIONS=print_suppressions=0:suppressions=${CMAKE_SOURCE_DIR}/tests/lsan.supp"
    # ctest runs several tests at once: one BLAS thread each.
    "OPENBLAS_NUM_THREADS=1")
  if(EXISTS "${DIJOCO_GYMNASIUM_DIR}")
    list(APPEND environment "DIJOCO_GYMNASIUM=${DIJOCO_GYMNASIUM_DIR}")
  endif()
  if(EXISTS "${DIJOCO_DM_CONTROL_DIR}")
    list(APPEND environment "DIJOCO_DM_CONTROL=${DIJOCO_DM_CONTROL_DIR}")
  endif()
  if(EXISTS "${DIJOCO_ROBOSUITE_DIR}")
    list(APPEND environment "DIJOCO_ROBOSUITE=${DIJOCO_ROBOSUITE_DIR}")
  endif()
  if(EXISTS "${DIJOCO_METAWORLD_DIR}")
    list(APPEND environment "DIJOCO_METAWORLD=${DIJOCO_METAWORLD_DIR}")
  endif()
  # Exit status 77: skipped (as automake has it).
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${environment}" TIMEOUT 900
                       SKIP_RETURN_CODE 77)
endfunction()

function(dj_add_c_tests)
  file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  file(GLOB common CONFIGURE_DEPENDS "tests/common/*.c")
  file(GLOB sources CONFIGURE_DEPENDS "tests/test_*.c")
  if(NOT sources)
    return()
  endif()
  add_library(dj_cmocka INTERFACE)
  dj_require(cmocka.h cmocka libcmocka-dev dj_cmocka)
  add_library(dj_test_common STATIC ${common})
  target_include_directories(dj_test_common PUBLIC tests core/src)
  target_compile_definitions(dj_test_common PUBLIC DIJOCO_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                             DIJOCO_BUILD_DIR="${CMAKE_BINARY_DIR}")
  target_link_libraries(dj_test_common PUBLIC dj_flags ${core_link} dj_cmocka)
  # Tests call what takes time; to optimise their own code would take longer than to run it.
  target_compile_options(dj_test_common PUBLIC $<IF:$<CONFIG:Release>,-O1,-O0>
                         $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  # Kernels of the tests, and a table with them in place of the library's: objects, not an archive,
  # so that they come first.
  file(GLOB kernels CONFIGURE_DEPENDS "tests/kernels/*.c")
  add_library(dj_test_kernels OBJECT ${kernels})
  target_include_directories(dj_test_kernels PUBLIC tests/kernels PRIVATE core/src core/include)
  target_link_libraries(dj_test_kernels PRIVATE dj_flags)
  add_executable(dijoco_kernels tools/main.c $<TARGET_OBJECTS:dj_test_kernels>)
  set_target_properties(dijoco_kernels PROPERTIES
                        RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin/tests")
  target_link_libraries(dijoco_kernels PRIVATE dj_flags dijoco_verbs)
  add_dependencies(dijoco_tests dijoco_kernels)
  foreach(source IN LISTS sources)
    get_filename_component(name "${source}" NAME_WE)
    dj_wants_test(wanted ${name})
    if(NOT wanted)
      continue()
    endif()
    if(name MATCHES "^test_plugin_")
      dj_add_plugin_test("${name}" "${source}")
      continue()
    endif()
    set(link dj_test_common)
    if(name MATCHES "^test_mj_")
      if(NOT TARGET dijoco_mujoco)
        continue()
      endif()
      list(APPEND link dijoco_mujoco ${CMAKE_DL_LIBS})
    endif()
    add_executable(${name} "${source}")
    set_target_properties(${name} PROPERTIES
                          RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin/tests")
    if(name MATCHES "^test_(mj_)?kernel_")
      target_sources(${name} PRIVATE $<TARGET_OBJECTS:dj_test_kernels>)
      target_include_directories(${name} PRIVATE tests/kernels)
    endif()
    if(name MATCHES "^test_(mj_)?tool_")
      list(APPEND link dijoco_verbs)
    endif()
    target_link_libraries(${name} PRIVATE ${link})
    add_dependencies(dijoco_tests ${name})
    dj_add_test(${name} "$<TARGET_FILE:${name}>")
  endforeach()
endfunction()

# With libFuzzer in the flavour fuzz, otherwise with a main that runs files.
function(dj_add_fuzz_targets)
  set(folder "${CMAKE_SOURCE_DIR}/tests/fuzz")
  set(common "${folder}/file.c" "${CMAKE_SOURCE_DIR}/tests/common/sample_model.c")
  if(NOT DIJOCO_FLAVOUR STREQUAL "fuzz")
    list(APPEND common "${folder}/main.c")
  endif()
  file(GLOB corpora CONFIGURE_DEPENDS "${folder}/corpus/*")
  foreach(corpus IN LISTS corpora)
    get_filename_component(target "${corpus}" NAME)
    set(name fuzz_${target})
    dj_wants_test(wanted ${name})
    if(NOT wanted OR (target MATCHES "^mj_" AND NOT TARGET dijoco_mujoco))
      continue()
    endif()
    add_executable(${name} "${folder}/${target}.c" ${common})
    set_target_properties(${name} PROPERTIES
                          RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin/fuzz")
    target_include_directories(${name} PRIVATE tests tests/fuzz)
    target_link_libraries(${name} PRIVATE dj_flags dijoco_verbs)
    add_dependencies(dijoco_fuzz ${name})
    if(DIJOCO_FLAVOUR STREQUAL "fuzz")
      target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    else()
      dj_add_test(${name} "$<TARGET_FILE:${name}>" "${corpus}")
    endif()
  endforeach()
endfunction()

# A library that passes for MuJoCo of this version.
function(dj_add_fake_mujoco ending number text)
  add_library(fake_mujoco_${ending} SHARED tests/fake/mujoco.c)
  target_compile_definitions(fake_mujoco_${ending} PRIVATE FAKE_VERSION=${number}
                             FAKE_TEXT="${text}")
  target_link_libraries(fake_mujoco_${ending} PRIVATE dj_flags dj_link_flags)
  set_target_properties(fake_mujoco_${ending} PROPERTIES OUTPUT_NAME mujoco
                        SUFFIX ".so.${ending}" LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
endfunction()

function(dj_add_plugin_test name source)
  if(NOT TARGET dijoco_plugin)
    return()
  endif()
  get_target_property(library MuJoCo::MuJoCo IMPORTED_LOCATION)
  string(REGEX REPLACE "\\.[0-9]+$" "" family "${MuJoCo_VERSION}")
  if(NOT TARGET fake_mujoco_empty)
    string(REPLACE "." ";" numbers "${family}")
    list(GET numbers 0 major)
    list(GET numbers 1 minor)
    math(EXPR number "1000000 * ${major} + 1000 * ${minor} + 999")
    dj_add_fake_mujoco(9.9.9 9009009 9.9.9)
    dj_add_fake_mujoco(empty ${number} ${family}.999)
    configure_file("${library}" "${CMAKE_BINARY_DIR}/tests/libmujoco.so.copy" COPYONLY)
  endif()
  add_executable(${name} "${source}")
  set_target_properties(${name} PROPERTIES
                        RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin/tests")
  target_include_directories(${name} PRIVATE core/include mujoco_plugin/include)
  target_include_directories(${name} SYSTEM PRIVATE
                             $<TARGET_PROPERTY:MuJoCo::MuJoCo,INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_definitions(${name} PRIVATE DIJOCO_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                             DIJOCO_BUILD_DIR="${CMAKE_BINARY_DIR}" MUJOCO="${library}"
                             FAMILY_TEXT="${family}")
  target_link_libraries(${name} PRIVATE dj_flags dj_link_flags dj_cmocka ${CMAKE_DL_LIBS}
                        Threads::Threads)
  add_dependencies(${name} dijoco_plugin fake_mujoco_9.9.9 fake_mujoco_empty)
  add_dependencies(dijoco_tests ${name})
  dj_add_test(${name} "$<TARGET_FILE:${name}>")
endfunction()

function(dj_add_script_tests)
  find_program(DJ_PYTHON3 python3)
  file(GLOB scripts CONFIGURE_DEPENDS "tests/*.sh" "tests/*.py")
  foreach(script IN LISTS scripts)
    get_filename_component(name "${script}" NAME_WE)
    if(script MATCHES "\\.sh$")
      dj_add_test(${name} sh "${script}")
    elseif(DJ_PYTHON3)
      dj_add_test(${name} "${DJ_PYTHON3}" "${script}")
    endif()
  endforeach()
endfunction()

# Stored results beside this build's.
function(dj_add_references_test)
  file(GLOB sources CONFIGURE_DEPENDS "tests/references/*.c")
  add_executable(references ${sources})
  set_target_properties(references PROPERTIES
                        RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin/tests")
  target_include_directories(references PRIVATE core/src)
  target_compile_definitions(references PRIVATE DIJOCO_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  target_link_libraries(references PRIVATE dj_flags dijoco_static)
  dj_add_test(references "$<TARGET_FILE:references>")
endfunction()

function(dj_add_bench)
  foreach(name blocks differences fields proxies supports triangles)
    add_executable(bench_${name} tests/bench/${name}.c)
    set_target_properties(bench_${name} PROPERTIES
                          RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin/tests")
    target_include_directories(bench_${name} PRIVATE core/src tests)
    target_link_libraries(bench_${name} PRIVATE dj_flags dijoco_static)
  endforeach()
endfunction()

function(dj_add_validation_tests)
  set(list_file "${CMAKE_SOURCE_DIR}/validation/ctest.txt")
  if(NOT EXISTS "${list_file}")
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${list_file}")
  file(STRINGS "${list_file}" lines REGEX "^[^#]")
  foreach(line IN LISTS lines)
    separate_arguments(words UNIX_COMMAND "${line}")
    list(POP_FRONT words name)
    if(name STREQUAL "full") # by scripts/validate.sh alone
      continue()
    endif()
    if(TARGET validation_${name})
      set(suffix "")
      if(line MATCHES "--integrator ([a-z]+)")
        set(suffix "_${CMAKE_MATCH_1}")
      endif()
      if(line MATCHES "--law ([a-z]+)")
        string(APPEND suffix "_${CMAKE_MATCH_1}")
      endif()
      if(line MATCHES "--sunk ([0-9.]+)")
        string(APPEND suffix "_sunk${CMAKE_MATCH_1}")
      endif()
      if(line MATCHES "--skin ([0-9.]+)")
        string(APPEND suffix "_skin${CMAKE_MATCH_1}")
      endif()
      dj_add_test(validation_${name}${suffix} "$<TARGET_FILE:validation_${name}>" ${words})
    elseif(NOT name MATCHES "^mj_" OR TARGET dijoco_mujoco)
      message(FATAL_ERROR "validation/ctest.txt: there is no validation/${name}.c")
    endif()
  endforeach()
endfunction()

# Python does not load libraries with sanitizers, and only 4.0's headers fit the pinned wheels.
function(dj_add_python_tests)
  if(NOT TARGET dijoco_plugin OR DJ_SANITIZED
     OR NOT MuJoCo_VERSION VERSION_GREATER_EQUAL 4 OR NOT MuJoCo_VERSION VERSION_LESS 4.1
     OR NOT EXISTS "${CMAKE_SOURCE_DIR}/python/pyproject.toml")
    return()
  endif()
  set(folder "${CMAKE_SOURCE_DIR}/tests/python")
  foreach(version 4.0.0 4.0.1)
    string(REPLACE "." "_" name "python_mujoco_${version}")
    dj_add_test(${name} sh "${folder}/run.sh" mujoco-${version})
  endforeach()
  dj_add_test(python_types sh "${folder}/types.sh")
  dj_add_test(python_wheel sh "${folder}/wheel.sh")
  dj_add_test(python_torch sh "${folder}/run.sh" torch)
  dj_add_test(python_gym sh "${folder}/run.sh" gym)
  dj_add_test(python_notebook sh "${folder}/run.sh" notebook)
  dj_add_test(python_sweep sh "${folder}/run.sh" sweep)
  set(mpc mpc.py push --short)
  if(EXISTS "${DIJOCO_GYMNASIUM_DIR}")
    set(mpc mpc.py --short)
  endif()
  dj_add_test(python_example_box_on_table sh "${folder}/example.sh" mujoco-4.0.1 box_on_table.py)
  dj_add_test(python_example_mpc sh "${folder}/example.sh" mujoco-4.0.1 ${mpc})
  dj_add_test(python_example_mpc_compare sh "${folder}/example.sh" mujoco-4.0.1 ${mpc} --compare)
  dj_add_test(python_example_push sh "${folder}/example.sh" mujoco-4.0.1 push.py)
  dj_add_test(python_example_identify sh "${folder}/example.sh" mujoco-4.0.1 identify.py)
  if(EXISTS "${DIJOCO_GYMNASIUM_DIR}")
    dj_add_test(python_example_shac sh "${folder}/example.sh" torch shac.py
                "${DIJOCO_GYMNASIUM_DIR}/hopper.xml" --short)
  endif()
  dj_add_test(python_example_friction_fit sh "${folder}/example.sh" torch friction_fit.py)
endfunction()
