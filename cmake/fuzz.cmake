set(HEARSAY_FUZZ_SECONDS 10 CACHE STRING "How long ctest lets each fuzz target run")

# hearsay_fuzz(name source...): a libFuzzer program `fuzz_<name>`, and a ctest that runs it for a while.
function(hearsay_fuzz name)
  add_executable(fuzz_${name} ${ARGN})
  target_include_directories(fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(fuzz_${name} PRIVATE hearsay hearsay_dev_flags)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  add_test(NAME fuzz.${name} COMMAND fuzz_${name} -max_total_time=${HEARSAY_FUZZ_SECONDS}
                                     -rss_limit_mb=512 -timeout=10 -print_final_stats=1)
endfunction()
