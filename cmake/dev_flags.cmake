# hearsay_dev_flags: for all our code.
option(HEARSAY_WERROR "Warnings of our own code are errors" OFF)
add_library(hearsay_dev_flags INTERFACE)
if(HEARSAY_WERROR)
  target_compile_options(hearsay_dev_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
target_compile_options(hearsay_dev_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False positives of GCC 12 about inlined Eigen and std::string code at -O3.
  target_compile_options(hearsay_dev_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-use-after-free -Wno-restrict>)
endif()
if(HEARSAY_SANITIZE)
  # No recovery: undefined behaviour must fail the test that triggers it, not only print a line.
  target_compile_options(hearsay_dev_flags INTERFACE
    -fsanitize=${HEARSAY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  target_link_options(hearsay_dev_flags INTERFACE -fsanitize=${HEARSAY_SANITIZE})
endif()

# hearsay_program_flags: the same, for programs built on the library (command line, tests).
add_library(hearsay_program_flags INTERFACE)
target_link_libraries(hearsay_program_flags INTERFACE hearsay_dev_flags)
if(HEARSAY_SANITIZE MATCHES "undefined")
  # Optimising the undefined-behaviour checks doubles (GoogleTest) or triples (CLI11) compile times,
  # and the hot loops are in the library.
  target_compile_options(hearsay_program_flags INTERFACE -O0)
endif()
