// What does a compressor cost, and what does it save?
//
// Two operators on the same vector: their bytes and their errors. Then eight peers average vectors
// with each, using CHOCO gossip, which sends compressed differences from what was sent before; so
// even a coarse operator reaches the exact mean, only later.

#include <fmt/core.h>

#include <cmath>
#include <vector>

#include "hearsay/compress/compressor.h"
#include "hearsay/gossip/round_driver.h"

namespace compress = hearsay::compress;
namespace gossip = hearsay::gossip;
using hearsay::Random;

namespace {

constexpr std::size_t kDim = 1000;

/// Entries of very different magnitude, as in gradients and weight differences.
void fill_with_heavy_tails(std::uint32_t peer, std::span<float> x) {
  Random random(1, hearsay::Purpose::kProblem, peer);
  for (float& value : x) value = static_cast<float>(std::pow(random.normal(), 3));
}

void code_one_vector(const char* spec) {
  const hearsay::Layout layout(kDim);
  std::vector<float> x(kDim);
  fill_with_heavy_tails(0, x);

  const auto compressor = compress::make_compressor(spec);
  compress::Decoded q;
  hearsay::Bytes wire;
  compressor->compress(x, layout, Random(1, hearsay::Purpose::kRounding), q, &wire);

  double error = 0, norm = 0;
  std::vector<float> seen(kDim, 0.0f);  // what a receiver sees of x
  if (q.sparse) {
    for (std::size_t k = 0; k < q.index.size(); ++k) seen[q.index[k]] = q.value[k];
  } else {
    seen = q.dense;
  }
  for (std::size_t k = 0; k < kDim; ++k) {
    error += std::pow(x[k] - seen[k], 2);
    norm += std::pow(x[k], 2);
  }
  fmt::print("{:<18} {:4} bytes instead of {}, relative error {:.2f}\n", spec, wire.size(),
             sizeof(float) * kDim, std::sqrt(error / norm));
}

/// Prints the rounds until the consensus distance on a ring is 1e-3 of the initial one.
bool average_under(const char* spec) {
  gossip::RoundDriver peers({.layout = hearsay::Layout(kDim),
                             .schedule = hearsay::graph::make_schedule("ring", {.peers = 8}),
                             .method = hearsay::algorithm::make_method("choco"),
                             .compressor = compress::make_compressor(spec),
                             .initial_model = fill_with_heavy_tails});
  const double first = peers.consensus_distance();
  while (peers.consensus_distance() > 1e-3 * first) {
    if (peers.round() == 5000) return false;
    peers.run_round();
  }
  fmt::print("{:<18} {:4} rounds, {:9} bytes, eta {:.3g}\n", spec, peers.round(),
             peers.ledger().traffic().bytes, peers.algorithm().averaging_rate());
  return true;
}

}  // namespace

int main() {
  fmt::print("one vector of {} floats\n", kDim);
  for (const char* spec : {"topk:keep=0.1", "qsgd:bits=4"}) code_one_vector(spec);

  fmt::print("\neight peers on a ring, until they agree to 1e-3\n");
  bool all = true;
  for (const char* spec : {"identity", "topk:keep=0.1", "qsgd:bits=4"}) all &= average_under(spec);
  return all ? 0 : 1;
}
