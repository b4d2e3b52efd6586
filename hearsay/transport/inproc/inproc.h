#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "hearsay/transport/transport.h"

namespace hearsay::transport {

/// Processes that are threads of one: a world for tests, in which messages can be made to arrive in
/// any order and processes to die at any moment. One lock guards all of it, copies included.
///
/// A message is taken when it is received, not earlier.
class Hub {
 public:
  struct Options {
    /// Seed of the order in which waiting messages are received; none: as they were sent.
    std::optional<std::uint64_t> shuffle;
  };

  explicit Hub(std::size_t processes) : Hub(processes, Options{}) {}
  Hub(std::size_t processes, Options options);

  /// The transport of one process, once for each. Destroying it is leaving: from then on the
  /// process is gone for the others, and what it had not flushed is lost. It may outlive the hub.
  std::unique_ptr<Transport> join(std::size_t process);

  /// As if the process had been killed: gone for the others, and its own calls throw RunFailed.
  void kill(std::size_t process);

  struct State;

 private:
  std::shared_ptr<State> state_;  // shared by the hub and its transports: whoever lives longest
};

}  // namespace hearsay::transport
