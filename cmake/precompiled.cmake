# Headers that nearly every source includes, precompiled once per target: half of the compile time of a source is
# parsing.
# hearsay_precompile(TARGET): those of the library. hearsay_precompile_test(TARGET): shared by all test programs.
option(HEARSAY_PRECOMPILE "Precompile common headers" ON)

set(hearsay_common_headers <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <memory> <optional> <span>
                           <string> <string_view> <utility> <variant> <vector> <fmt/format.h>)
list(TRANSFORM hearsay_common_headers REPLACE "<(.+)>" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>")

function(hearsay_precompile target)
  if(HEARSAY_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${hearsay_common_headers})
  endif()
endfunction()

function(hearsay_precompile_test target)
  if(NOT HEARSAY_PRECOMPILE)
    return()
  endif()
  if(NOT TARGET hearsay_test_headers)
    if(NOT EXISTS ${PROJECT_BINARY_DIR}/test_headers.cpp)
      file(WRITE ${PROJECT_BINARY_DIR}/test_headers.cpp "")
    endif()
    add_library(hearsay_test_headers OBJECT ${PROJECT_BINARY_DIR}/test_headers.cpp)
    target_link_libraries(hearsay_test_headers PRIVATE hearsay hearsay_program_flags GTest::gtest nlohmann_json::nlohmann_json)
    target_precompile_headers(hearsay_test_headers PRIVATE ${hearsay_common_headers}
      "$<$<COMPILE_LANGUAGE:CXX>:<gtest/gtest.h$<ANGLE-R>>" "$<$<COMPILE_LANGUAGE:CXX>:<nlohmann/json.hpp$<ANGLE-R>>")
  endif()
  target_precompile_headers(${target} REUSE_FROM hearsay_test_headers)
endfunction()
