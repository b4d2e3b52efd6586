#include "hearsay/graph/schedule.h"

#include <fmt/format.h>

#include "hearsay/core/error.h"
#include "hearsay/graph/connectivity.h"
#include "hearsay/graph/mixing.h"
#include "hearsay/graph/topology/topologies.h"

namespace hearsay::graph {

namespace {

constexpr std::size_t kMostPeers = std::size_t{1} << 20;
constexpr double kMostEdges = 0x1p26;

constexpr Parameter kRing[] = {
    {"kind", "undirected", "undirected|directed", "both neighbours, or peer i sends to i+1 only"},
};
constexpr Parameter kStar[] = {kWeightsParameter};
constexpr Parameter kGrid[] = {
    {"size", "auto", "RxC", "rows x columns; auto: the most square for the number of peers"},
    kWeightsParameter,
};
constexpr Parameter kTorus[] = {
    {"size", "auto", "RxC", "rows x columns; auto: the most square for the number of peers"},
};
constexpr Parameter kRandom[] = {
    {"p", "0.5", "(0, 1]", "probability of each edge; redrawn until strongly connected"},
    {"symmetric", "0", "0|1", "1: undirected"},
    {"every", "0", "[0, inf)", "rounds after which to draw anew; 0: never"},
    kWeightsParameter,
};
constexpr Parameter kSparsePush[] = {
    {"graph", "a", "a|b|c", "which of the three graphs of the paper's Fig. 5"},
};
constexpr Parameter kFile[] = {
    {"path", "", kVerbatim, "edge list, one line per edge: sender receiver [weight]"},
};
constexpr Parameter kCycle[] = {
    {"members", "", kVerbatim,
     "A+B+C,every=K: static graphs, each for K rounds (or every=Kepochs)"},
};

constexpr Entry kRegistry[] = {
    {"ring", "ring", "each peer and its two neighbours; ring:directed sends one way", kRing,
     make_ring},
    {"star", "star", "peer 0 and all others", kStar, make_star},
    {"grid", "grid:4x4", "rows and columns, with borders", kGrid, make_grid},
    {"torus", "torus:4x4", "rows and columns that wrap around", kTorus, make_torus},
    {"complete", "complete", "everybody with everybody: W = 11'/n", {}, make_complete},
    {"random", "random:p=0.5", "each edge with probability p (directed, or symmetric=1)", kRandom,
     make_random},
    {"exponential", "exponential", "peer i sends to i+1, i+2, i+4, ...", {}, make_exponential},
    {"one-peer-exponential",
     "one-peer-exponential",
     "one hop of the exponential graph per round: exact averaging in log2 n rounds",
     {},
     make_one_peer_exponential},
    {"sparse-push", "sparse-push:a", "the 4-peer digraphs of the Sparse-Push paper", kSparsePush,
     make_sparse_push},
    {"cycle", "cycle:ring+star,every=2", "one graph after the other", kCycle, make_cycle},
    {"file", "file:graph.txt", "an edge list, with its weights or without", kFile, make_file},
};

}  // namespace

Registry<Entry> registry() { return {"graph", kRegistry}; }

std::size_t any_peers(const GraphContext& context) {
  return context.peers == 0 ? 4 : context.peers;
}

void check_peers(std::string_view spec, std::size_t implied, const GraphContext& context,
                 std::string_view instead) {
  if (context.peers == 0 || context.peers == implied) return;
  throw InvalidArgument(fmt::format("[graph] {} has {} peers but --peers is {}; {}drop --peers",
                                    spec, implied, context.peers,
                                    instead.empty() ? "" : fmt::format("use {}, or ", instead)));
}

void check_edges(std::string_view name, double edges) {
  if (edges <= kMostEdges) return;
  throw InvalidArgument(
      fmt::format("[{}] would have {:.2g} edges; at most {:.2g} are possible, use fewer peers "
                  "or a sparser graph",
                  name, edges, kMostEdges));
}

std::unique_ptr<Schedule> make_unchecked(std::string_view spec, const GraphContext& context) {
  return registry().make(spec, context);
}

std::unique_ptr<Schedule> make_schedule(std::string_view spec, const GraphContext& context) {
  if (context.peers > kMostPeers) {
    throw InvalidArgument(
        fmt::format("[graph] --peers must be at most {}, got {}", kMostPeers, context.peers));
  }
  auto schedule = make_unchecked(spec, context);
  // The first matrix is usually enough, and sampling large random graphs is expensive.
  if (!find_gap({&schedule->at(0, 0), 1})) return schedule;
  if (const auto gap = find_gap(schedule->period())) {
    throw InvalidArgument(
        fmt::format("[graph] {} is not {}strongly connected: nothing from peer {} reaches peer {}; "
                    "add edges until "
                    "every peer reaches every other",
                    spec, schedule->is_static() ? "" : "jointly ", gap->from, gap->to));
  }
  return schedule;
}

}  // namespace hearsay::graph
