# libdijoco_plugin.so is not linked to MuJoCo: its sources are compiled with MuJoCo's names defined
# as entries of a table, which is filled at run time (mujoco_plugin/library). Two headers are written
# for that, from what MuJoCo's headers (and mujoco_plugin/attach.h) declare and the sources name:
#   mujoco_symbols.h    DJM_SYMBOLS(X): X(name) of each
#   mujoco_redirect.h   #define name djm_mujoco.name, for variables (*djm_mujoco.name); the
#                       compiler is told to include it first
# This file is a module that adds the target, and the script (cmake -P) that the target runs.

# Lets target see MuJoCo's headers and the two written ones.
function(dj_redirect_mujoco target)
  set(out "${CMAKE_BINARY_DIR}/redirect")
  set(include "$<TARGET_PROPERTY:MuJoCo::MuJoCo,INTERFACE_INCLUDE_DIRECTORIES>")
  if(NOT TARGET dj_redirect)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/mujoco_plugin/*.[ch]")
    set(script "${CMAKE_SOURCE_DIR}/cmake/Redirect.cmake")
    add_custom_command(
      OUTPUT "${out}/stamp" BYPRODUCTS "${out}/mujoco_symbols.h" "${out}/mujoco_redirect.h"
      COMMAND "${CMAKE_COMMAND}" -DINCLUDE=${include} -DSOURCES=${CMAKE_SOURCE_DIR}/mujoco_plugin
              -DOUT=${out} -P "${script}"
      COMMAND "${CMAKE_COMMAND}" -E touch "${out}/stamp"
      DEPENDS ${sources} "${script}" VERBATIM
      COMMENT "Listing what libdijoco_plugin uses of MuJoCo")
    add_custom_target(dj_redirect DEPENDS "${out}/stamp")
  endif()
  add_dependencies(${target} dj_redirect)
  target_include_directories(${target} PRIVATE "${out}")
  target_include_directories(${target} SYSTEM PRIVATE "${include}")
endfunction()

if(NOT CMAKE_SCRIPT_MODE_FILE)
  return()
endif()

cmake_minimum_required(VERSION 3.21)

file(GLOB headers "${INCLUDE}/mujoco/*.h" "${SOURCES}/*.h")
set(functions "")
set(variables "")
foreach(header IN LISTS headers)
  file(READ "${header}" text)
  string(REGEX MATCHALL "MJAPI [A-Za-z0-9_ *]*[ *]_?mj[A-Za-z0-9_]+ *\\(" calls "${text}")
  string(REGEX MATCHALL "MJAPI extern [A-Za-z0-9_ *]*[ *]mj[A-Za-z0-9_]+ *;" plain "${text}")
  string(REGEX MATCHALL "MJAPI extern [A-Za-z0-9_ *]*\\(\\*mj[A-Za-z0-9_]+\\)" pointers "${text}")
  string(REPLACE "[" "@" text "${text}") # no item of a list may have a bracket alone
  string(REGEX MATCHALL "MJAPI extern [A-Za-z0-9_ *]*[ *]mj[A-Za-z0-9_]+ *@" arrays "${text}")
  set(name "^.*[ *](_?mj[A-Za-z0-9_]+) *.?$")
  list(TRANSFORM calls REPLACE "${name}" "\\1")
  list(TRANSFORM plain REPLACE "${name}" "\\1")
  list(TRANSFORM pointers REPLACE "${name}" "\\1")
  list(APPEND functions ${calls})
  list(TRANSFORM arrays REPLACE "${name}" "\\1")
  list(APPEND variables ${plain} ${pointers} ${arrays})
endforeach()

file(GLOB_RECURSE sources "${SOURCES}/*.c" "${SOURCES}/*.h")
set(named "")
foreach(source IN LISTS sources)
  file(READ "${source}" text)
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  string(REGEX MATCHALL "_?mj[A-Za-z0-9_]+" names "${text}")
  list(APPEND named ${names})
endforeach()
list(REMOVE_DUPLICATES named)
list(SORT named)

set(symbols "#define DJM_SYMBOLS(X)")
set(redirect "#include \"attach.h\"\n\n")
foreach(name IN LISTS named)
  if(name IN_LIST functions)
    string(APPEND redirect "#define ${name} djm_mujoco.${name}\n")
  elseif(name IN_LIST variables)
    string(APPEND redirect "#define ${name} (*djm_mujoco.${name})\n")
  else()
    continue()
  endif()
  string(APPEND symbols " \\\n  X(${name})")
endforeach()

foreach(kind symbols redirect)
  set(old "")
  if(EXISTS "${OUT}/mujoco_${kind}.h")
    file(READ "${OUT}/mujoco_${kind}.h" old)
  endif()
  set(new "// Written by cmake/Redirect.cmake.\n${${kind}}\n")
  if(NOT new STREQUAL old)
    file(WRITE "${OUT}/mujoco_${kind}.h" "${new}")
  endif()
endforeach()
