# `cmake --install` (make install): libraries, headers, the command, the CMake package `dijoco`
# (targets dijoco::dijoco, dijoco::dijoco_static, dijoco::dijoco_plugin) and dijoco.pc. Everything
# finds its neighbours relative to itself: the prefix may be moved.
#
# The fetched MuJoCo goes with the command and the package into LIBDIR/dijoco/mujoco, a folder that
# MUJOCO_DIR could name; one that MUJOCO_DIR named is not copied but found where it is. The plugin
# takes the MuJoCo of the program that loads it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(dj_libdir "${CMAKE_INSTALL_LIBDIR}")
set(dj_datadir "${CMAKE_INSTALL_DATADIR}/dijoco")
set(dj_packagedir "${dj_libdir}/cmake/dijoco")
set(dj_mujocodir "${dj_libdir}/dijoco/mujoco")
file(RELATIVE_PATH dj_bin_to_lib "/${CMAKE_INSTALL_BINDIR}" "/${dj_libdir}")
file(RELATIVE_PATH dj_pc_to_prefix "/${dj_libdir}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" dj_pc_to_prefix "${dj_pc_to_prefix}")

# What the static library needs: names for the package, flags for dijoco.pc.
get_property(dj_static_libraries GLOBAL PROPERTY DJ_REQUIRED_dj_dependencies)
list(TRANSFORM dj_static_libraries PREPEND "-l" OUTPUT_VARIABLE dj_private_libs)
list(APPEND dj_private_libs ${CMAKE_THREAD_LIBS_INIT} -lm)
list(JOIN dj_private_libs " " dj_private_libs)

install(DIRECTORY core/include/dijoco DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.h")
install(TARGETS dijoco EXPORT dijocoTargets LIBRARY DESTINATION "${dj_libdir}"
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT dijocoTargets NAMESPACE dijoco:: DESTINATION "${dj_packagedir}")
install(TARGETS dijoco_static EXPORT dijocoStaticTargets ARCHIVE DESTINATION "${dj_libdir}"
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT dijocoStaticTargets NAMESPACE dijoco:: DESTINATION "${dj_packagedir}")

set(dj_has_plugin OFF)
set(dj_mujoco_library "")
set(dj_mujoco_include "")
if(TARGET dijoco_plugin)
  set(dj_has_plugin ON)
  get_target_property(dj_mujoco_library MuJoCo::MuJoCo IMPORTED_LOCATION)
  get_target_property(dj_mujoco_include MuJoCo::MuJoCo INTERFACE_INCLUDE_DIRECTORIES)
  install(DIRECTORY mujoco_plugin/include/dijoco DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
          FILES_MATCHING PATTERN "*.h")
  set(bundle "${CMAKE_SOURCE_DIR}/build/deps/mujoco")
  if(dj_mujoco_include STREQUAL "${bundle}/include")
    install(PROGRAMS "${dj_mujoco_library}" DESTINATION "${dj_mujocodir}")
    install(DIRECTORY "${bundle}/include" "${bundle}/licenses" DESTINATION "${dj_mujocodir}")
    set(dj_mujoco_library "")   # the package finds it beside itself
    set(dj_mujoco_include "")
    if(TARGET dijoco_command)
      set_target_properties(dijoco_command PROPERTIES INSTALL_RPATH
                            "$ORIGIN/${dj_bin_to_lib}/dijoco/mujoco")
    endif()
  else()
    get_filename_component(folder "${dj_mujoco_library}" DIRECTORY)
    if(TARGET dijoco_command)
      set_target_properties(dijoco_command PROPERTIES INSTALL_RPATH "${folder}")
    endif()
  endif()
  set_target_properties(dijoco_plugin PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS dijoco_plugin LIBRARY DESTINATION "${dj_libdir}")
endif()

if(TARGET dijoco_command)
  install(TARGETS dijoco_command RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
install(DIRECTORY models examples DESTINATION "${dj_datadir}")
install(FILES LICENSE LICENSE.L-BFGS-B README.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DOCDIR}"
        FILES_MATCHING PATTERN "*.svg" PATTERN "*.png" PATTERN "*.md")

configure_package_config_file(cmake/dijocoConfig.cmake.in "${CMAKE_BINARY_DIR}/dijocoConfig.cmake"
  INSTALL_DESTINATION "${dj_packagedir}" PATH_VARS CMAKE_INSTALL_INCLUDEDIR dj_libdir dj_mujocodir)
# Before 1.0 a new minor version may change the interface.
write_basic_package_version_file("${CMAKE_BINARY_DIR}/dijocoConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
configure_file(cmake/dijoco.pc.in "${CMAKE_BINARY_DIR}/dijoco.pc" @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/dijocoConfig.cmake"
        "${CMAKE_BINARY_DIR}/dijocoConfigVersion.cmake" DESTINATION "${dj_packagedir}")
install(FILES "${CMAKE_BINARY_DIR}/dijoco.pc" DESTINATION "${dj_libdir}/pkgconfig")
