# Removes what `cmake --install` wrote, by its manifest, then folders named hearsay and below that are empty:
#   cmake -D MANIFEST=FILE -P uninstall.cmake
if(NOT EXISTS ${MANIFEST})
  message(FATAL_ERROR "there is no ${MANIFEST}: nothing is installed from this build folder")
endif()

file(STRINGS ${MANIFEST} files)
set(folders "")
foreach(file IN LISTS files)
  set(file $ENV{DESTDIR}${file})
  if(EXISTS ${file} OR IS_SYMLINK ${file})
    file(REMOVE ${file})
    message(STATUS "Removed: ${file}")
  else()
    message(STATUS "Not there: ${file}")
  endif()
  cmake_path(GET file PARENT_PATH folder)
  while(folder MATCHES "/hearsay(/|$)")
    list(APPEND folders ${folder})
    cmake_path(GET folder PARENT_PATH folder)
  endwhile()
endforeach()

list(REMOVE_DUPLICATES folders)
list(SORT folders ORDER DESCENDING)  # the inner ones first
foreach(folder IN LISTS folders)
  execute_process(COMMAND rmdir ${folder} ERROR_QUIET)  # which keeps what is not empty
endforeach()
file(REMOVE ${MANIFEST})
