#include "hearsay/graph/facts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "hearsay/core/random.h"
#include "hearsay/graph/connectivity.h"
#include "hearsay/graph/properties.h"
#include "hearsay/graph/spectrum/spectrum.h"

namespace hearsay::graph {

namespace {

/// Up to this many peers no solver is faster than a dense one.
constexpr std::size_t kDensePeers = 256;
/// Limits of simulated averaging, in edge visits and rounds; beyond, the rounds are extrapolated.
constexpr double kMostWork = 2e8, kMostRounds = 2e4, kFewestRounds = 64;
constexpr double kAveraged = 1e-3;

std::vector<double> random_vector(std::size_t n) {
  Random random(0, Purpose::kProblem);
  std::vector<double> x(n);
  for (double& entry : x) entry = random.normal();
  return x;
}

/// Push-sum over the period: x and its weights u, mixed by the same W.
class PushSum {
 public:
  explicit PushSum(std::vector<double> x) : x_(std::move(x)), u_(x_.size(), 1.0), next_(x_.size()) {
    mean_ = std::accumulate(x_.begin(), x_.end(), 0.0) / static_cast<double>(x_.size());
  }

  void round(const Weights& weights) {
    weights.multiply(x_, next_);
    x_.swap(next_);
    weights.multiply(u_, next_);
    u_.swap(next_);
  }

  /// |x / u - the true mean|_2
  double spread() const {
    double sum = 0;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      sum += (x_[i] / u_[i] - mean_) * (x_[i] / u_[i] - mean_);
    }
    return std::sqrt(sum);
  }

 private:
  std::vector<double> x_, u_, next_;
  double mean_ = 0;
};

/// Exact for circulants. Otherwise simulated as long as that is cheap, then extrapolated: the
/// spread is assumed to shrink by the second modulus per period, its asymptotic rate: an upper
/// estimate.
std::size_t rounds_to_average(std::span<const Weights> period, double messages,
                              const Spectrum& spectrum,
                              const std::optional<Circulants>& circulants) {
  const std::vector<double> x = random_vector(period.front().peers());
  if (circulants) return circulants->rounds_to_average(x, kAveraged);
  PushSum push_sum(x);
  const double target = kAveraged * push_sum.spread();
  const double rounds = std::clamp(kMostWork / (messages + 1), kFewestRounds, kMostRounds);
  const auto most = static_cast<std::size_t>(rounds);
  for (std::size_t round = 0; round < most; ++round) {
    if (push_sum.spread() <= target) return round;
    push_sum.round(period[round % period.size()]);
  }
  if (spectrum.second_modulus >= 1) return Facts::kNever;
  const double periods = std::log(target / push_sum.spread()) / std::log(spectrum.second_modulus);
  const double left = std::ceil(std::max(0.0, periods) * static_cast<double>(period.size()));
  return left < static_cast<double>(Facts::kNever) ? most + static_cast<std::size_t>(left)
                                                   : Facts::kNever;
}

void add_properties(std::span<const Weights> period, Facts& facts) {
  facts.peers = period.front().peers();
  facts.period = period.size();
  facts.strongly_connected = !find_gap(period).has_value();
  facts.column_stochastic = std::ranges::all_of(period, is_column_stochastic);
  facts.row_stochastic = std::ranges::all_of(period, is_row_stochastic);
  facts.doubly_stochastic = facts.column_stochastic && facts.row_stochastic;
  facts.symmetric = std::ranges::all_of(period, is_symmetric);
  facts.balanced = std::ranges::all_of(period, is_balanced);
  facts.min_out_degree = facts.peers;
  for (const Weights& weights : period) {
    facts.messages_per_round +=
        static_cast<double>(weights.edge_count()) / static_cast<double>(period.size());
    for (std::size_t i = 0; i < facts.peers; ++i) {
      facts.min_out_degree = std::min(facts.min_out_degree, weights.out_of(i).size());
      facts.max_out_degree = std::max(facts.max_out_degree, weights.out_of(i).size());
    }
  }
}

std::optional<double> lambda_min(std::span<const Weights> period) {
  double smallest = 1;
  const Edge* last = nullptr;
  for (const Weights& weights : period) {
    const Edge* table = weights.edges().data();
    if (table == last) continue;  // the same matrix as before
    last = table;
    const bool few = weights.peers() <= kDensePeers;
    const auto found = few ? dense_lambda_min(weights) : krylov_lambda_min(weights);
    if (!found) return std::nullopt;
    smallest = std::min(smallest, *found);
  }
  return smallest;
}

std::optional<Spectrum> spectrum_of(std::span<const Weights> period,
                                    const std::optional<Circulants>& circulants) {
  const auto peers = static_cast<double>(period.front().peers());
  if (circulants) return circulants->spectrum();
  if (peers > kDensePeers) return krylov_spectrum(period);
  if (10 * static_cast<double>(period.size()) * peers * peers * peers > kMostSolverWork)
    return std::nullopt;
  return dense_spectrum(period);
}

/// Returns false if that would take too long.
bool add_spectrum(std::span<const Weights> period, Facts& facts) {
  const auto circulants = Circulants::of(period);
  const auto spectrum = spectrum_of(period, circulants);
  if (!spectrum) return false;
  facts.rho = spectrum->rho;
  facts.second_modulus = spectrum->second_modulus;
  if (facts.symmetric) {
    const auto smallest = circulants ? circulants->smallest_real_part() : lambda_min(period);
    if (!smallest) return false;
    facts.lambda_min = *smallest;
  }
  if (!facts.doubly_stochastic) {
    auto perron = perron_weights(period);
    if (!perron) return false;
    facts.perron = std::move(*perron);
  }
  facts.rounds_to_1e3 = rounds_to_average(period, facts.messages_per_round, *spectrum, circulants);
  return true;
}

void leave_out_spectrum(Facts& facts) {
  facts.has_spectrum = false;
  facts.rho = facts.second_modulus = facts.lambda_min = std::numeric_limits<double>::quiet_NaN();
  facts.perron.clear();
}

}  // namespace

Facts facts_of(const Schedule& schedule, Depth depth) {
  const std::vector<Weights> period = schedule.period();
  Facts facts;
  add_properties(period, facts);
  facts.balanced &= schedule.repeats();
  if (depth == Depth::kProperties) return facts;
  facts.perron.assign(facts.peers, 1.0);
  facts.lambda_min = facts.peers == 1 ? 1 : 0;
  if (facts.strongly_connected && facts.peers > 1 && !add_spectrum(period, facts)) {
    leave_out_spectrum(facts);
  }
  if (!facts.strongly_connected) facts.rho = facts.second_modulus = 1;  // no consensus
  return facts;
}

}  // namespace hearsay::graph
