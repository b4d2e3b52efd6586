#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "hearsay/algorithm/exchange.h"
#include "hearsay/core/thread_pool.h"
#include "hearsay/gossip/liars/lie.h"

namespace hearsay::gossip {

/// The peers of a spec of `--liars`, ascending: those that it names, else drawn by the seed; none
/// for "none". Throws InvalidArgument, also if no peer is left that is honest.
std::vector<std::uint32_t> liars_of(std::string_view spec, std::size_t peers, std::uint64_t seed);

/// The peers of a simulation that lie. They train and mix as the others do, and send (w u z, w u)
/// in place of (u z, u): z is the lie, w the factor `weight` of the spec. Nothing of their own
/// state changes by that, so a liar knows a good model.
class Liars {
 public:
  Liars(std::string_view spec, std::size_t peers, const LieContext& context);

  std::span<const std::uint32_t> peers() const { return peers_; }
  bool lies(std::uint32_t peer) const;
  /// Whether it claims another push-sum weight than its own.
  bool overstates() const { return weight_ != 1; }

  /// What that liar sends, to x; returns the push-sum weight that it claims.
  double tell(const Knowledge& knowledge, std::span<float> x) const;

  /// Replaces, in the exchange of a bank of all peers, what others get from liars.
  void rewrite(std::uint32_t round, algorithm::Exchange& exchange, ThreadPool& pool,
               std::size_t dim);

 private:
  std::unique_ptr<Lie> lie_;
  std::vector<std::uint32_t> peers_;
  double weight_ = 1;
  std::vector<std::vector<float>> told_;  ///< by each liar
};

}  // namespace hearsay::gossip
