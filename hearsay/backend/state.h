#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "hearsay/backend/kernels.h"

namespace hearsay::backend {

/// Copies of rows whose peers are in other banks: row k is that of peers[k].
struct RemoteReplicas {
  std::vector<std::uint32_t> peers;  ///< ascending
  Array rows;
};

/// One row per peer of this bank, and replicas of remote rows, bitwise equal to their owners'.
struct RowsAndReplicas {
  Array* rows;
  RemoteReplicas* replicas;
};

/// The names and locations of all state that a component restores from a checkpoint.
///
/// A component adds its members in a fixed order; saving reads them and restoring writes them, so
/// the two cannot disagree. State with one row (or one element) per peer is added with `per_peer`;
/// scalars are the same on every peer, or belong to rank 0 alone. Remote replicas are not saved:
/// they are restored from their owners' rows. An Array may be empty: it is then saved as absent,
/// and restored as empty.
class StateList {
 public:
  using Place = std::variant<Array*, RowsAndReplicas, std::vector<double>*,
                             std::vector<std::uint64_t>*, std::uint64_t*, double*>;
  struct Item {
    std::string name;
    Place place;
  };

  void per_peer(std::string name, Array& rows) { items_.push_back({std::move(name), &rows}); }
  void per_peer(std::string name, Array& rows, RemoteReplicas& replicas) {
    items_.push_back({std::move(name), RowsAndReplicas{&rows, &replicas}});
  }
  void per_peer(std::string name, std::vector<double>& values) {
    items_.push_back({std::move(name), &values});
  }
  void per_peer(std::string name, std::vector<std::uint64_t>& values) {
    items_.push_back({std::move(name), &values});
  }
  void scalar(std::string name, std::uint64_t& value) {
    items_.push_back({std::move(name), &value});
  }
  void scalar(std::string name, double& value) { items_.push_back({std::move(name), &value}); }

  const std::vector<Item>& items() const { return items_; }

 private:
  std::vector<Item> items_;
};

}  // namespace hearsay::backend
