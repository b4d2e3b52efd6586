#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "hearsay/core/registry.h"
#include "hearsay/graph/weights.h"

namespace hearsay::graph {

/// The communication graph of every round.
///
/// `phase(round, epoch)` numbers the intervals in which W is constant: algorithms that keep copies
/// of their neighbours' models reset them when it changes. Immutable and safe to share between
/// threads, except for `at`, which may cache.
class Schedule {
 public:
  virtual ~Schedule() = default;

  virtual std::size_t peers() const = 0;

  /// W of that round. The reference is valid until the next call.
  virtual const Weights& at(std::uint64_t round, std::uint64_t epoch) = 0;

  virtual std::uint64_t phase(std::uint64_t round, std::uint64_t epoch) const = 0;

  /// The matrices of one period, in order: one for a static graph. For graphs drawn at random each
  /// round, the first few draws: properties are then those of that sample.
  virtual std::vector<Weights> period() const = 0;

  /// Whether `period` is all there is, rather than a sample.
  virtual bool repeats() const { return true; }

  /// From now on `at` holds only the edges incident to the peers first .. first + rows - 1: `into`,
  /// `out_of` and `self` are complete for these peers alone. The same may hold for `period`, so
  /// compute properties before. At most one call.
  virtual void keep(std::size_t first, std::size_t rows) = 0;

  bool is_static() const { return change() == Change::kNever; }

  enum class Change { kNever, kPhases, kEveryRound };
  virtual Change change() const = 0;
};

/// The inputs of a graph besides its spec.
struct GraphContext {
  std::size_t peers = 0;   ///< 0: as the spec implies (torus:4x4), or 4
  std::uint64_t seed = 0;  ///< of random graphs
};

/// One row of the registry.
using Entry = Row<std::unique_ptr<Schedule>(const GraphContext&)>;

Registry<Entry> registry();

/// make_schedule("ring:directed", {.peers = 5}). Throws InvalidArgument: unknown names, sizes that
/// do not match ("[graph] torus:3x5 has 15 peers but --peers is 16; use torus:4x4, or drop
/// --peers"), unreadable files, graphs that are not (jointly) strongly connected.
std::unique_ptr<Schedule> make_schedule(std::string_view spec, const GraphContext& context);

}  // namespace hearsay::graph
