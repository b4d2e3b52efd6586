#pragma once

#include <cstdint>
#include <string>

namespace hearsay::cost {

/// What to count, as specs: a network for a given image size, and how it is trained.
struct CostRequest {
  std::string model;
  std::string input = "3x32x32";  ///< channels x height x width
  std::size_t classes = 10;
  std::size_t peers = 4;
  std::uint64_t batch = 32;  ///< per peer
  std::string graph = "ring:directed";
  std::string algorithm = "sparse-push";
  std::string compressor = "";  ///< empty: topk:keep=0.01, or the algorithm's only choice
  std::string optimizer = "momentum";
  std::string energy = "horowitz45";
  std::string precision = "fp32";  ///< another one is counted beside fp32
};

/// The cost of a round (cost.h) for a device that trains alone on all samples, and for each of the
/// peers with its share of them, side by side; each in fp32, in the other precision if one is asked
/// for, and how many times less that takes. Throws InvalidArgument, also for a combination that
/// cannot be trained.
std::string cost_table(const CostRequest& request);

/// "3.98x": how many times less `other` is than `fp32`; empty if they are equal, or one is 0.
std::string times_less(double fp32, double other);

}  // namespace hearsay::cost
