#include "hearsay/algorithm/method/averaging_rate.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::algorithm {

namespace {

struct TableRow {
  double keep, eta;
};
constexpr TableRow kTable5[] = {
    {1.0, 1.0}, {0.5, 0.08}, {0.1, 0.01}, {0.01, 0.005}, {0.001, 0.001}};

bool lossless(const Bank& bank) { return bank.compressor.compressor().quality(bank.layout) >= 1.0; }

}  // namespace

double table5_rate(double keep) {
  std::size_t i = 1;
  while (i + 1 < std::size(kTable5) && keep < kTable5[i].keep) ++i;
  const TableRow& high = kTable5[i - 1];
  const TableRow& low = kTable5[i];
  const double slope = std::log(high.eta / low.eta) / std::log(high.keep / low.keep);
  return high.eta * std::pow(keep / high.keep, slope);
}

double feedback_rate(const Arguments& arguments, const Bank& bank) {
  if (arguments.text("eta") != "auto") return arguments.number_in_range("eta");
  if (lossless(bank)) return 1;
  const double keep = compress::topk_keep(bank.compressor.compressor());
  if (keep > 0) return table5_rate(keep);
  throw InvalidArgument(fmt::format(
      "[{}] eta=auto is known for topk and int8 only; set it for this compressor, say {}:eta=0.01",
      arguments.name(), arguments.name()));
}

double difference_rate(const Arguments& arguments, const Bank& bank) {
  if (arguments.text("eta") != "auto") return arguments.number_in_range("eta");
  const compress::Compressor& compressor = bank.compressor.compressor();
  const double keep = compress::topk_keep(compressor);
  if (keep == 1) return 1;
  const double delta = compressor.quality(bank.layout);
  return std::min(1.0, keep > 0 ? 2 * delta : delta);
}

}  // namespace hearsay::algorithm
