include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(HEARSAY_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/hearsay)

# ---- Component dev: the library ----
install(TARGETS hearsay EXPORT hearsayTargets COMPONENT dev)
# Headers that need only the public dependencies (tests/install/headers.py checks that): not those of single devices and
# transports, nor those that need a library that users need not have.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/hearsay DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev
        FILES_MATCHING PATTERN "*.h" PATTERN "*-inl.h" EXCLUDE
        PATTERN "live" EXCLUDE PATTERN "cpu" EXCLUDE PATTERN "cuda" EXCLUDE PATTERN "mpi" EXCLUDE
        REGEX "/net/tls/(admission|asio|context|dial|doors|hub|listener|outbox|session)\\.h$" EXCLUDE
        PATTERN "shift_invert.h" EXCLUDE PATTERN "sparse.h" EXCLUDE PATTERN "toml*.h" EXCLUDE PATTERN "json_file.h" EXCLUDE)
install(EXPORT hearsayTargets NAMESPACE hearsay:: DESTINATION ${HEARSAY_CMAKE_DIR} COMPONENT dev)

configure_package_config_file(cmake/hearsay-config.cmake.in
                              ${PROJECT_BINARY_DIR}/cmake/hearsay-config.cmake
                              INSTALL_DESTINATION ${HEARSAY_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/hearsay-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/hearsay-config.cmake
              ${PROJECT_BINARY_DIR}/cmake/hearsay-config-version.cmake
        DESTINATION ${HEARSAY_CMAKE_DIR} COMPONENT dev)

# pkg-config: what the library calls inside is part of Libs, since it is static.
file(RELATIVE_PATH HEARSAY_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
set(HEARSAY_PC_REQUIRES "fmt, libhwy, libcrypto, zlib, libjpeg, libpng")
set(HEARSAY_PC_LIBS "-ldnnl -lgomp -pthread")
if(HEARSAY_NET_FOUND)
  string(APPEND HEARSAY_PC_REQUIRES ", libssl")
endif()
if(HEARSAY_MPI_FOUND)
  list(JOIN MPI_CXX_LIBRARIES " " hearsay_mpi_libraries)
  string(APPEND HEARSAY_PC_LIBS " ${hearsay_mpi_libraries}")
endif()
if(HEARSAY_CUDA_FOUND)
  string(APPEND HEARSAY_PC_LIBS " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt")
endif()
configure_file(cmake/hearsay.pc.in ${PROJECT_BINARY_DIR}/cmake/hearsay.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cmake/hearsay.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

# ---- Component program: the command line, its man pages and completions ----
install(TARGETS hearsay_cli COMPONENT program)
if(HEARSAY_MANUAL)  # cli/CMakeLists.txt
  install(DIRECTORY ${HEARSAY_MANUAL}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program
          FILES_MATCHING PATTERN "*.1")
  install(FILES ${HEARSAY_MANUAL}/hearsay.bash RENAME hearsay COMPONENT program
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${HEARSAY_MANUAL}/hearsay.fish COMPONENT program
          DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  # zsh looks here for what an administrator installs into /usr/local, and elsewhere for packages of Debian.
  install(FILES ${HEARSAY_MANUAL}/_hearsay COMPONENT zsh
          DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${HEARSAY_MANUAL}/_hearsay COMPONENT debian EXCLUDE_FROM_ALL
          DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
endif()

if(PROJECT_IS_TOP_LEVEL)
  add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -D MANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt
                                                       -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake)
  include(cmake/package.cmake)
endif()
