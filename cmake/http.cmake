# cpp-httplib: HEARSAY_HTTP_FOUND says whether runs in progress can be served (hearsay/live). Debian's is a compiled
# library, and its three macros change the layout of its classes: every file that includes httplib.h needs them. The
# target `hearsay_http` provides them.
hearsay_choice(HEARSAY_HTTP "The live page")

set(HEARSAY_HTTP_FOUND FALSE)
if(HEARSAY_HTTP STREQUAL "OFF")
  message(STATUS "Live page: neither built nor tested, as HEARSAY_HTTP=OFF asks")
  return()
endif()
find_path(HEARSAY_HTTP_INCLUDE httplib.h)
find_library(HEARSAY_HTTP_LIBRARY cpp-httplib)
find_package(OpenSSL COMPONENTS SSL Crypto QUIET)
if(HEARSAY_HTTP_INCLUDE AND HEARSAY_HTTP_LIBRARY AND TARGET OpenSSL::SSL)
  set(HEARSAY_HTTP_FOUND TRUE)
  add_library(hearsay_http INTERFACE)
  target_include_directories(hearsay_http SYSTEM INTERFACE ${HEARSAY_HTTP_INCLUDE})
  target_compile_definitions(hearsay_http INTERFACE CPPHTTPLIB_OPENSSL_SUPPORT CPPHTTPLIB_ZLIB_SUPPORT
                                                    CPPHTTPLIB_BROTLI_SUPPORT)
  target_link_libraries(hearsay_http INTERFACE ${HEARSAY_HTTP_LIBRARY} OpenSSL::SSL OpenSSL::Crypto)
  message(STATUS "Live page: ${HEARSAY_HTTP_LIBRARY}")
elseif(HEARSAY_HTTP STREQUAL "ON")
  message(FATAL_ERROR "HEARSAY_HTTP=ON needs cpp-httplib as a library, which was not found; install "
                      "libcpp-httplib-dev and libssl-dev, or configure with HEARSAY_HTTP=OFF")
else()
  message(STATUS "Live page: neither built nor tested, as cpp-httplib was not found")
endif()
