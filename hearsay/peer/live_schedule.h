#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "hearsay/graph/schedule.h"

namespace hearsay::peer {

/// Makes the graph of so many peers. Throws InvalidArgument if there is none.
using MakeGraph = std::function<std::unique_ptr<graph::Schedule>(std::size_t peers)>;

/// The graph of a fleet as one of its peers sees it: that of the spec over the peers that are live,
/// in the order of the fleet file. `at` has the edges that leave this peer, in its own rounds;
/// views of peers may differ, since the amounts travel with the messages.
///
/// `period` and all that follows from it are those of the whole fleet.
class LiveSchedule final : public graph::Schedule {
 public:
  LiveSchedule(MakeGraph make, std::size_t peers, std::uint32_t self);

  /// From now on these are live, ascending; this peer is among them.
  void set_live(const std::vector<std::uint32_t>& live);
  const std::vector<std::uint32_t>& live() const { return live_; }

  /// Whom this peer sends to or hears from, among those that are live, in any round of the period;
  /// of a graph that never repeats all. Ascending.
  const std::vector<std::uint32_t>& neighbours() const { return neighbours_; }

  std::size_t peers() const override { return fleet_->peers(); }
  const graph::Weights& at(std::uint64_t round, std::uint64_t epoch) override;
  std::uint64_t phase(std::uint64_t /*round*/, std::uint64_t /*epoch*/) const override { return 0; }
  std::vector<graph::Weights> period() const override { return fleet_->period(); }
  bool repeats() const override { return fleet_->repeats(); }
  void keep(std::size_t /*first*/, std::size_t /*rows*/) override {}
  Change change() const override { return fleet_->change(); }

 private:
  void find_neighbours();

  MakeGraph make_;
  std::uint32_t self_;
  std::unique_ptr<graph::Schedule> fleet_;      ///< over all peers
  std::unique_ptr<graph::Schedule> over_live_;  ///< null if this peer is alone
  std::vector<std::uint32_t> live_, neighbours_;
  graph::Weights own_;
};

/// Throws InvalidArgument if there is no graph of `peers` peers, or of any smaller number: live
/// peers may be few. `name` is for the message.
void check_any_size(const MakeGraph& make, std::size_t peers, std::string_view name);

/// The most hops between two peers over the edges of one period, in either direction.
std::uint32_t hops_across(const graph::Schedule& schedule);

}  // namespace hearsay::peer
