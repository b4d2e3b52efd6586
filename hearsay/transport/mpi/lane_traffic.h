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
/// tag is the round, and MPI keeps the order of a sender's messages of one tag, so the k-th head
/// that announces a long body belongs to the k-th body.
///
/// Heads are sent synchronously (Issend): they are done when the receiver has matched them, so that
/// `flush` means taken, also for messages that MPI would buffer. A receiver matches those of the
/// round it asked for and of the round it last sent in, for which it will ask next; later ones wait
/// unmatched.
///
/// Not thread safe, and nothing moves but within these calls.
class LaneTraffic {
 public:
  explicit LaneTraffic(Lane lane);
  /// Gives the communicators back: all processes do so together.
  void close();

  void send(std::size_t process, std::uint32_t round, ByteView head, ByteView body);
  void expect(std::size_t process, std::uint32_t round, std::span<std::uint8_t> room);
  /// From now on messages of `round` are wanted, and those of earlier ones no longer.
  void ask(std::uint32_t round);

  /// Go on with all that is under way.
  void progress();
  /// A message of the round asked for, if one is here.
  std::optional<Arrival> next();
  bool flushed(std::uint32_t round) const;
  /// Whether progress has something to do while the caller computes.
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
  struct Room {
    std::span<std::uint8_t> bytes;
    Requests requests;  // posted, if the body will not come inline
  };

  void take_heads(std::uint32_t round);
  void take(Bytes message, std::size_t process, std::uint32_t round);

  const Lane lane_;
  MPI_Comm heads_ = MPI_COMM_NULL, bodies_ = MPI_COMM_NULL;
  Rounds rounds_;
  Pool pool_;
  std::list<Sending> sending_;
  std::list<Coming> coming_;                              // heads are here, bodies not yet all
  std::map<std::uint32_t, std::deque<Arrival>> arrived_;  // by round
  std::map<std::pair<std::uint32_t, std::size_t>, std::deque<Room>> rooms_;  // by round and sender
};

}  // namespace hearsay::transport
