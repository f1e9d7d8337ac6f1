# System libraries (target dj_dependencies) and MuJoCo (target MuJoCo::MuJoCo, optional).
option(DIJOCO_WITHOUT_MUJOCO "Build the core, its JSON scenes and their tests only" OFF)

add_library(dj_dependencies INTERFACE)

# Adds one library, found by header and library name, or stops naming the package to install.
function(dj_require header library package)
  string(MAKE_C_IDENTIFIER "${library}" id)
  find_path(DJ_INCLUDE_${id} "${header}" PATH_SUFFIXES suitesparse)
  find_library(DJ_LIBRARY_${id} NAMES "${library}")
  mark_as_advanced(DJ_INCLUDE_${id} DJ_LIBRARY_${id})
  if(NOT DJ_INCLUDE_${id} OR NOT DJ_LIBRARY_${id})
    message(FATAL_ERROR "${header} or lib${library} not found: install ${package} "
                        "(scripts/setup.sh installs everything)")
  endif()
  target_include_directories(${ARGV3} SYSTEM INTERFACE "${DJ_INCLUDE_${id}}")
  target_link_libraries(${ARGV3} INTERFACE "${DJ_LIBRARY_${id}}")
  set_property(GLOBAL APPEND PROPERTY DJ_REQUIRED_${ARGV3} "${library}") # for the installed package
endfunction()

dj_require(lapacke.h lapacke liblapacke-dev dj_dependencies)
# Preferably the build without threads of its own: callers bring theirs.
dj_require(cblas.h openblas libopenblas-serial-dev dj_dependencies)
dj_require(amd.h amd libsuitesparse-dev dj_dependencies)
dj_require(klu.h klu libsuitesparse-dev dj_dependencies)
dj_require(cjson/cJSON.h cjson libcjson-dev dj_dependencies)
dj_require(libqhull_r/libqhull_r.h qhull_r libqhull-dev dj_dependencies)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
target_link_libraries(dj_dependencies INTERFACE Threads::Threads m)

if(NOT DIJOCO_WITHOUT_MUJOCO)
  find_package(MuJoCo)
  if(NOT MuJoCo_FOUND)
    if(MUJOCO_DIR)
      message(FATAL_ERROR "MUJOCO_DIR: no usable MuJoCo in ${MUJOCO_DIR}")
    endif()
    message(WARNING "MuJoCo not found: building the core only. `make build` fetches it; "
                    "MUJOCO_DIR names an existing copy.")
  endif()
endif()
