#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "hearsay/core/bytes.h"
#include "hearsay/transport/transport.h"

namespace hearsay::transport {

/// How far a caller has gone on one lane: what transports check its calls by. Throws
/// InvalidArgument where a call breaks the contract of transport.h.
class Rounds {
 public:
  void sends(std::uint32_t round);
  void expects(std::uint32_t round) const;
  /// Whether what was received before is no longer needed: `round` is later than the last one.
  bool asks(std::uint32_t round);

  std::optional<std::uint32_t> sent() const { return sent_; }    ///< the latest round sent in
  std::optional<std::uint32_t> asked() const { return asked_; }  ///< the round last asked for

 private:
  std::optional<std::uint32_t> sent_, asked_;
};

/// The other half of the checks: who a message is for or from, and its head.
void check_other(const Seat& seat, std::size_t process);
void check_head(ByteView head);

/// Throws CorruptData unless a body has as many bytes as its receiver expected.
void check_body(Label label, std::size_t from, std::size_t bytes, std::size_t expected);

}  // namespace hearsay::transport
