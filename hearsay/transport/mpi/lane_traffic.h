#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "hearsay/transport/pool.h"
#include "hearsay/transport/rounds.h"
#include "hearsay/transport/transport.h"

namespace hearsay::transport {

/// The messages of one lane over MPI.
///
/// A message is one MPI message on the communicator `heads`: body size (u64, little-endian), head,
/// and the body if it has at most kInlineBytes. A longer body follows on `bodies`, in pieces. The
/// tag is the round, and MPI preserves the order of a sender's messages with one tag, so the k-th
/// head that announces a long body belongs to the k-th body.
///
/// Heads are sent synchronously (Issend): they complete when the receiver has matched them, so that
/// `flush` means taken, even for messages that MPI would buffer. A receiver matches heads of the
/// round it asked for and of the round it last sent in, for which it will ask next; later ones stay
/// unmatched.
///
/// Not thread-safe; transfers progress only within these calls.
class LaneTraffic {
 public:
  explicit LaneTraffic(Lane lane);
  /// Frees the communicators. Collective.
  void close();

  void send(std::size_t process, std::uint32_t round, ByteView head, ByteView body);
  void expect(std::size_t process, std::uint32_t round, std::span<std::uint8_t> buffer);
  /// Accept messages of `round` from now on, and none of earlier rounds.
  void ask(std::uint32_t round);

  /// Make progress on all pending transfers.
  void progress();
  /// A message of the round asked for, if one has arrived.
  std::optional<Arrival> next();
  bool flushed(std::uint32_t round) const;
  /// Whether `progress` has work to do while the caller computes.
  bool busy() const;

 private:
  using Requests = std::vector<MPI_Request>;
  struct Sending {
    std::uint32_t round = 0;
    Bytes head;
    Requests requests;
  };
  struct Coming {
    std::uint32_t round = 0;
    Arrival arrival;
    Requests requests;  // of the body
  };
  struct Buffer {
    std::span<std::uint8_t> bytes;
    Requests requests;  // posted receives, unless the body comes inline
  };

  void take_heads(std::uint32_t round);
  void take(Bytes message, std::size_t process, std::uint32_t round);

  const Lane lane_;
  MPI_Comm heads_ = MPI_COMM_NULL, bodies_ = MPI_COMM_NULL;
  Rounds rounds_;
  Pool pool_;
  std::list<Sending> sending_;
  std::list<Coming> coming_;                              // head received, body incomplete
  std::map<std::uint32_t, std::deque<Arrival>> arrived_;  // by round
  // by round and sender
  std::map<std::pair<std::uint32_t, std::size_t>, std::deque<Buffer>> buffers_;
};

}  // namespace hearsay::transport
