# Finds MuJoCo's C library: MUJOCO_DIR if set, else the copy that `make build` fetched into
# build/deps/mujoco, else an installed one. MUJOCO_DIR is an unpacked release, an installation
# prefix, or the `mujoco` folder of a Python package (no libmujoco.so there, only the full name).
#
# Result: MuJoCo_FOUND, MuJoCo_VERSION, MuJoCo_LIBRARY, target MuJoCo::MuJoCo.
# Nothing is cached, so that a changed MUJOCO_DIR takes effect at once.
set(MUJOCO_DIR "" CACHE PATH "Folder of the MuJoCo to use (empty: fetched or installed)")

function(dj_find_mujoco_in root out_include out_library)
  set(include "")
  set(library "")
  foreach(candidate "${root}" "${root}/mujoco")
    if(EXISTS "${candidate}/include/mujoco/mujoco.h")
      set(include "${candidate}/include")
      file(GLOB library "${candidate}/libmujoco.so*" "${candidate}/lib/libmujoco.so*"
           "${candidate}/lib64/libmujoco.so*" "${candidate}/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libmujoco.so*"
           "${candidate}/libmujoco.*dylib" "${candidate}/lib/libmujoco.*dylib")
      if(library)
        list(SORT library)
        list(GET library 0 library)
        break()
      endif()
    endif()
  endforeach()
  set(${out_include} "${include}" PARENT_SCOPE)
  set(${out_library} "${library}" PARENT_SCOPE)
endfunction()

if(MUJOCO_DIR)
  get_filename_component(dj_mujoco_roots "${MUJOCO_DIR}" ABSOLUTE BASE_DIR "${CMAKE_SOURCE_DIR}")
else()
  set(dj_mujoco_roots "${CMAKE_SOURCE_DIR}/build/deps/mujoco" ${CMAKE_PREFIX_PATH}
      /usr/local /usr /opt/mujoco)
endif()
set(MuJoCo_LIBRARY "")
foreach(root IN LISTS dj_mujoco_roots)
  dj_find_mujoco_in("${root}" MuJoCo_INCLUDE_DIR MuJoCo_LIBRARY)
  if(MuJoCo_LIBRARY)
    break()
  endif()
endforeach()

# mjVERSION_HEADER: 4000001 = 4.0.1; before 3.5 three digits or so (e.g. 327 = 3.2.7).
set(MuJoCo_VERSION "")
if(MuJoCo_LIBRARY)
  file(GLOB headers "${MuJoCo_INCLUDE_DIR}/mujoco/*.h")
  foreach(header IN LISTS headers)
    file(STRINGS "${header}" line REGEX "define +mjVERSION_HEADER +[0-9]+" LIMIT_COUNT 1)
    if(line MATCHES "mjVERSION_HEADER +([0-9]+)")
      set(number ${CMAKE_MATCH_1})
      if(number GREATER 999999)
        math(EXPR major "${number} / 1000000")
        math(EXPR minor "${number} / 1000 % 1000")
        math(EXPR patch "${number} % 1000")
        set(MuJoCo_VERSION "${major}.${minor}.${patch}")
      else()
        set(MuJoCo_VERSION "${number}")
      endif()
      break()
    endif()
  endforeach()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MuJoCo REQUIRED_VARS MuJoCo_LIBRARY MuJoCo_INCLUDE_DIR
                                  VERSION_VAR MuJoCo_VERSION)
if(MuJoCo_FOUND AND NOT TARGET MuJoCo::MuJoCo)
  add_library(MuJoCo::MuJoCo SHARED IMPORTED)
  # The file name is also the SONAME in a Python package; link the real file in every case.
  get_filename_component(dj_mujoco_real "${MuJoCo_LIBRARY}" REALPATH)
  set_target_properties(MuJoCo::MuJoCo PROPERTIES
    IMPORTED_LOCATION "${dj_mujoco_real}"
    INTERFACE_INCLUDE_DIRECTORIES "${MuJoCo_INCLUDE_DIR}")
endif()
