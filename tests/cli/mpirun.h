#pragma once

#include <sstream>
#include <string>

#include "cli/process.h"

namespace hearsay::cli {

/// The command that starts N processes on this machine. HEARSAY_MPIRUN: its words, separated by
/// '|'.
inline Words mpirun(int processes) {
  Words words;
  std::istringstream text(HEARSAY_MPIRUN);
  for (std::string word; std::getline(text, word, '|');) words.push_back(word);
  words.insert(words.end(), {"-n", std::to_string(processes)});
  return words;
}

}  // namespace hearsay::cli
