#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace hearsay {

/// A message of a size to be read, whatever it quotes: a word (a name, a path) of more than 200
/// bytes, and a text of more than 4000, lose their middle: "aaa...zzz". The exceptions below apply
/// it to their texts.
std::string cut_message(std::string text);

/// An error of the caller: an invalid spec, option, graph or combination. The text reads "[where]
/// what was found; what is allowed". The CLI exits with status 2.
class InvalidArgument : public std::invalid_argument {
 public:
  explicit InvalidArgument(const std::string& text) : std::invalid_argument(cut_message(text)) {}
};

/// The thing to create (the directory of a new run) already exists, and is left as it is.
class AlreadyExists : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
};

/// Invalid bytes from outside: in a message, a checkpoint, a dataset file.
class CorruptData : public std::runtime_error {
 public:
  explicit CorruptData(const std::string& text) : std::runtime_error(cut_message(text)) {}
};

/// A run that cannot continue: a model became NaN, the disk is full. Exit status 1.
class RunFailed : public std::runtime_error {
 public:
  explicit RunFailed(const std::string& text) : std::runtime_error(cut_message(text)) {}
};

/// What to print of an exception: the text of those above; a sentence for those of the standard
/// library that any code may throw (no memory, an unusable path).
std::string message_of(const std::exception& error);

}  // namespace hearsay
