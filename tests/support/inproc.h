#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "hearsay/transport/transport.h"

namespace hearsay::transport {

/// Simulates processes by threads, for tests: messages can be made to arrive in any order, and
/// processes to die at any moment. One lock guards everything, copies included.
///
/// A message counts as taken when it is received, not earlier.
class Hub {
 public:
  struct Options {
    /// Seed of the order in which waiting messages are received; none: in the order sent.
    std::optional<std::uint64_t> shuffle;
  };

  explicit Hub(std::size_t processes) : Hub(processes, Options{}) {}
  Hub(std::size_t processes, Options options);

  /// The transport of one process; call once for each. Destroying it makes the process leave: from
  /// then on it is gone for the others, and what it had not flushed is lost. It may outlive the
  /// hub.
  std::unique_ptr<Transport> join(std::size_t process);

  /// As if the process had been killed: gone for the others, and its own calls throw RunFailed.
  void kill(std::size_t process);

  struct State;

 private:
  std::shared_ptr<State> state_;  // shared by the hub and its transports, whichever lives longest
};

}  // namespace hearsay::transport
