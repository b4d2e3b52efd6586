#pragma once

#include <sstream>
#include <string>

#include "cli/process.h"

namespace hearsay::cli {

/// The words that start N processes on this machine. HEARSAY_MPIRUN: separated by '|'.
inline Words mpirun(int processes) {
  Words words;
  std::istringstream text(HEARSAY_MPIRUN);
  for (std::string word; std::getline(text, word, '|');) words.push_back(word);
  words.insert(words.end(), {"-n", std::to_string(processes)});
  return words;
}

}  // namespace hearsay::cli
