# hearsay_choice(NAME "what it is"): an optional part, as the cache variable NAME: AUTO (the default) builds it where
# its requirements are found, ON fails without them, OFF leaves it out.
function(hearsay_choice name doc)
  set(${name} "AUTO" CACHE STRING "${doc}: AUTO (if it can be had), ON or OFF")
  set_property(CACHE ${name} PROPERTY STRINGS AUTO ON OFF)
  if(NOT ${name} MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "${name} must be AUTO, ON or OFF, got '${${name}}'")
  endif()
endfunction()
