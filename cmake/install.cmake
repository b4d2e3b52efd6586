include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(HEARSAY_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/hearsay)

install(TARGETS hearsay EXPORT hearsayTargets)
install(TARGETS hearsay_cli)
# Headers that need only the public dependencies (tests/install/headers.py checks that): not those of single devices and
# transports, nor those that need a library that users need not have.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/hearsay DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*-inl.h" EXCLUDE
        PATTERN "live" EXCLUDE PATTERN "cpu" EXCLUDE PATTERN "cuda" EXCLUDE PATTERN "mpi" EXCLUDE
        REGEX "/net/tls/(admission|asio|context|dial|doors|hub|listener|outbox|session)\\.h$" EXCLUDE
        PATTERN "shift_invert.h" EXCLUDE PATTERN "sparse.h" EXCLUDE PATTERN "toml*.h" EXCLUDE PATTERN "json_file.h" EXCLUDE)
install(EXPORT hearsayTargets NAMESPACE hearsay:: DESTINATION ${HEARSAY_CMAKE_DIR})

configure_package_config_file(cmake/hearsay-config.cmake.in
                              ${PROJECT_BINARY_DIR}/cmake/hearsay-config.cmake
                              INSTALL_DESTINATION ${HEARSAY_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/hearsay-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/hearsay-config.cmake
              ${PROJECT_BINARY_DIR}/cmake/hearsay-config-version.cmake
        DESTINATION ${HEARSAY_CMAKE_DIR})
