#pragma once

#include <stdexcept>

namespace hearsay {

/// An error of the caller: an invalid spec, option, graph or combination. The text reads "[where]
/// what was found; what is allowed". The CLI exits with status 2.
class InvalidArgument : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// The thing to create (the directory of a new run) already exists, and is left as it is.
class AlreadyExists : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
};

/// Invalid bytes from outside: in a message, a checkpoint, a dataset file.
class CorruptData : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A run that cannot continue: a model became NaN, the disk is full. Exit status 1.
class RunFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace hearsay
