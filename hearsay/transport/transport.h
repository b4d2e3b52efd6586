#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/core/bytes.h"

namespace hearsay::transport {

/// Two independent streams of messages, each with its own rounds.
enum class Lane : std::uint8_t {
  kGossip,   ///< messages between neighbouring peers; rounds are those of the run
  kControl,  ///< collectives of processes (collective.h); rounds count their steps
};

/// The lane and round of a message.
struct Label {
  Lane lane = Lane::kGossip;
  std::uint32_t round = 0;

  // clang-tidy 14 mistakes the 0 that <=> is compared with for a pointer.
  auto operator<=>(const Label&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// A message that has arrived completely.
struct Arrival {
  std::size_t process = 0;  ///< the sender
  Bytes head;
  ByteView body;  ///< valid until a later round of that lane is received
};

/// The rank of a process in the run, and its resources.
struct Seat {
  std::size_t process = 0;
  std::size_t processes = 1;
  double cores = 1;  ///< its share of the host's, if processes that may use a core share it equally
};

inline constexpr std::size_t kMostHeadBytes = 64;

/// How the processes of a run move bytes to each other.
///
/// A message is a head (a few bytes, copied) and a body (of any size, borrowed until `flush`). It
/// is sent to a process, for a round of a lane, and is received there exactly once and unchanged
/// unless its receiver is gone. Order is not guaranteed: a later message may arrive first.
///
/// Backpressure: a slow receiver slows down its senders only, where messages it has not asked for
/// wait. So a sender that flushes what it sent two rounds ago is never more than two rounds ahead
/// of a receiver.
///
/// Contract, checked for every transport by tests/transport/contract_test.cpp. A slow or lost
/// process is not an error and is reported by a return value; an invalid call throws
/// InvalidArgument, an unexpected message CorruptData, a network failure RunFailed.
///
/// Thread safety: one thread at a time; transfers may progress while it computes.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual std::string_view name() const = 0;
  virtual Seat seat() const = 0;

  /// Start sending to another process, without blocking. `body` must not change until it is
  /// flushed. false: that process is gone, and nothing is sent.
  virtual bool send(std::size_t process, Label label, ByteView head, ByteView body) = 0;

  /// Wait until everything sent on this lane up to and including this round has been taken. A
  /// receiver takes a message when it asks for that round, or earlier; so receive your own messages
  /// first, to avoid deadlock. false: timeout after `patience`, with messages not yet taken.
  virtual bool flush(Label label, std::chrono::milliseconds patience) = 0;

  /// Post a receive buffer for a coming body of exactly buffer.size() bytes, which saves a copy.
  /// Call it before sending or receiving anything in that round; for each sender, either for all
  /// its messages of the round in the order in which it sends them, or for none.
  virtual void expect(std::size_t process, Label label, std::span<std::uint8_t> buffer) = 0;

  /// The next message of this lane and round. Rounds must not decrease from call to call, and every
  /// message sent must be received. nullopt: timeout after `patience`.
  virtual std::optional<Arrival> receive(Label label, std::chrono::milliseconds patience) = 0;

  /// The run has failed here: bodies that are not flushed are not read any more, and nothing more
  /// is sent. They may be freed before `abort`.
  virtual void let_go() noexcept {}

  /// Processes that have left or died, ascending. Messages they had not flushed may be lost.
  virtual std::vector<std::size_t> gone() const = 0;

  /// How people know a process, for messages to them: "process 2", or the name of its host.
  virtual std::string described(std::size_t process) const {
    return "process " + std::to_string(process);
  }

  /// Collective: replace `values` by their sum over all processes, in whatever order is fastest.
  /// false: not supported by this transport; use collective.h.
  virtual bool fast_sum(std::span<float> values) = 0;

  /// Terminate all processes of the run, this one included if the transport can: for failures that
  /// the others cannot detect.
  virtual void abort(int status) noexcept = 0;
};

}  // namespace hearsay::transport
