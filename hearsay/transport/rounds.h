#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "hearsay/core/bytes.h"
#include "hearsay/transport/transport.h"

namespace hearsay::transport {

/// The progress of a caller on one lane, by which transports check its calls. Throws
/// InvalidArgument if a call violates the contract of transport.h.
class Rounds {
 public:
  void sends(std::uint32_t round);
  void expects(std::uint32_t round) const;
  /// Returns whether earlier arrivals may be released: `round` is later than the one last asked
  /// for.
  bool asks(std::uint32_t round);

  std::optional<std::uint32_t> sent() const { return sent_; }    ///< the latest round sent in
  std::optional<std::uint32_t> asked() const { return asked_; }  ///< the round last asked for

 private:
  std::optional<std::uint32_t> sent_, asked_;
};

/// The other checks: the rank a message is for or from, and the size of its head.
void check_other(const Seat& seat, std::size_t process);
void check_head(ByteView head);

/// Throws CorruptData unless a body has as many bytes as its receiver expected.
void check_body(Label label, std::size_t from, std::size_t bytes, std::size_t expected);

}  // namespace hearsay::transport
