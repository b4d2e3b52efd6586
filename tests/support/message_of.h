#pragma once

#include <string>

#include "hearsay/core/error.h"

namespace hearsay::support {

/// The text of the error that `action` throws, or "no error". Other exceptions pass through.
template <class Error = InvalidArgument>
std::string message_of(auto action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace hearsay::support
