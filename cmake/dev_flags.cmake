# Warnings, sanitizers and optimisation of our own code:
#   hearsay_dev_flags       the library, benchmarks
#   hearsay_program_flags   programs built on it: command line, tests, examples
option(HEARSAY_WERROR "Warnings of our own code are errors" OFF)
add_library(hearsay_common_flags INTERFACE)
if(HEARSAY_WERROR)
  target_compile_options(hearsay_common_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
target_compile_options(hearsay_common_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:
  -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion $<$<NOT:$<STREQUAL:${HEARSAY_UNITY},ON>>:-Wshadow>>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False positives of GCC 12 about inlined Eigen and std::string code at -O3.
  target_compile_options(hearsay_common_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-use-after-free -Wno-restrict>)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64|ARM64")
  # GCC fuses products and sums where it may, and here every processor can: compensated sums would not be exact. x86-64's
  # common subset cannot.
  target_compile_options(hearsay_common_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
endif()
if(HEARSAY_SANITIZE)
  # No recovery: undefined behaviour must fail the test that triggers it, not only print a line.
  target_compile_options(hearsay_common_flags INTERFACE
    -fsanitize=${HEARSAY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  target_link_options(hearsay_common_flags INTERFACE -fsanitize=${HEARSAY_SANITIZE})
  # GCC 12 takes std::optional for uninitialized once its code is instrumented.
  target_compile_options(hearsay_common_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
endif()

add_library(hearsay_dev_flags INTERFACE)
target_link_libraries(hearsay_dev_flags INTERFACE hearsay_common_flags)
add_library(hearsay_program_flags INTERFACE)
target_link_libraries(hearsay_program_flags INTERFACE hearsay_common_flags)

# The least time for building and testing together: hot loops are in the library, and optimising a test program takes
# longer than it saves (with the undefined-behaviour sanitizer two to three times its compile time). Kernels are only
# compiled where there is no GPU; the preset gpu optimises them.
option(HEARSAY_LIGHT "Optimise the library lightly, programs and CUDA kernels not at all" OFF)
if(HEARSAY_LIGHT)
  target_compile_options(hearsay_dev_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-O1>
                                                     "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Xcicc -O1 -Xptxas -O0>")
  set(hearsay_program_level -O0)
  if(HEARSAY_SANITIZE STREQUAL "thread")  # tests that are not optimised take minutes there
    set(hearsay_program_level -O1)
  endif()
  target_compile_options(hearsay_program_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${hearsay_program_level}>)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # More false positives of GCC 12 at -O3, about std::string and std::optional; light builds still look for these.
  target_compile_options(hearsay_common_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds -Wno-stringop-overflow -Wno-maybe-uninitialized>)
endif()
