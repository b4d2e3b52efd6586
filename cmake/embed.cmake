# hearsay_embed(VARIABLE FILE): the text of a file as a C++ raw string, for `configure_file(... @ONLY)`. The
# build is configured anew when the file changes. No compiler limits a string of several lines, which
# this is: chart.min.js has 200 kB in few.
function(hearsay_embed variable file)
  file(READ ${file} text)
  if(text MATCHES "\\)hearsay\"")
    message(FATAL_ERROR "${file} holds )hearsay\", which ends the string that it would be")
  endif()
  set(${variable} "R\"hearsay(${text})hearsay\"" PARENT_SCOPE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
endfunction()
