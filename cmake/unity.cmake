# Unity builds: the sources of a folder are compiled as one, so that their headers are parsed and their templates
# instantiated once. They then share their anonymous namespaces: give what is redefined another name, or list the source
# in hearsay_alone. For builds that are made whole: ON in the presets of sanitizers, TESTS by ./test.sh in dev, where
# every source of the library is compiled alone.
set(HEARSAY_UNITY "OFF" CACHE STRING "Compile the sources of a folder as one: OFF, TESTS (of tests only) or ON")

# hearsay_unite(TARGET [TESTS]): to be called after all its sources were added.
function(hearsay_unite target)
  if(NOT HEARSAY_UNITY STREQUAL "ON" AND NOT (HEARSAY_UNITY STREQUAL "TESTS" AND "TESTS" IN_LIST ARGN))
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE group)
    if(NOT source MATCHES "\\.cpp$" OR group MATCHES "^(\\.\\.|build)/")  # generated
      continue()
    endif()
    # Highway compiles a source several times, by including it in itself.
    file(STRINGS ${source} alone REGEX "HWY_TARGET_INCLUDE" LIMIT_COUNT 1)
    get_property(listed GLOBAL PROPERTY hearsay_alone)
    if(NOT alone AND NOT source IN_LIST listed)
      cmake_path(GET group PARENT_PATH group)
      string(REPLACE "/" "_" group ${group})
      set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group})
    endif()
  endforeach()
endfunction()

# hearsay_alone(SOURCE...): sources of this folder that are compiled alone in unity builds too.
function(hearsay_alone)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set_property(GLOBAL APPEND PROPERTY hearsay_alone ${ARGN})
endfunction()
