#pragma once

#include <string>

#include "cli/manual/description.h"

/// Completion of commands, options, names of components and files, as a script for a shell. Each is
/// self-contained: bash needs no package bash-completion.
namespace hearsay::cli {

std::string bash_completion(const CommandText& program);
std::string zsh_completion(const CommandText& program);  ///< the file _hearsay of a folder in fpath
std::string fish_completion(const CommandText& program);

}  // namespace hearsay::cli
