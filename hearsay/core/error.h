#pragma once

#include <stdexcept>

namespace hearsay {

/// A mistake of the caller: a wrong spec, option, graph or combination. The text reads
/// "[where] what was found; what is allowed". The CLI exits with status 2.
class InvalidArgument : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// What was to be made is there already, and is left as it is: the directory of a new run.
class AlreadyExists : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
};

/// Bytes from outside (a message, a checkpoint, a dataset file) that are not what they claim to be.
class CorruptData : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A run that cannot go on: a model that turned NaN, a disk that is full. Exit status 1.
class RunFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace hearsay
