/// Self-centred clipping (He, Karimireddy, Jaggi 2022, "Byzantine-Robust Decentralized Learning via
/// ClippedGossip"), in models z = x/u. Receiver i takes of a message (a x_j, a u_j)
///
///   m = min(a u_j, what is left of 1)                 mass
///   c = min(1, tau_i / |z_j - z_i|)
///   (m (z_i + c (z_j - z_i)),  m)                     for  (a x_j,  a u_j)
///
/// The paper's theorem is for symmetric, doubly stochastic W and u = 1, with a share of liars that
/// is small against the spectral gap. With push-sum there is none.
///
/// m   A liar may claim any u_j. What one sender hands over at a time is at most 1, the weight of a
///     whole average peer: however long it lies, u_i stays below senders / (1 - w_ii).
/// c   Zero for what is not finite, or so far away that sums of it might not be.
///
/// tau=auto is the paper's rule for equal weights: of the k senders that i hears, the b farthest
/// may be liars,
///
///   b = max(1, floor(delta (k + 1))),   tau_i^2 = (1/b) sum over the k - b nearest |z_j - z_i|^2
///
/// If all are equally far nobody is clipped from k = 2 b on. Claimed amounts and weights do not
/// count, or liars could weigh their own distances. In lock step the k are those of a round.
/// Asynchronous messages come one or two at a time: there they are the senders heard in the last 32
/// rounds, each with its last distance. Of fewer than two senders nothing is taken but mass.
///
/// In the exchange only scalars change: the weight of the edge from a to m c / u_j, and i's own
/// debit by -(m - m c) / u_i. What i sent itself and took back is not clipped.
#include <algorithm>
#include <cmath>
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
      : tau_(tau), delta_(delta), context_(context), taken_(context.peers, 0.0) {}

  void rewrite(Exchange& exchange) override {
    measure(exchange);
    std::vector<std::uint32_t> begin{0}, source;
    std::vector<float> weight;
    last_heard_.resize(exchange.debit.size());
    for (std::size_t i = 0; i < exchange.debit.size(); ++i) {
      const double tau = tau_ ? *tau_ : tau_of(exchange, i);
      const double u = weight_of(exchange, i);
      const std::uint32_t self = exchange.sender[i];
      for (std::uint32_t e = exchange.begin[i]; e < exchange.begin[i + 1]; ++e) {
        const std::uint32_t j = exchange.source[e];
        const auto keep = [&](float amount) {
          source.push_back(j);
          weight.push_back(amount);
        };
        if (exchange.sender[j] == self) {
          keep(exchange.weight[e]);
          continue;
        }
        const double claimed = static_cast<double>(exchange.weight[e]) * weight_of(exchange, j);
        if (!(claimed > 0) || !std::isfinite(claimed)) continue;
        double& taken = taken_[exchange.sender[j]];
        const double mass = std::min(claimed, kMostMass - taken);
        taken += mass;
        const double share = distance_[e] > tau ? tau / distance_[e] : 1;
        if (share == 1 && mass == claimed) {
          keep(exchange.weight[e]);
          continue;
        }
        const bool usable = distance_[e] <= kFarthest;  // false for NaN
        const auto amount =
            usable ? static_cast<float>(mass * share / weight_of(exchange, j)) : 0.0f;
        if (amount > 0) keep(amount);
        exchange.debit[i] -= (mass - static_cast<double>(amount) * weight_of(exchange, j)) / u;
      }
      for (std::uint32_t e = exchange.begin[i]; e < exchange.begin[i + 1]; ++e) {
        taken_[exchange.sender[exchange.source[e]]] = 0;
      }
      begin.push_back(static_cast<std::uint32_t>(source.size()));
    }
    exchange.begin = std::move(begin);
    exchange.source = std::move(source);
    exchange.weight = std::move(weight);
    ++round_;
  }

 private:
  /// The last distance of a sender, and when.
  struct Heard {
    double distance;
    std::uint64_t round;
  };

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

  /// tau=auto, of receiver i.
  double tau_of(const Exchange& exchange, std::size_t i) {
    std::map<std::uint32_t, Heard>& heard = last_heard_[i];
    const auto is_over = [&](const auto& one) {
      return !context_.asynchronous || round_ - one.second.round >= kRemembered;
    };
    std::erase_if(heard, is_over);
    for (std::uint32_t e = exchange.begin[i]; e < exchange.begin[i + 1]; ++e) {
      const std::uint32_t sender = exchange.sender[exchange.source[e]];
      if (sender == exchange.sender[i]) continue;
      const double distance =
          distance_[e] <= kFarthest ? distance_[e] : kFarthest;  // NaN is far away
      Heard& last = heard[sender];
      const bool again = last.round == round_ && last.distance > distance;
      if (!again) last = {distance, round_};
    }
    std::vector<double> distances;
    for (const auto& [sender, last] : heard) distances.push_back(last.distance);
    std::ranges::sort(distances);
    const auto all = static_cast<double>(distances.size() + 1);
    const double liars = std::max(1.0, std::floor(delta_ * all + 1e-9));
    double squares = 0;
    for (std::size_t k = 0; static_cast<double>(k) + liars < all - 1; ++k) {
      squares += distances[k] * distances[k];
    }
    return std::sqrt(squares / liars);
  }

  std::optional<double> tau_;  ///< none: auto
  double delta_;
  AggregationContext context_;
  std::vector<double> distance_;  ///< [edge]
  std::vector<double> taken_;     ///< mass, of each sender by one receiver
  std::vector<std::map<std::uint32_t, Heard>> last_heard_;  ///< [receiver]
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
