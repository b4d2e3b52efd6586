# Open MPI: HEARSAY_MPI_FOUND says whether the MPI transport is built.
# `hearsay_mpi_or(no_mpi.cpp FILE.cpp...)` adds the sources to the library, or the stub in their place.
set(HEARSAY_MPI_FOUND FALSE)
if(HEARSAY_MPI STREQUAL "OFF")
  message(STATUS "MPI transport: neither built nor tested, as HEARSAY_MPI=OFF asks")
else()
  set(MPI_CXX_SKIP_MPICXX TRUE)  # the C interface: MPI's C++ bindings were removed
  find_package(MPI COMPONENTS CXX)
  if(MPI_CXX_FOUND)
    set(HEARSAY_MPI_FOUND TRUE)
    target_link_libraries(hearsay PRIVATE MPI::MPI_CXX)
    message(STATUS "MPI transport: ${MPI_CXX_LIBRARIES}")
  elseif(HEARSAY_MPI STREQUAL "ON")
    message(FATAL_ERROR "HEARSAY_MPI=ON needs Open MPI, which was not found; install libopenmpi-dev, "
                        "or configure with HEARSAY_MPI=OFF")
  else()
    message(STATUS "MPI transport: neither built nor tested, as Open MPI was not found")
  endif()
endif()

function(hearsay_mpi_or stub)
  if(HEARSAY_MPI_FOUND)
    target_sources(hearsay PRIVATE ${ARGN})
  else()
    target_sources(hearsay PRIVATE ${stub})
  endif()
endfunction()

# How tests start processes on this machine, for any number of cores, without `-n N`.
set(HEARSAY_MPIRUN ${MPIEXEC_EXECUTABLE} --oversubscribe --bind-to none --mca btl_base_warn_component_unused 0)
execute_process(COMMAND id -u OUTPUT_VARIABLE hearsay_user OUTPUT_STRIP_TRAILING_WHITESPACE)
if(hearsay_user STREQUAL "0")
  list(APPEND HEARSAY_MPIRUN --allow-run-as-root)
endif()

# hearsay_mpirun_test(name processes target argument...): a ctest whose processes are started by mpirun.
function(hearsay_mpirun_test name processes target)
  add_test(NAME ${name} COMMAND ${HEARSAY_MPIRUN} -n ${processes} $<TARGET_FILE:${target}> ${ARGN})
  set_tests_properties(${name} PROPERTIES PROCESSORS 2 TIMEOUT 1200)
endfunction()
