# Packages for Debian: `cmake --build build/release --target package` makes
#   hearsay          the program, with the libraries that dpkg-shlibdeps finds
#   libhearsay-dev   the library, whose users link what it calls inside
# tests/install/debian_root.sh installs them into a clean Debian.
set(HEARSAY_MAINTAINER "The builder of this package <root@localhost>" CACHE STRING
    "Who packages are from: NAME <ADDRESS>")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT ${HEARSAY_MAINTAINER})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_OUTPUT_FILE_PREFIX ${PROJECT_BINARY_DIR}/packages)
set(CPACK_COMPONENTS_ALL program debian dev debian_dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEBIAN_HEARSAY_PACKAGE_NAME hearsay)
set(CPACK_DEBIAN_HEARSAY_PACKAGE_SECTION science)
set(CPACK_DEBIAN_HEARSAY_DESCRIPTION
    "Trains one model across many peers that only talk to their neighbours: over directed and time-varying graphs, with \
compressed messages, in one process, in several under mpirun, or as peers on a network.")
set(CPACK_DEBIAN_HEARSAY_PACKAGE_SHLIBDEPS ON)
if(HEARSAY_MPI_FOUND)
  set(CPACK_DEBIAN_HEARSAY_PACKAGE_SUGGESTS openmpi-bin)
endif()

set(hearsay_dev_packages libfmt-dev libhwy-dev libdnnl-dev ocl-icd-opencl-dev libssl-dev zlib1g-dev libjpeg-dev libpng-dev)
if(HEARSAY_MPI_FOUND)
  list(APPEND hearsay_dev_packages libopenmpi-dev)
endif()
list(JOIN hearsay_dev_packages ", " hearsay_dev_packages)
set(CPACK_DEBIAN_LIBHEARSAY-DEV_PACKAGE_NAME libhearsay-dev)
set(CPACK_DEBIAN_LIBHEARSAY-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBHEARSAY-DEV_DESCRIPTION
    "The static C++20 library of hearsay, its headers, a CMake package and a pkg-config file.")
set(CPACK_DEBIAN_LIBHEARSAY-DEV_PACKAGE_DEPENDS ${hearsay_dev_packages})

# What each package says about licences, where Debian has it.
install(FILES ${PROJECT_SOURCE_DIR}/cmake/package/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/hearsay
        COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/hearsay
        COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/package/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libhearsay-dev
        COMPONENT debian_dev EXCLUDE_FROM_ALL)

include(CPack)
cpack_add_component_group(hearsay)
cpack_add_component_group(libhearsay-dev)
cpack_add_component(program GROUP hearsay)
cpack_add_component(debian GROUP hearsay)
cpack_add_component(dev GROUP libhearsay-dev)
cpack_add_component(debian_dev GROUP libhearsay-dev)
