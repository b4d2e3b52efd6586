#include "hearsay/run/diagnosis.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "hearsay/algorithm/algorithm.h"
#include "hearsay/core/spec.h"
#include "hearsay/gossip/learning_rate.h"

namespace hearsay::run {

namespace {

constexpr double kGrowth = 10;  ///< of losses and of consensus distances

/// How far above chance an accuracy must be to count as learnt, in percent: the noise of a test
/// set of a few hundred samples.
double margin_above(double chance) { return std::min(0.05 * (100 - chance), 0.5 * chance); }

/// Whether `lr` is a number and nothing else.
bool is_plain(const std::string& lr) { return lr.find_first_not_of("0123456789.+-e") == lr.npos; }

/// `--lr` with `factor` times the rate, and the same schedule.
std::string rate_times(const std::string& lr, double factor) {
  const std::string spec = gossip::full_learning_rate(lr);
  const auto& row = gossip::learning_rate_registry().find(spec);
  const Arguments arguments(spec, row.parameters);
  const std::string rate = fmt::format("{:.3g}", factor * arguments.number("rate"));
  std::string flag = "--lr " + (is_plain(lr) ? rate : fmt::format("{}:{}", row.name, rate));
  for (const Parameter& parameter : row.parameters.subspan(1)) {
    if (!arguments.given(parameter.key)) continue;
    flag += fmt::format(",{}={}", parameter.key, arguments.text(parameter.key));
  }
  return flag;
}

const algorithm::Entry* entry_of(const std::string& algorithm) {
  const auto rows = algorithm::registry();
  return rows.contains(algorithm) ? &rows.find(algorithm) : nullptr;
}

/// Less compression, if there is any.
void add_compressor(const train::RunOptions& config, std::vector<std::string>& advice) {
  const std::string_view name = spec_name(config.compressor);
  if (name == "identity" || name == "own" || config.algorithm == "silent") return;
  advice.emplace_back(name == "topk" && config.compressor.find("keep=0.1") == std::string::npos
                          ? "--compressor topk:keep=0.1"
                          : "--compressor identity");
}

/// A smaller averaging rate, if the method has one.
void add_eta(const train::RunOptions& config, double eta, std::vector<std::string>& advice) {
  const algorithm::Entry* entry = entry_of(config.algorithm);
  if (entry == nullptr ||
      std::ranges::find(entry->parameters, "eta", &Parameter::key) == entry->parameters.end()) {
    return;
  }
  advice.push_back(
      fmt::format("a smaller averaging rate (--algorithm {}:eta={:.2g})", entry->name, 0.3 * eta));
}

std::string either(const std::vector<std::string>& advice) {
  return fmt::format("{}", fmt::join(advice, ", or "));
}

/// The metric that says how much was learnt: accuracy or R2; nullptr in a closed-form problem.
const train::MetricResult* score_of(const train::Metrics& evaluation) {
  const train::MetricResult* accuracy = evaluation.find(engine::kAccuracy.key);
  return accuracy != nullptr ? accuracy : evaluation.find(engine::kR2.key);
}

std::string shown(const train::MetricResult& score, double value) {
  const std::string text = engine::format_value(score.metric, value);
  return score.metric.unit.empty() ? text : text + " " + std::string(score.metric.unit);
}

}  // namespace

std::string Warning::text() const { return advice.empty() ? what : what + "; try " + advice; }

std::string to_json(std::span<const Warning> warnings) {
  auto rows = nlohmann::ordered_json::array();
  for (const Warning& warning : warnings) {
    rows.push_back({{"kind", warning.kind}, {"what", warning.what}, {"try", warning.advice}});
  }
  return rows.dump();
}

Circumstances circumstances_of(const train::RunView& run) {
  Circumstances of{.training_rounds = run.training_rounds(),
                   .averaging_rate = run.averaging_rate()};
  const auto counts = run.objective().class_counts();
  if (counts.empty()) return of;
  std::vector<double> totals(counts.front().size());
  double all = 0;
  for (const auto& peer : counts) {
    for (std::size_t c = 0; c < peer.size(); ++c) {
      totals[c] += static_cast<double>(peer[c]);
      all += static_cast<double>(peer[c]);
    }
  }
  if (all > 0) of.commonest = 100 * *std::ranges::max_element(totals) / all;
  return of;
}

Warning warning_of(const gossip::NotFinite& error, const train::RunOptions& config) {
  std::string what = error.what();
  if (what.ends_with(gossip::kLowerRate)) what.resize(what.size() - gossip::kLowerRate.size());
  std::vector<std::string> advice{rate_times(config.lr, 0.1)};
  if (!is_plain(config.lr) && config.lr.find("warmup") == std::string::npos) {
    advice.push_back("a warm-up (" + rate_times(config.lr, 1) + ",warmup=2)");
  }
  add_compressor(config, advice);
  return {"failed", what, either(advice)};
}

Diagnosis::Diagnosis(const train::RunOptions& config, const Circumstances& of)
    : config_(config), of_(of) {}

bool Diagnosis::communicates() const { return spec_name(config_.algorithm) != "silent"; }

void Diagnosis::see(const train::Metrics& evaluation) {
  if (evaluation.round == 0) first_ = evaluation;
  if (evaluation.round > 0 && evaluation.round <= of_.training_rounds) {
    if (3 * evaluation.round <= of_.training_rounds) {
      early_distance_ = std::max(early_distance_, evaluation.divergence);
    }
    late_distance_ = evaluation.divergence;
    late_round_ = evaluation.round;
  }
  see_peers(evaluation);
  last_ = evaluation;
}

void Diagnosis::see_peers(const train::Metrics& evaluation) {
  const train::MetricResult* score = evaluation.find(engine::kAccuracy.key);
  if (score == nullptr || !of_.commonest) return;
  const std::vector<double>& values = score->by_peer;
  peers_.resize(std::max(peers_.size(), values.size()));
  const double chance = *of_.commonest;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    Peer& peer = peers_[i];
    peer.has_figures = i < values.size() && std::isfinite(values[i]);
    if (!peer.has_figures) continue;
    peer.last = values[i];
    const bool learnt = peer.best - chance > 4 * margin_above(chance);
    const bool lost = values[i] - chance < 0.5 * (peer.best - chance);
    const bool late = 2 * evaluation.round >= of_.training_rounds;
    if (learnt && lost && late && (!fall_ || values[i] < fall_->to)) {
      fall_ = {i, peer.best, values[i], peer.best_round, evaluation.round};
    }
    if (values[i] > peer.best) {
      peer.best = values[i];
      peer.best_round = evaluation.round;
    }
  }
}

std::optional<Warning> Diagnosis::diverged() const {
  const auto warning = [&](const std::string& what) {
    std::vector<std::string> advice{rate_times(config_.lr, 0.1)};
    add_eta(config_, of_.averaging_rate, advice);
    return Warning{"diverged", "the run diverged: " + what, either(advice)};
  };
  if (!std::isfinite(last_->loss)) return warning("its loss is not a number at the end");
  const auto worse = [&](const std::string& key, std::optional<double> start,
                         std::optional<double> now) -> std::optional<Warning> {
    const double before = start.value_or(0);
    if (!now || !(before > 0) || *now <= kGrowth * before) return {};
    return warning(fmt::format("{} is {:.3g} and was {:.3g} at the start", key, *now, before));
  };
  if (!first_) return {};
  if (auto loss = worse("loss", first_->loss, last_->loss)) return loss;
  for (const train::MetricResult& result : last_->results) {
    const train::MetricResult* start = first_->find(result.metric.key);
    if (result.metric.better == engine::Metric::Better::kLarger || start == nullptr) continue;
    auto metric = worse(engine::keys_of(result.metric).mean, start->mean, result.mean);
    if (metric) return metric;
  }
  return {};
}

std::optional<Warning> Diagnosis::at_chance() const {
  const train::MetricResult* score = score_of(*last_);
  if (score == nullptr || !score->mean || of_.training_rounds < kFewRounds) return {};
  std::string what;
  if (score->metric.key == engine::kR2.key) {
    if (*score->mean > 0) return {};
    what = fmt::format(
        "the peers have learnt nothing: their mean R2 is {}, that of predicting the "
        "mean is 0",
        shown(*score, *score->mean));
  } else {
    if (!of_.commonest || *score->mean > *of_.commonest + margin_above(*of_.commonest)) return {};
    what = fmt::format(
        "the peers have learnt nothing: their mean accuracy is {}, and naming the most frequent "
        "class always gives about {}",
        shown(*score, *score->mean), shown(*score, *of_.commonest));
  }
  std::vector<std::string> advice{rate_times(config_.lr, 0.1)};
  if (config_.liars != "none" && config_.robust == "none") {
    advice.insert(advice.begin(), "a defence against those who lie (--robust clip)");
  }
  constexpr std::uint64_t kEnough = 500;  // rounds
  if (of_.training_rounds < kEnough) {
    advice.insert(advice.begin(), fmt::format("longer training (--rounds {})", 2 * kEnough));
  }
  add_compressor(config_, advice);
  return Warning{"chance", what, either(advice)};
}

std::optional<Warning> Diagnosis::apart() const {
  if (!communicates() || !(early_distance_ > 0) || of_.training_rounds < kFirstRounds) return {};
  if (late_distance_ < kGrowth * early_distance_) return {};
  std::vector<std::string> advice;
  add_eta(config_, of_.averaging_rate, advice);
  add_compressor(config_, advice);
  advice.push_back(rate_times(config_.lr, 0.3));
  return Warning{"consensus",
                 fmt::format("the peers drift apart: the consensus distance is {:.3g} in round {}, "
                             "and was at most {:.3g} in the first third",
                             late_distance_, late_round_, early_distance_),
                 either(advice)};
}

std::optional<Warning> Diagnosis::fallen() const {
  if (!fall_ || of_.training_rounds < kFirstRounds) return {};
  const train::MetricResult* score = last_->find(engine::kAccuracy.key);
  const Peer& peer = peers_[fall_->peer];
  const bool still = peer.last - *of_.commonest < 0.5 * (peer.best - *of_.commonest);
  const bool at_end = still && fall_->to_round == last_->round;
  // Peers that are still learning swing, between few test samples more so.
  const bool had_learnt = fall_->from - *of_.commonest > 0.6 * (peer.best - *of_.commonest);
  if (!still && !had_learnt) return {};
  std::string what = fmt::format("peer {} fell back to {} in round {}, from {} in round {}",
                                 fall_->peer, shown(*score, fall_->to), fall_->to_round,
                                 shown(*score, fall_->from), fall_->from_round);
  if (!at_end) what += fmt::format(", and ended at {}", shown(*score, peer.last));
  const algorithm::Entry* entry = entry_of(config_.algorithm);
  std::vector<std::string> advice{rate_times(config_.lr, 0.3)};
  if (is_plain(config_.lr) && (entry == nullptr || !entry->needs.constant_rate)) {
    advice.insert(advice.begin(), fmt::format("a rate that decays (--lr cosine:{})", config_.lr));
  }
  add_eta(config_, of_.averaging_rate, advice);
  return Warning{"fell-back", what, either(advice)};
}

std::optional<Warning> Diagnosis::behind() const {
  if (!communicates() || !of_.commonest || of_.training_rounds < kFirstRounds) return {};
  std::vector<double> values;
  for (const Peer& peer : peers_) {
    if (peer.has_figures) values.push_back(peer.last);
  }
  if (values.size() < 2) return {};
  const auto worst = std::ranges::min_element(peers_, {}, [](const Peer& peer) {
    return peer.has_figures ? peer.last : std::numeric_limits<double>::infinity();
  });
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  const double chance = *of_.commonest;
  const bool learnt = *middle - chance > 4 * margin_above(chance);
  if (!learnt || worst->last - chance >= 0.5 * (*middle - chance)) return {};
  const train::MetricResult& score = *last_->find(engine::kAccuracy.key);
  std::vector<std::string> advice{"longer training", rate_times(config_.lr, 0.3)};
  add_compressor(config_, advice);
  return Warning{
      "behind",
      fmt::format("peer {} is far behind the others: it ends at {}, the median peer at "
                  "{}",
                  worst - peers_.begin(), shown(score, worst->last), shown(score, *middle)),
      either(advice)};
}

std::vector<Warning> Diagnosis::warnings() const {
  std::vector<Warning> all;
  if (!last_) return all;
  const auto add = [&](std::optional<Warning> warning) {
    const bool any = warning.has_value();
    if (any) all.push_back(std::move(*warning));
    return any;
  };
  add(diverged());
  const bool learnt_nothing = add(at_chance());
  add(apart());
  if (!learnt_nothing && !add(fallen())) add(behind());
  return all;
}

std::vector<Warning> diagnose(const train::RunOptions& config, const train::RunView& run,
                              const MetricsFile& metrics) {
  Diagnosis diagnosis(config, circumstances_of(run));
  metrics.for_each([&](const train::Metrics& evaluation) { diagnosis.see(evaluation); });
  return diagnosis.warnings();
}

}  // namespace hearsay::run
