#include "hearsay/peer/live_schedule.h"

#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "hearsay/core/error.h"

namespace hearsay::peer {

LiveSchedule::LiveSchedule(MakeGraph make, std::size_t peers, std::uint32_t self)
    : make_(std::move(make)), self_(self), fleet_(make_(peers)) {
  std::vector<std::uint32_t> all(fleet_->peers());
  std::iota(all.begin(), all.end(), 0u);
  set_live(all);
}

void LiveSchedule::set_live(const std::vector<std::uint32_t>& live) {
  if (live == live_) return;
  live_ = live;
  over_live_ = live_.size() > 1 ? make_(live_.size()) : nullptr;
  find_neighbours();
}

void LiveSchedule::find_neighbours() {
  neighbours_.clear();
  if (!over_live_) return;
  if (!over_live_->repeats()) {
    std::ranges::remove_copy(live_, std::back_inserter(neighbours_), self_);
    return;
  }
  const auto place =
      static_cast<std::size_t>(std::ranges::lower_bound(live_, self_) - live_.begin());
  std::set<std::uint32_t> found;
  for (const graph::Weights& weights : over_live_->period()) {
    for (const graph::Edge& edge : weights.out_of(place)) found.insert(live_[edge.receiver]);
    for (const graph::Edge& edge : weights.into(place)) found.insert(live_[edge.sender]);
  }
  neighbours_.assign(found.begin(), found.end());
}

const graph::Weights& LiveSchedule::at(std::uint64_t round, std::uint64_t epoch) {
  std::vector<graph::Edge> edges;
  if (over_live_) {
    const auto place =
        static_cast<std::size_t>(std::ranges::lower_bound(live_, self_) - live_.begin());
    for (const graph::Edge& edge : over_live_->at(round, epoch).out_of(place)) {
      edges.push_back({self_, live_[edge.receiver], edge.weight});
    }
  }
  own_ = graph::Weights(peers(), std::move(edges));
  return own_;
}

void check_any_size(const MakeGraph& make, std::size_t peers, std::string_view name) {
  for (std::size_t n = peers; n >= 2; --n) {
    try {
      const std::size_t made = make(n)->peers();
      if (made == n) continue;
      throw InvalidArgument(fmt::format("asked for {} peers, it has {}", n, made));
    } catch (const InvalidArgument& error) {
      if (n == peers) throw;
      throw InvalidArgument(
          fmt::format("[graph] asynchronous peers come and go, and there is no {} of {} peers; use "
                      "ring:directed, exponential or one-peer-exponential ({})",
                      name, n, error.what()));
    }
  }
}

std::uint32_t hops_across(const graph::Schedule& schedule) {
  const std::size_t n = schedule.peers();
  std::vector<std::set<std::uint32_t>> next(n);
  for (const graph::Weights& weights : schedule.period()) {
    for (const graph::Edge& edge : weights.edges()) {
      next[edge.sender].insert(edge.receiver);
      next[edge.receiver].insert(edge.sender);
    }
  }
  std::uint32_t most = 0;
  for (std::uint32_t start = 0; start < n; ++start) {
    std::vector<std::uint32_t> hops(n, 0), reached{start};
    std::vector<bool> seen(n, false);
    seen[start] = true;
    for (std::size_t k = 0; k < reached.size(); ++k) {
      for (const std::uint32_t peer : next[reached[k]]) {
        if (seen[peer]) continue;
        seen[peer] = true;
        hops[peer] = hops[reached[k]] + 1;
        most = std::max(most, hops[peer]);
        reached.push_back(peer);
      }
    }
  }
  return most;
}

}  // namespace hearsay::peer
