#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "hearsay/algorithm/algorithm.h"
#include "support/scratch.h"

namespace hearsay::algorithm {

inline void PrintTo(const Entry& entry, std::ostream* out) { *out << entry.name; }

}  // namespace hearsay::algorithm

namespace hearsay::support {

/// A method of the registry on five peers, with a compressor and an optimizer that suit it. Where
/// compression must be mild, it has 16 bits: ecd amplifies rounding differences, and with 10 bits
/// its models differ by 3e-3 after 20 rounds if the learning rate changes by a relative 5e-6; with
/// 16 bits, by 1e-4.
inline train::RunOptions method_on(const algorithm::Entry& entry,
                                   std::vector<std::pair<std::string, std::string>> more) {
  using Compression = algorithm::Needs::Compression;
  const algorithm::Needs& needs = entry.needs;
  more.insert(more.end(),
              {{"algorithm", std::string(entry.example)},
               {"compressor", needs.compression == Compression::kContractive ? "topk:keep=0.2"
                              : needs.compression == Compression::kMild ? "qsgd:bits=16,unbiased=1"
                                                                        : "identity"},
               {"peers", "5"},
               {"optimizer", needs.own_momentum ? "sgd" : "nesterov:beta=0.5"},
               {"lr", "0.02"}});
  return config_of(more);
}

/// Every method of the registry.
class EveryAlgorithm : public ::testing::TestWithParam<algorithm::Entry> {
 protected:
  static train::RunOptions method_on(std::vector<std::pair<std::string, std::string>> more) {
    return support::method_on(GetParam(), std::move(more));
  }

  /// The settings of a run on five noisy quadratics.
  static train::RunOptions settings(const std::string& threads = "1") {
    return method_on({{"data", "least-squares:noise=0.1"},
                      {"rounds", "26"},
                      {"evaluate", "4"},
                      {"checkpoint", "5"},
                      {"link", "latency=1e-3,compute=1e-2,straggler=1"},
                      {"threads", threads}});
  }
};

inline std::string name_of(const ::testing::TestParamInfo<algorithm::Entry>& row) {
  std::string name(row.param.name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace hearsay::support
