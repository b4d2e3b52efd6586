# hearsay_choice(NAME "what it is"): a part that can be left out, as the cache variable NAME: AUTO (the default) builds
# it where what it needs is found, ON insists, OFF leaves it out.
function(hearsay_choice name doc)
  set(${name} "AUTO" CACHE STRING "${doc}: AUTO (if it can be had), ON or OFF")
  set_property(CACHE ${name} PROPERTY STRINGS AUTO ON OFF)
  if(NOT ${name} MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "${name} must be AUTO, ON or OFF, got '${${name}}'")
  endif()
endfunction()
