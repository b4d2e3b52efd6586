#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "hearsay/net/hello.h"
#include "hearsay/net/record.h"

namespace hearsay::peer {

/// What this peer knows of all peers of the fleet: the newest record of each, passed on from peer
/// to peer. No vote and no coordinator: views may differ for a while, which costs time but no mass.
///
/// Live is who trains or has finished, and was heard of lately: a neighbour within 5 s, others
/// within 1 s more for each hop that a record may take. One whose connection to this peer broke is
/// dead until it is back, or for 5 s and until others tell something newer of it.
class Members {
 public:
  /// `hops`: the longest way that a record takes through the graph.
  Members(std::uint32_t peers, std::uint32_t self, std::uint64_t incarnation, std::uint32_t hops);

  std::uint32_t peers() const { return static_cast<std::uint32_t>(known_.size()); }
  std::uint32_t self() const { return self_; }

  /// This peer's own record.
  net::Record& own() { return known_[self_].record; }
  const net::Record& own() const { return known_[self_].record; }

  /// Take over a record if it is newer than what is known.
  void merge(const net::Record& record, double now);
  /// A HELLO was accepted from that peer, whose connection is up: it lives.
  void up(std::uint32_t peer, const net::Hello& hello, double now);
  void down(std::uint32_t peer, double now);
  /// That neighbour lives, whatever it tells.
  void heard(std::uint32_t peer, double now) { known_[peer].heard = now; }

  /// The newest incarnation of that peer; 0: never heard of.
  std::uint64_t incarnation(std::uint32_t peer) const { return known_[peer].record.incarnation; }
  const net::Record& record(std::uint32_t peer) const { return known_[peer].record; }
  /// Seconds since the record of that peer was renewed.
  double age(std::uint32_t peer, double now) const { return now - known_[peer].renewed; }
  bool is_live(std::uint32_t peer, double now) const;
  /// Ascending; this peer is always among them.
  std::vector<std::uint32_t> live(double now) const;

  /// Raises the own beat; the records to send now: the own one and max(8, n/4) others, those that
  /// changed since they were last sent first.
  std::vector<net::Record> pulse();

  /// All that are known, slots ascending.
  std::vector<net::Record> records() const;

 private:
  struct Known {
    net::Record record{};
    double renewed = -std::numeric_limits<double>::infinity();  ///< when the record was
    double heard = renewed;                                     ///< when anything of it was
    bool connected = false;
    double broken = -std::numeric_limits<double>::infinity();  ///< when the connection broke
    bool changed = false;                                      ///< since it was last passed on
  };

  std::uint32_t self_;
  double patience_;  ///< seconds
  std::vector<Known> known_;
  std::uint32_t turn_ = 0;  ///< who is passed on next
};

}  // namespace hearsay::peer
