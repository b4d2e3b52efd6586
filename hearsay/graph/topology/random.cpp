#include "hearsay/core/random.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/graph/connectivity.h"
#include "hearsay/graph/mixing.h"
#include "hearsay/graph/spectrum/periodic.h"
#include "hearsay/graph/topology/topologies.h"

namespace hearsay::graph {

namespace {

/// How many draws period() returns for a graph that is redrawn.
constexpr std::uint64_t kSample = 4;

/// Erdos-Renyi: each ordered pair (or each pair, if symmetric) is an edge with probability p.
struct Model {
  std::size_t peers = 0;
  double p = 0;
  bool symmetric = false;
  Rule rule = Rule::kUniform;
  std::uint64_t seed = 0;
};

std::vector<Edge> draw_edges(const Model& model, Random random) {
  const std::size_t n = model.peers;
  const auto threshold = static_cast<std::uint64_t>(model.p * 0x1p32);
  std::vector<bool> present(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = model.symmetric ? i + 1 : 0; j < n; ++j) {
      if (i == j || random.next() >= threshold) continue;
      present[i * n + j] = true;
      if (model.symmetric) present[j * n + i] = true;
    }
  }
  std::vector<Edge> edges;
  edges.reserve(static_cast<std::size_t>(std::ranges::count(present, true)));
  for (std::size_t k = 0; k < n * n; ++k) {
    if (!present[k]) continue;
    edges.push_back({.sender = static_cast<std::uint32_t>(k / n),
                     .receiver = static_cast<std::uint32_t>(k % n)});
  }
  return edges;
}

/// The index-th graph of the model: the first strongly connected draw of its own random stream.
Weights draw(const Model& model, std::uint64_t index) {
  const double pairs = static_cast<double>(model.peers) * static_cast<double>(model.peers);
  const auto tries = static_cast<std::uint32_t>(std::clamp(2e7 / pairs, 16.0, 1e5));
  for (std::uint32_t attempt = 0; attempt < tries; ++attempt) {
    const Random random(model.seed, Purpose::kGraph, attempt, static_cast<std::uint32_t>(index));
    Weights weights = mix(model.peers, draw_edges(model, random), model.rule);
    if (!find_gap({&weights, 1})) return weights;
  }
  throw InvalidArgument(fmt::format(
      "[random] none of {} draws with p={} and {} peers was strongly connected; raise p", tries,
      model.p, model.peers));
}

/// A new draw every `every` rounds.
class Redrawn final : public Schedule {
 public:
  Redrawn(const Model& model, std::uint64_t every)
      : model_(model), every_(every), rows_(model.peers), current_(draw(model, 0)) {}

  std::size_t peers() const override { return model_.peers; }

  const Weights& at(std::uint64_t round, std::uint64_t epoch) override {
    const std::uint64_t index = phase(round, epoch);
    if (index != index_) {
      current_ = touching(draw(model_, index), first_, rows_);
      index_ = index;
    }
    return current_;
  }

  std::uint64_t phase(std::uint64_t round, std::uint64_t) const override { return round / every_; }

  std::vector<Weights> period() const override {
    std::vector<Weights> sample;
    for (std::uint64_t index = 0; index < kSample; ++index) {
      sample.push_back(touching(draw(model_, index), first_, rows_));
    }
    return sample;
  }

  bool repeats() const override { return false; }

  void keep(std::size_t first, std::size_t rows) override {
    first_ = first;
    rows_ = rows;
    current_ = touching(current_, first_, rows_);
  }

  Change change() const override { return every_ == 1 ? Change::kEveryRound : Change::kPhases; }

 private:
  Model model_;
  std::uint64_t every_;
  std::size_t first_ = 0, rows_;  ///< peers whose edges are kept
  std::uint64_t index_ = 0;
  Weights current_;
};

}  // namespace

std::unique_ptr<Schedule> make_random(const Arguments& arguments, const GraphContext& context) {
  const bool symmetric = arguments.flag("symmetric");
  const Model model{.peers = any_peers(context),
                    .p = arguments.number_in_range("p"),
                    .symmetric = symmetric,
                    .rule = weight_rule(arguments, symmetric),
                    .seed = context.seed};
  const auto n = static_cast<double>(model.peers);
  check_edges(arguments.name(), model.p * n * (n - 1));
  const auto every = static_cast<std::uint64_t>(arguments.integer_in_range("every"));
  if (every == 0) return make_static(draw(model, 0));
  return std::make_unique<Redrawn>(model, every);
}

}  // namespace hearsay::graph
