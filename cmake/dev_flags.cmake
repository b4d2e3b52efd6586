add_library(hearsay_dev_flags INTERFACE)
target_compile_options(hearsay_dev_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                                   -Wno-sign-conversion)
if(HEARSAY_SANITIZE)
  # No recovery: undefined behaviour must fail the test that meets it, not only print a line.
  target_compile_options(hearsay_dev_flags INTERFACE
    -fsanitize=${HEARSAY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  target_link_options(hearsay_dev_flags INTERFACE -fsanitize=${HEARSAY_SANITIZE})
endif()
