# The CUDA backend: HEARSAY_CUDA_FOUND says whether it is built. `hearsay_cuda_or(DIR no_cuda.cpp FILE.cu...)`
# adds the sources of one folder to the library, or the stub in their place.
set(HEARSAY_CUDA_FOUND FALSE)
set(HEARSAY_CUDA_ARCHITECTURES "80;90" CACHE STRING "GPU architectures to compile for")
if(NOT HEARSAY_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  if(NOT DEFINED ENV{CUDACXX} AND NOT CMAKE_CUDA_COMPILER)
    find_program(HEARSAY_NVCC nvcc HINTS /usr/local/cuda/bin)
    if(HEARSAY_NVCC)
      set(CMAKE_CUDA_COMPILER ${HEARSAY_NVCC})
    endif()
  endif()
  set(CMAKE_CUDA_ARCHITECTURES ${HEARSAY_CUDA_ARCHITECTURES})
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    set(HEARSAY_CUDA_FOUND TRUE)
    message(STATUS "CUDA backend: ${CMAKE_CUDA_COMPILER}, for ${HEARSAY_CUDA_ARCHITECTURES}")
  elseif(HEARSAY_CUDA STREQUAL "ON")
    message(FATAL_ERROR "HEARSAY_CUDA=ON needs nvcc, which was not found; install the CUDA toolkit, "
                        "set CUDACXX to its nvcc, or configure with HEARSAY_CUDA=OFF")
  endif()
endif()

# Compiles the CUDA sources of a target like the library's.
function(hearsay_compile_cuda target)
  target_link_libraries(${target} PRIVATE CUDA::cudart_static)
  # nvcc takes C++20 as a flag: CMake 3.25 knows only its C++17. Warning 554: a class template's conversion to const,
  # instantiated for const.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:
    -std=c++20 -O3 --expt-relaxed-constexpr -diag-suppress=554 -Xcompiler=-Wall,-Wextra>)
  set_target_properties(${target} PROPERTIES CUDA_STANDARD 17
                                             CUDA_ARCHITECTURES "${HEARSAY_CUDA_ARCHITECTURES}")
endfunction()

if(HEARSAY_CUDA_FOUND)
  hearsay_compile_cuda(hearsay)
endif()

function(hearsay_cuda_or stub)
  if(HEARSAY_CUDA_FOUND)
    target_sources(hearsay PRIVATE ${ARGN})
  else()
    target_sources(hearsay PRIVATE ${stub})
  endif()
endfunction()
