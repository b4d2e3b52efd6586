#pragma once

#include <mpi.h>

#include <string>
#include <string_view>

#include "hearsay/core/error.h"

namespace hearsay::transport {

/// Throws RunFailed with MPI's error text if an MPI call failed.
inline void check_mpi(int code, std::string_view doing) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw RunFailed("[mpi] " + std::string(doing) + ": " + text);
}

}  // namespace hearsay::transport
