#include "hearsay/peer/members.h"

#include <algorithm>
#include <tuple>

namespace hearsay::peer {

namespace {

constexpr double kNeighbourSeconds = 5;
constexpr double kSecondsPerHop = 1;

bool is_newer(const net::Record& a, const net::Record& than) {
  return std::tie(a.incarnation, a.beat) > std::tie(than.incarnation, than.beat);
}

}  // namespace

Members::Members(std::uint32_t peers, std::uint32_t self, std::uint64_t incarnation,
                 std::uint32_t hops)
    : self_(self), patience_(kNeighbourSeconds + kSecondsPerHop * hops), known_(peers) {
  for (std::uint32_t slot = 0; slot < peers; ++slot) known_[slot].record.slot = slot;
  own().incarnation = incarnation;
  own().u = 1;
}

void Members::merge(const net::Record& record, double now) {
  if (record.slot >= known_.size() || record.slot == self_) return;
  Known& known = known_[record.slot];
  if (!is_newer(record, known.record)) return;
  known.record = record;
  known.heard = known.renewed = now;
  known.changed = true;
}

void Members::up(std::uint32_t peer, const net::Hello& hello, double now) {
  Known& known = known_[peer];
  known.connected = true;
  known.heard = now;
  if (hello.incarnation <= known.record.incarnation) return;
  known.record = {.slot = peer, .incarnation = hello.incarnation, .rounds = hello.rounds, .u = 1};
  known.renewed = now;
  known.changed = true;
}

void Members::down(std::uint32_t peer, double now) {
  known_[peer].connected = false;
  known_[peer].broken = now;
}

bool Members::is_live(std::uint32_t peer, double now) const {
  if (peer == self_) return true;
  const Known& known = known_[peer];
  const bool takes_part =
      known.record.incarnation > 0 && (known.record.status == net::Status::kTraining ||
                                       known.record.status == net::Status::kFinished);
  if (!takes_part) return false;
  const bool told_since = known.renewed > known.broken && now - known.broken >= kNeighbourSeconds;
  if (!known.connected && !told_since) return false;
  return now - known.heard <= (known.connected ? kNeighbourSeconds : patience_);
}

std::vector<std::uint32_t> Members::live(double now) const {
  std::vector<std::uint32_t> all;
  for (std::uint32_t slot = 0; slot < known_.size(); ++slot) {
    if (is_live(slot, now)) all.push_back(slot);
  }
  return all;
}

std::vector<net::Record> Members::pulse() {
  ++own().beat;
  std::vector<net::Record> records{own()};
  const std::size_t most = 1 + std::max<std::size_t>(8, known_.size() / 4);
  for (const bool changed : {true, false}) {
    for (std::uint32_t k = 0; k < known_.size() && records.size() < most; ++k) {
      const std::uint32_t slot = (turn_ + k) % peers();
      Known& known = known_[slot];
      if (slot == self_ || known.record.incarnation == 0 || known.changed != changed) continue;
      if (!changed && std::ranges::find(records, slot, &net::Record::slot) != records.end()) {
        continue;
      }
      known.changed = false;
      records.push_back(known.record);
    }
  }
  turn_ = (turn_ + static_cast<std::uint32_t>(most - 1)) % peers();
  return records;
}

std::vector<net::Record> Members::records() const {
  std::vector<net::Record> all;
  for (const Known& known : known_) {
    if (known.record.incarnation > 0) all.push_back(known.record);
  }
  return all;
}

}  // namespace hearsay::peer
