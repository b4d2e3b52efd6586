/// Self-centred clipping (He, Karimireddy, Jaggi 2022, "Byzantine-Robust Decentralized Learning via
/// ClippedGossip"), in models z = x/u. Receiver i takes of a message (a x_j, a u_j)
///
///   m = min(a u_j, what is left of 1)                          mass
///   c = min(1, tau_i / |z_j - z_i|) min(1, F_i / F_ij)
///   (m (z_i + c (z_j - z_i)),  m)                              for  (a x_j,  a u_j)
///
/// The paper's theorem is for symmetric, doubly stochastic W and u = 1, with a share of liars that
/// is small against the spectral gap. With push-sum there is none.
///
/// Of the k senders that i hears it takes b = max(1, floor(delta (k + 1))) for possible liars.
///
/// tau   A number, or auto: the root of the mean of |z_j - z_i|^2 over the k - b nearest senders: a
///       liar then pulls no harder than an average honest neighbour. The paper has a sum over b for
///       the mean, which against 1 of 4 is 1.7 times as wide: too wide for data that differs. Of a
///       single sender nothing but mass is taken.
/// m     A liar may claim any u_j. What one sender hands over at a time is at most 1, the weight of
///       a whole average peer: however long it lies, u_i stays below senders / (1 - w_ii).
/// F     F_ij is the mass that i has had from j, F_i the largest of these but for b: who claims
///       more, or speaks more often, has no more influence. With k = 1 it does not bind.
/// c     Zero for what is not finite, or so far away that sums of it might not be.
///
/// In lock step the senders are those of a round. Asynchronous messages come one or two at a time:
/// there they are all those heard in the last 32 rounds, each with its last distance; F fades by
/// 1/32 a round.
///
/// In the exchange only scalars change: the weight of the edge from a to m c / u_j, and i's own
/// debit by -(m - m c) / u_i. What i sent itself and took back is not clipped.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "hearsay/algorithm/robust/distance.h"
#include "hearsay/algorithm/robust/rules.h"

namespace hearsay::algorithm {

namespace {

constexpr double kMostMass = 1;
constexpr double kFarthest = 1e30;  ///< sums of floats beyond it may overflow
constexpr std::uint32_t kRemembered = 32;

class Clip final : public Aggregation {
 public:
  Clip(std::optional<double> tau, double delta, const AggregationContext& context)
      : tau_(tau), delta_(delta), context_(context) {}

  void rewrite(Exchange& exchange) override {
    measure(exchange);
    last_heard_.resize(exchange.debit.size());
    std::vector<std::uint32_t> begin{0}, source;
    std::vector<float> weight;
    for (std::size_t i = 0; i < exchange.debit.size(); ++i) {
      remember(exchange, i);
      const Bounds bounds = bounds_of(last_heard_[i]);
      const double u = weight_of(exchange, i);
      for (std::uint32_t e = exchange.begin[i]; e < exchange.begin[i + 1]; ++e) {
        const std::uint32_t j = exchange.source[e], sender = exchange.sender[j];
        const double its_u = weight_of(exchange, j);
        const auto keep = [&](float amount) {
          source.push_back(j);
          weight.push_back(amount);
        };
        if (sender == exchange.sender[i]) {
          keep(exchange.weight[e]);
          continue;
        }
        const double claimed = static_cast<double>(exchange.weight[e]) * its_u;
        const double mass = mass_[e];
        const double flow = last_heard_[i].at(sender).flow;
        const double share = (distance_[e] > bounds.tau ? bounds.tau / distance_[e] : 1) *
                             (flow > bounds.flow ? bounds.flow / flow : 1);
        const bool usable = mass > 0 && distance_[e] <= kFarthest;  // false for NaN
        if (usable && share == 1 && mass == claimed) {
          keep(exchange.weight[e]);
          continue;
        }
        const auto amount = usable ? static_cast<float>(mass * share / its_u) : 0.0f;
        if (amount > 0) keep(amount);
        const double taken = amount > 0 ? static_cast<double>(amount) * its_u : 0;
        exchange.debit[i] -= (mass - taken) / u;
      }
      begin.push_back(static_cast<std::uint32_t>(source.size()));
    }
    exchange.begin = std::move(begin);
    exchange.source = std::move(source);
    exchange.weight = std::move(weight);
    ++round_;
  }

 private:
  /// A sender, as one receiver knows it.
  struct Heard {
    double distance = 0;      ///< the last one; in one round the largest
    std::uint64_t round = 0;  ///< when
    double flow = 0;          ///< F_ij
  };
  using AllHeard = std::map<std::uint32_t, Heard>;

  static double weight_of(const Exchange& exchange, std::size_t source) {
    return exchange.push_sum.empty() ? 1 : exchange.push_sum[source];
  }

  /// distance_[e] = |z_j - z_i| for every edge j -> i.
  void measure(const Exchange& exchange) {
    distance_.assign(exchange.source.size(), 0.0);
    const auto model = [&](std::size_t source) {
      return std::span(exchange.vectors[0][source].dense, context_.dim);
    };
    context_.pool.run(exchange.source.size(), [&](std::size_t e) {
      const auto after = std::ranges::upper_bound(exchange.begin, static_cast<std::uint32_t>(e));
      const auto i = static_cast<std::size_t>(after - exchange.begin.begin()) - 1;
      const std::uint32_t j = exchange.source[e];
      if (exchange.sender[j] == exchange.sender[i]) return;
      distance_[e] =
          model_distance(model(j), weight_of(exchange, j), model(i), weight_of(exchange, i));
    });
  }

  /// What arrived at i: mass_[e] = m, and who was heard.
  void remember(const Exchange& exchange, std::size_t i) {
    AllHeard& all = last_heard_[i];
    std::erase_if(all, [&](const auto& one) {
      return !context_.asynchronous || round_ - one.second.round >= kRemembered;
    });
    for (auto& [sender, heard] : all) heard.flow *= 1 - 1.0 / kRemembered;
    mass_.resize(exchange.source.size());
    std::map<std::uint32_t, double> left;
    for (std::uint32_t e = exchange.begin[i]; e < exchange.begin[i + 1]; ++e) {
      const std::uint32_t j = exchange.source[e], sender = exchange.sender[j];
      if (sender == exchange.sender[i]) continue;
      const double claimed = static_cast<double>(exchange.weight[e]) * weight_of(exchange, j);
      double& rest = left.try_emplace(sender, kMostMass).first->second;
      const bool makes_sense = claimed > 0 && std::isfinite(claimed);
      mass_[e] = makes_sense ? std::min(claimed, rest) : 0;
      rest -= mass_[e];
      Heard& heard = all[sender];
      const double distance = distance_[e] <= kFarthest ? distance_[e] : kFarthest;  // NaN is far
      if (heard.round != round_ || heard.distance < distance) heard.distance = distance;
      heard.round = round_;
      heard.flow += mass_[e];
    }
  }

  /// tau_i and F_i.
  struct Bounds {
    double tau, flow;
  };
  Bounds bounds_of(const AllHeard& all) const {
    std::vector<double> distances, flows;
    for (const auto& [sender, heard] : all) {
      distances.push_back(heard.distance);
      flows.push_back(heard.flow);
    }
    std::ranges::sort(distances);
    std::ranges::sort(flows);
    const double counted = static_cast<double>(all.size() + 1);
    const auto liars = std::max<std::size_t>(1, static_cast<std::size_t>(delta_ * counted + 1e-9));
    const std::size_t honest = all.size() - std::min(all.size(), liars);
    double squares = 0;
    for (std::size_t k = 0; k < honest; ++k) squares += distances[k] * distances[k];
    const double mean = squares / static_cast<double>(std::max<std::size_t>(1, honest));
    return {.tau = tau_ ? *tau_ : std::sqrt(mean),
            .flow = honest > 0 ? flows[honest - 1] : std::numeric_limits<double>::infinity()};
  }

  std::optional<double> tau_;  ///< none: auto
  double delta_;
  AggregationContext context_;
  std::vector<double> distance_;      ///< [edge]
  std::vector<double> mass_;          ///< [edge]
  std::vector<AllHeard> last_heard_;  ///< [receiver]
  std::uint64_t round_ = 1;
};

}  // namespace

std::unique_ptr<Aggregation> make_clip(const Arguments& arguments,
                                       const AggregationContext& context) {
  std::optional<double> tau;
  if (arguments.text("tau") != "auto") {
    tau = arguments.number("tau");
    if (!(*tau > 0)) arguments.reject("tau", "auto or in (0, inf)");
  }
  return std::make_unique<Clip>(tau, arguments.number_in_range("delta"), context);
}

}  // namespace hearsay::algorithm
