# `cpack -G DEB` (make dist): what `cmake --install` installs as a Debian package. Its dependencies
# are those that its libraries ask for (dpkg-shlibdeps).
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME dijoco)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_VENDOR "DiJoCo's authors")
set(CPACK_PACKAGE_CONTACT "DiJoCo's authors <dijoco@invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Differentiable joint dynamics with contact")
set(CPACK_PACKAGE_DESCRIPTION "Simulates articulated rigid bodies with smooth contact and returns exact
gradients by state, control and design; with a plugin for MuJoCo.")
set(CPACK_RESOURCE_FILE_LICENSE "${CMAKE_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Its own libraries, and the MuJoCo that goes with it, are in the package.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CMAKE_BINARY_DIR}/lib"
    "${CMAKE_SOURCE_DIR}/build/deps/mujoco")
include(CPack)
