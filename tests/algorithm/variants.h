#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "algorithm/world.h"

namespace hearsay::algorithm {

/// A method as tested by the contract suites: every row of the registry, and variants that take
/// other code paths.
struct Variant {
  std::string spec;
  const Entry* entry;

  const Needs& needs() const { return entry->needs; }
};

inline void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.spec; }

inline std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const Entry& entry : registry()) {
    all.push_back({std::string(entry.example), &entry});
    if (entry.name == "dsgd") all.push_back({"dsgd:order=awc", &entry});
    if (entry.name == "sgp") all.push_back({"sgp:overlap=1", &entry});
    if (entry.name == "dmsgd") all.push_back({"dmsgd:vanilla=1", &entry});
    if (entry.name == "qg-dmsgd") all.push_back({"qg-dmsgd:nesterov=1", &entry});
    if (entry.name == "qg-quant-sgp") all.push_back({"qg-quant-sgp:nesterov=1", &entry});
  }
  return all;
}

inline std::string name_of(const ::testing::TestParamInfo<Variant>& row) {
  std::string name = row.param.spec;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

/// A setup that the method supports: the hardest graph it accepts, top-k if it compresses.
inline World::Setup setup_for(const Variant& variant) {
  const Entry& entry = *variant.entry;
  World::Setup setup{.algorithm = variant.spec, .peers = 5, .dim = 23};
  switch (entry.needs.graph) {
    case Needs::Graph::kColumnStochastic:
      setup.graph =
          entry.needs.change == Needs::Change::kAny ? "random:p=0.4,every=1" : "random:p=0.4";
      break;
    case Needs::Graph::kDoublyStochastic:
      setup.graph = "one-peer-exponential";
      break;
    default:
      setup.graph = "ring";
  }
  if (entry.needs.compression == Needs::Compression::kContractive) {
    setup.compressor = "topk:keep=0.1";
  }
  return setup;
}

/// Gradients of heterogeneous quadratics: every peer is pulled towards its own point.
inline void pull_apart(std::size_t peer, std::span<const float> at, std::span<float> direction) {
  for (std::size_t k = 0; k < at.size(); ++k) {
    direction[k] = at[k] - static_cast<float>(std::sin(static_cast<double>(7 * peer + k)));
  }
}

}  // namespace hearsay::algorithm
