#include "hearsay/data/dirichlet.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "hearsay/core/random.h"

namespace hearsay::data {

namespace {

constexpr std::size_t kGroup = 10;
constexpr int kDraws = 100;

using Indices = std::vector<std::uint32_t>;

/// The logarithm of a Gamma(alpha, 1) variate: Marsaglia, Tsang 2000; for alpha < 1 a variate of
/// alpha + 1 times U^(1 / alpha), which would underflow to 0 without the logarithm.
double log_gamma_variate(double alpha, Random& random) {
  if (alpha < 1) {
    const double boost = std::log(1 - random.uniform()) / alpha;
    return boost + log_gamma_variate(alpha + 1, random);
  }
  const double d = alpha - 1.0 / 3;
  for (;;) {
    const double x = random.normal();
    const double root = 1 + x / std::sqrt(9 * d);
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(1 - random.uniform()) < x * x / 2 + d - d * v + d * std::log(v)) {
      return std::log(d * v);
    }
  }
}

/// Dir(alpha) over the peers that still accept samples; 0 for the others.
std::vector<double> draw_proportions(double alpha, const std::vector<bool>& open, Random& random) {
  std::vector<double> p(open.size());
  for (double& value : p) value = log_gamma_variate(alpha, random);
  double top = -std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < p.size(); ++j) {
    if (open[j]) top = std::max(top, p[j]);
  }
  for (std::size_t j = 0; j < p.size(); ++j) p[j] = open[j] ? std::exp(p[j] - top) : 0;
  const double sum = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& value : p) value /= sum;
  return p;
}

std::vector<Indices> draw_group(double alpha, const std::vector<Indices>& by_class,
                                std::size_t peers, std::size_t share, Random& random) {
  std::vector<Indices> held(peers);
  for (const Indices& members : by_class) {
    if (members.empty()) continue;
    std::vector<bool> open(peers);
    for (std::size_t j = 0; j < peers; ++j) open[j] = held[j].size() < share;
    const std::vector<double> p = draw_proportions(alpha, open, random);
    double sum = 0;
    std::size_t from = 0;
    const auto last_open =
        static_cast<std::size_t>(std::find(open.rbegin(), open.rend(), true).base() - open.begin());
    for (std::size_t j = 0; j < last_open; ++j) {
      sum += p[j];
      const auto cut = static_cast<std::size_t>(sum * static_cast<double>(members.size()));
      const std::size_t to = j + 1 == last_open ? members.size() : std::min(cut, members.size());
      held[j].insert(held[j].end(), members.begin() + static_cast<std::ptrdiff_t>(from),
                     members.begin() + static_cast<std::ptrdiff_t>(to));
      from = to;
    }
  }
  return held;
}

std::size_t poorest(const std::vector<Indices>& held) {
  return std::ranges::min(held, {}, &Indices::size).size();
}

}  // namespace

Partition deal_dirichlet(double alpha, std::span<const std::uint16_t> labels, std::size_t classes,
                         std::size_t peers, std::uint64_t seed) {
  const std::size_t share = labels.size() / peers;
  Random random(seed, Purpose::kPartition);
  Indices order(labels.size());
  std::iota(order.begin(), order.end(), 0u);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[random.below(i)]);
  }
  Partition parts;
  for (std::size_t first = 0; first < peers; first += kGroup) {
    const std::size_t group = std::min(kGroup, peers - first);
    std::vector<Indices> by_class(classes);
    for (std::size_t i = first * share; i < (first + group) * share; ++i) {
      by_class[labels[order[i]]].push_back(order[i]);
    }
    std::vector<Indices> best = draw_group(alpha, by_class, group, share, random);
    for (int draw = 1; draw < kDraws && 2 * poorest(best) < share; ++draw) {
      std::vector<Indices> next = draw_group(alpha, by_class, group, share, random);
      if (poorest(next) > poorest(best)) best = std::move(next);
    }
    Indices all;
    for (const Indices& held : best) all.insert(all.end(), held.begin(), held.end());
    for (std::size_t j = 0; j < group; ++j) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(j * share);
      parts.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(share));
    }
  }
  return parts;
}

}  // namespace hearsay::data
