#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "hearsay/compress/code/message.h"
#include "hearsay/core/bytes.h"
#include "hearsay/net/ack.h"
#include "hearsay/net/hello.h"
#include "hearsay/peer/controls.h"

namespace hearsay::peer {

/// A message as its sender keeps it until it is known what became of it: the mass (a q, a u).
struct SentMessage {
  compress::MessageHeader header{};     ///< a, u
  std::shared_ptr<const Bytes> code{};  ///< of q; shared by the messages of a round
  bool uncompressed = false;            ///< the code is identity's
  double first_sent = 0;                ///< seconds
  std::uint64_t rounds = 0;             ///< that the receiver had trained then
  // Set by who sends it:
  std::uint32_t receiver = 0;
  std::uint64_t number = 0;  ///< from 1 on
  std::uint64_t life = 0;    ///< incarnation of the receiver
  double last_sent = 0;

  std::size_t bytes() const { return compress::kHeaderBytes + code->size(); }
  double mass() const { return static_cast<double>(header.weight) * header.push_sum; }  ///< a u
};

/// The two edges between this peer and another one, to it and from it, as a state machine without
/// I/O: numbers, windows, and what happens to messages when the connection breaks.
///
///   down --up(HELLO), same two lives--> settle --> up      up --down()--> down
///   down --up(HELLO), another life----> forget --> up
///
/// A message to the other is kept until it is acked, which means applied. When the connection
/// breaks, all that is not acked is *taken back* at once: its mass returns to this peer. The
/// other's next HELLO says which of them had arrived after all: those are *owed*, and paid for by
/// debiting them once more. Of the rest the other knows that it must refuse them. So every message
/// counts exactly once, however the connection breaks; if the other begins a new life, its old one
/// has died with what it had applied, and all is forgotten.
class Edge {
 public:
  static constexpr std::size_t kMostUnacked = 8;
  static constexpr std::size_t kMostUnackedBytes = 8u << 20;  ///< or one message
  static constexpr std::uint64_t kWindow = 64;                ///< numbers that an ack tells apart

  explicit Edge(const Controls& controls = {}) : controls_(controls) {}

  bool is_up() const { return up_; }
  std::uint64_t incarnation() const { return incarnation_; }  ///< of the other's life; 0: none yet

  /// Fill in what a HELLO says of these edges: known, next, highest, arrived, refused.
  void describe(net::Hello& hello) const;

  /// The other's HELLO was accepted by this peer, whose own life is `own`.
  void up(const net::Hello& theirs, std::uint64_t own);
  /// The connection is gone: takes back what is not acked.
  void down();

  // ---- To the other ----

  /// Whether a message of that many bytes may be sent now.
  bool has_room(std::size_t bytes) const;
  /// Numbers a message and keeps it. Needs room.
  const SentMessage& send(SentMessage message);
  /// Throws CorruptData on a number that was never sent.
  void acked(const net::Ack& ack);
  /// Those to be sent again because nothing was heard of them for so long; marks them as sent now.
  std::vector<const SentMessage*> overdue(double now, double patience);
  /// Whether a message has been without an ack for 10 seconds and 3 of the other's rounds.
  bool is_stuck(double now, std::uint64_t rounds) const;
  std::size_t unacked() const { return unacked_.size(); }

  /// Mass that returns to this peer, to be credited: each once.
  std::deque<SentMessage>& returned() { return returned_; }
  const std::deque<SentMessage>& returned() const { return returned_; }
  /// Mass that the other has although it was taken back here, to be debited when the push-sum
  /// weight allows it.
  std::deque<SentMessage>& owed() { return owed_; }
  const std::deque<SentMessage>& owed() const { return owed_; }
  /// Messages taken back that are owed, or whose fate the other has not told yet.
  std::size_t unsettled() const { return kept_.size() + owed_.size(); }

  // ---- From the other ----

  enum class Arrival { kNew, kDuplicate };
  /// Whether a message with that number is new. Throws CorruptData on one beyond the window.
  Arrival arrival(std::uint64_t number) const;
  /// Its values were checked and it will be applied, or it was refused: the sender keeps its mass.
  void accept(std::uint64_t number) { mark(number, false); }
  void refuse(std::uint64_t number) { mark(number, true); }
  /// What to tell the sender.
  net::Ack ack() const { return {highest_, arrived_ | refused_, refused_}; }

 private:
  /// What became of one of this peer's messages, by the other's account.
  enum class Fate { kUnknown, kArrived, kRefused };
  static Fate fate(std::uint64_t number, std::uint64_t highest, std::uint64_t arrived,
                   std::uint64_t refused);
  void mark(std::uint64_t number, bool refused);
  void advance(std::uint64_t highest);
  void settle(const net::Hello& theirs, bool knows_this_life);
  void forget();

  Controls controls_;
  bool up_ = false;
  std::uint64_t incarnation_ = 0;
  // To the other:
  std::uint64_t next_ = 1;
  std::deque<SentMessage> unacked_;
  std::size_t unacked_bytes_ = 0;
  std::deque<SentMessage> kept_;  ///< taken back, to be settled
  std::deque<SentMessage> returned_, owed_;
  // From the other; bit k: number highest - k.
  std::uint64_t highest_ = 0, arrived_ = 0, refused_ = 0;
};

}  // namespace hearsay::peer
