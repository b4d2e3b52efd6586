#include "hearsay/core/random.h"

#include <algorithm>
#include <cmath>
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

/// Up to this many peers every pair is drawn, which takes a second; beyond, only the edges. Another
/// limit would change the graphs of a seed.
constexpr std::size_t kMostPairwise = 16384;
/// From this many peers on, draws that cannot succeed are not tried.
constexpr std::size_t kManyPeers = 4096;

/// Walks from edge to edge: the number of pairs between two of them is geometrically distributed.
std::vector<Edge> draw_sparse(const Model& model, Random random) {
  const std::size_t n = model.peers;
  const double scale = 1 / std::log1p(-model.p);  // -0 for p = 1: nothing is skipped
  const auto skip = [&] {
    return static_cast<std::size_t>(std::min(std::log1p(-random.uniform()) * scale, 0x1p62));
  };
  std::vector<Edge> edges;
  std::size_t at = skip();  // of the pairs of peer i
  for (std::size_t i = 0; i < n;) {
    const std::size_t pairs = model.symmetric ? n - 1 - i : n - 1;
    if (at >= pairs) {
      at -= pairs;
      ++i;
    } else if (model.symmetric) {
      link(edges, i, i + 1 + at);
      at += 1 + skip();
    } else {
      edges.push_back({.sender = static_cast<std::uint32_t>(i),
                       .receiver = static_cast<std::uint32_t>(at < i ? at : at + 1)});
      at += 1 + skip();
    }
  }
  return edges;
}

std::vector<Edge> draw_edges(const Model& model, Random random) {
  const std::size_t n = model.peers;
  if (n > kMostPairwise) return draw_sparse(model, random);
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

/// An upper bound for the logarithm of the probability that a draw is strongly connected. If it is
/// directed, each peer must have an edge to another. If not, one of the n^(n-2) spanning trees must
/// be there.
double log_connected(const Model& model) {
  const auto n = static_cast<double>(model.peers);
  if (model.symmetric) return (n - 2) * std::log(n) + (n - 1) * std::log(model.p);
  return n * std::log1p(-std::exp((n - 1) * std::log1p(-model.p)));
}

/// The index-th graph of the model: the first strongly connected draw of its own random stream.
Weights draw(const Model& model, std::uint64_t index) {
  const double pairs = static_cast<double>(model.peers) * static_cast<double>(model.peers);
  const auto tries = static_cast<std::uint32_t>(std::clamp(2e7 / pairs, 16.0, 1e5));
  constexpr double kHopeless = -28;  // 1e-12
  if (model.peers >= kManyPeers && log_connected(model) < kHopeless) {
    throw InvalidArgument(fmt::format(
        "[random] with p={} and {} peers no draw is strongly connected; raise p beyond ln(n) / n = "
        "{:.2g}",
        model.p, model.peers, std::log(model.peers) / static_cast<double>(model.peers)));
  }
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
