# hearsay_embed(VARIABLE FILE): the text of a file as a C++ raw string, for `configure_file(... @ONLY)`. The build is
# reconfigured when the file changes. Compilers do not limit multi-line raw strings: chart.min.js has 200 kB in few
# lines.
function(hearsay_embed variable file)
  file(READ ${file} text)
  if(text MATCHES "\\)hearsay\"")
    message(FATAL_ERROR "${file} holds )hearsay\", which ends the string that it would be")
  endif()
  set(${variable} "R\"hearsay(${text})hearsay\"" PARENT_SCOPE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
endfunction()
