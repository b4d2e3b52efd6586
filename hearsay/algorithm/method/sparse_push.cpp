#include "hearsay/algorithm/method/sparse_push.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hearsay/algorithm/method/averaging_rate.h"
#include "hearsay/algorithm/method/methods.h"
#include "hearsay/core/error.h"

namespace hearsay::algorithm {

namespace {

constexpr double kMostFinalRounds = 1e6;

/// Rounds of plain push-sum that shrink the consensus distance to 1e-3, by the second eigenvalue.
std::uint32_t rounds_to_shrink(const graph::Facts& graph) {
  const double modulus = graph.second_modulus;
  if (!graph.has_spectrum) {
    throw InvalidArgument(
        "[scsp] final=auto: this graph's second eigenvalue takes too long to compute; set final=N");
  }
  if (modulus < 1e-12) return static_cast<std::uint32_t>(graph.period);
  if (modulus >= 1) {
    throw InvalidArgument(
        "[scsp] final=auto: this graph's second eigenvalue has modulus 1, so no number of rounds "
        "averages; set final=N");
  }
  const double rounds =
      std::ceil(std::log(1e-3) / std::log(modulus) * static_cast<double>(graph.period));
  if (rounds > kMostFinalRounds) {
    throw InvalidArgument(fmt::format(
        "[scsp] final=auto: this graph needs {:.3g} rounds to average; set final=N, or use a graph "
        "that mixes faster, such as exponential",
        rounds));
  }
  return static_cast<std::uint32_t>(rounds);
}

}  // namespace

std::unique_ptr<Algorithm> make_sparse_push(const Arguments& arguments, const Bank& bank) {
  return std::make_unique<SparsePush>(bank, feedback_rate(arguments, bank), 0);
}

std::unique_ptr<Algorithm> make_scsp(const Arguments& arguments, const Bank& bank) {
  const std::uint32_t rounds =
      arguments.text("final") == "auto"
          ? rounds_to_shrink(bank.graph)
          : static_cast<std::uint32_t>(arguments.integer_in_range("final"));
  return std::make_unique<SparsePush>(bank, feedback_rate(arguments, bank), rounds);
}

}  // namespace hearsay::algorithm
