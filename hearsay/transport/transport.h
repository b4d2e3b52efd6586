#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "hearsay/core/bytes.h"

namespace hearsay::transport {

/// Two streams of messages that do not disturb each other, each with rounds of its own.
enum class Lane : std::uint8_t {
  kGossip,   ///< what peers send their neighbours; rounds are those of the run
  kControl,  ///< what processes agree on (collective.h); rounds count such steps
};

/// What a message belongs to.
struct Label {
  Lane lane = Lane::kGossip;
  std::uint32_t round = 0;

  // clang-tidy 14 takes the 0 that <=> is compared with for a pointer.
  auto operator<=>(const Label&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// A message that has arrived, whole.
struct Arrival {
  std::size_t process = 0;  ///< who sent it
  Bytes head;
  ByteView body;  ///< stays until a later round of that lane is received
};

/// Where a process sits among those of the run.
struct Seat {
  std::size_t process = 0;
  std::size_t processes = 1;
  double cores = 1;  ///< of this host's, if processes that may use one share it equally
};

inline constexpr std::size_t kMostHeadBytes = 64;

/// How the processes of a run move bytes to each other.
///
/// A message is a head (a few bytes, copied) and a body (of any size, borrowed until `flush`). It
/// is sent to a process, for a round of a lane, and is either received there, once and unchanged,
/// or its receiver is gone. Nothing is said about the order: a later message may arrive first.
///
/// A slow receiver slows its senders down, and nobody else: what it has not asked for waits with
/// them. So whoever flushes what it sent two rounds ago is never further ahead of a receiver.
///
/// Contract, checked for every transport by tests/transport/contract_test.cpp. A process that is
/// slow or gone is normal, and told by a returned value; a wrong call throws InvalidArgument, a
/// message that is not what was expected CorruptData, a network that breaks down RunFailed.
///
/// Thread safety: one thread at a time; bytes may move while it computes.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual std::string_view name() const = 0;
  virtual Seat seat() const = 0;

  /// Begin to send to another process. Does not wait. `body` is not to change before it is flushed.
  /// false: that process is gone, and nothing is sent.
  virtual bool send(std::size_t process, Label label, ByteView head, ByteView body) = 0;

  /// Wait until all that was sent on this lane, in this round and before it, has been taken. A
  /// receiver takes a message when it asks for that round, or earlier; so receive your own messages
  /// first. false: some have not been taken, and `patience` has passed.
  virtual bool flush(Label label, std::chrono::milliseconds patience) = 0;

  /// Where the body of a message to come shall go, which has exactly room.size() bytes: it needs no
  /// further copy. Call it before sending or receiving anything in that round; for one sender, for
  /// all its messages of the round in the order in which it sends them, or for none.
  virtual void expect(std::size_t process, Label label, std::span<std::uint8_t> room) = 0;

  /// The next message of this lane and round. Rounds asked for do not go back, and every message
  /// sent is to be received. Nothing: none came, and `patience` has passed.
  virtual std::optional<Arrival> receive(Label label, std::chrono::milliseconds patience) = 0;

  /// Processes that have left or died, ascending. What they had not flushed may be lost.
  virtual std::vector<std::size_t> gone() const = 0;

  /// Replace `values` by their sum over all processes, which all call this, in the order that is
  /// fastest. false: this transport has no such sum; add up in collective.h.
  virtual bool fast_sum(std::span<float> values) = 0;

  /// End all processes of the run, this one included if the transport can: for failures that the
  /// others cannot see.
  virtual void abort(int status) noexcept = 0;
};

}  // namespace hearsay::transport
