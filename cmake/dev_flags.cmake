add_library(hearsay_dev_flags INTERFACE)
target_compile_options(hearsay_dev_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                                   -Wno-sign-conversion)
if(HEARSAY_SANITIZE)
  target_compile_options(hearsay_dev_flags INTERFACE -fsanitize=${HEARSAY_SANITIZE}
                                                     -fno-omit-frame-pointer -g1)
  target_link_options(hearsay_dev_flags INTERFACE -fsanitize=${HEARSAY_SANITIZE})
endif()
