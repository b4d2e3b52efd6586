/// Coordinate-wise trimmed mean (BRIDGE-T: Yang, Bajwa 2019; Fang, Yang, Bajwa 2022). Of each
/// coordinate receiver i leaves out the `cut` largest and the `cut` smallest of its k neighbours'
/// values, and takes the mean of the others and its own:
///
///   x_i = (x_i + sum of those kept) / (k - 2 cut + 1)
///
/// Amounts do not count. With at most `cut` liars among the neighbours every coordinate stays
/// between those of honest ones; the theorem asks for more of the graph, and for convex losses. NaN
/// is larger than all numbers. Who hears 2 cut or fewer in a round keeps its model.
///
/// In the exchange a receiver gets one vector, with weight 1 and debit 1.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "hearsay/algorithm/robust/rules.h"

namespace hearsay::algorithm {

namespace {

class TrimmedMean final : public Aggregation {
 public:
  TrimmedMean(std::size_t cut, const AggregationContext& context) : cut_(cut), context_(context) {}

  void rewrite(Exchange& exchange) override {
    const std::size_t rows = exchange.debit.size();
    auto& vectors = exchange.vectors[0];
    means_.resize(rows * context_.dim);
    constexpr std::size_t kColumns = 4096;
    const std::size_t pieces = (context_.dim + kColumns - 1) / kColumns;
    context_.pool.run(rows * pieces, [&](std::size_t task) {
      const std::size_t i = task / pieces, from = task % pieces * kColumns;
      mean_of(exchange, i, from, std::min(kColumns, context_.dim - from));
    });
    std::vector<std::uint32_t> begin{0}, source;
    for (std::size_t i = 0; i < rows; ++i) {
      const bool enough = heard(exchange, i) > 2 * cut_;
      exchange.debit[i] = enough ? 1 : 0;
      if (enough) {
        source.push_back(static_cast<std::uint32_t>(vectors.size()));
        vectors.push_back({means_.data() + i * context_.dim});
        exchange.sender.push_back(exchange.sender[i]);
      }
      begin.push_back(static_cast<std::uint32_t>(source.size()));
    }
    exchange.weight.assign(source.size(), 1.0f);
    exchange.begin = std::move(begin);
    exchange.source = std::move(source);
  }

 private:
  static std::size_t heard(const Exchange& exchange, std::size_t i) {
    return exchange.begin[i + 1] - exchange.begin[i];
  }

  void mean_of(const Exchange& exchange, std::size_t i, std::size_t from, std::size_t count) {
    const std::size_t k = heard(exchange, i);
    if (k <= 2 * cut_) return;
    const auto& vectors = exchange.vectors[0];
    std::vector<float> values(k);
    const auto kept = static_cast<double>(k - 2 * cut_ + 1);
    for (std::size_t column = from; column < from + count; ++column) {
      for (std::size_t e = 0; e < k; ++e) {
        const float value = vectors[exchange.source[exchange.begin[i] + e]].dense[column];
        values[e] = std::isnan(value) ? std::numeric_limits<float>::infinity() : value;
      }
      std::ranges::sort(values);
      double sum = static_cast<double>(vectors[i].dense[column]);
      for (std::size_t e = cut_; e < k - cut_; ++e) sum += static_cast<double>(values[e]);
      means_[i * context_.dim + column] = static_cast<float>(sum / kept);
    }
  }

  std::size_t cut_;
  AggregationContext context_;
  std::vector<float> means_;  ///< a row per receiver
};

}  // namespace

std::unique_ptr<Aggregation> make_trimmed_mean(const Arguments& arguments,
                                               const AggregationContext& context) {
  return std::make_unique<TrimmedMean>(static_cast<std::size_t>(arguments.integer_in_range("cut")),
                                       context);
}

}  // namespace hearsay::algorithm
